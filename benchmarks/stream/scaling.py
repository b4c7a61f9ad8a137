"""Throughput of a stage with one, two and four worker processes on one broker."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from itertools import islice
from pathlib import Path
from typing import Final

from benchmarks.processes import POLL_S
from benchmarks.stream.load import SCHEMA, TENANT, Record, contributions, fill, messages, windows
from benchmarks.stream.stage import StageWorker, isolated_settings, simulated_model, stage_worker
from memory.keys import encode_key
from runtime.kafka import KafkaOffsets
from runtime.settings import Settings

_PARTITIONS: Final = 8
_KEYS: Final = 500
_CALL_S: Final = 2.0
_TIMEOUT_S: Final = 600.0


async def scaling(base: Settings, folder: Path, *, workers: Sequence[int], records: int, window_count: int) -> dict[str, object]:
    """Runs three stages with each number of workers: two that compute, and the extraction, which waits for a model.

    Args:
        base: The settings with the addresses of Kafka and Redis.
        folder: The folder for the stages' data.
        workers: Numbers of workers, the first of which is the base of the ratios.
        records: Records of the stages sessions and entities.
        window_count: Windows of the stage extraction, whose model takes two seconds per call.

    Returns:
        By stage and number of workers, records per second, their ratio to the first number, and CPU per record in microseconds.
    """
    more = base.model_copy(update={"kafka": base.kafka.model_copy(update={"partitions": _PARTITIONS})})
    measured: dict[str, dict[int, dict[str, float]]] = {"sessions": {}, "entities": {}, "extraction": {}}
    for number in workers:
        settings = await isolated_settings(more, folder, **{TENANT: SCHEMA})
        measured["sessions"][number] = await _measure("sessions", "messages", messages(records, _KEYS), number, settings)
        settings = await isolated_settings(more, folder, **{TENANT: SCHEMA})
        given = contributions(records, _KEYS, settings)
        measured["entities"][number] = await _measure("entities", "contributions", given, number, settings)
        measured["extraction"][number] = await _extraction(more, folder, number, window_count)
    for stage in measured.values():
        first = stage[workers[0]]["records_per_second"]
        for each in stage.values():
            each["ratio"] = round(each["records_per_second"] / first, 2)
    return {"call_s": _CALL_S, "partitions": _PARTITIONS, **measured}


async def _extraction(base: Settings, folder: Path, number: int, window_count: int) -> dict[str, float]:
    """The extraction with a model whose rate has no limit: its workers wait, and do not compute."""
    settings = await isolated_settings(base, folder, **{TENANT: SCHEMA})
    async with simulated_model(settings, call_s=_CALL_S) as environment:
        environment |= {"VARVE_LLM__CONCURRENCY": "1000", "VARVE_DELIVERY__TENANT_SHARE": "1"}
        given = ((encode_key(TENANT, each.session), each.to_json()) for each in islice(windows(TENANT), window_count))
        return await _measure("extraction", "windows", given, number, settings, **environment)


async def _measure(
    stage: str, topic: str, records: Iterable[Record], number: int, settings: Settings, **environment: str
) -> dict[str, float]:
    """Fills the topic, then starts the workers, and measures from the first commit in each partition to the last."""
    source = settings.topic(topic)
    await fill(source, records, settings)
    async with AsyncExitStack() as resources, KafkaOffsets(kafka=settings.kafka) as offsets, asyncio.timeout(_TIMEOUT_S):
        starting = [resources.enter_async_context(stage_worker(stage, settings, **environment)) for _ in range(number)]
        workers = await asyncio.gather(*starting)
        total = sum((await offsets.end_offsets([source])).values())
        started: tuple[float, int, float] | None = None
        while True:
            committed = await offsets.committed_offsets(settings.topic(stage), [source])
            now, done = time.perf_counter(), sum(committed.values())
            if started is None and _all_begun(committed):
                if done >= total:
                    raise RuntimeError(
                        f"{stage} handled all {total} records before the first look: give more (--records, --scaling-windows)"
                    )
                started = now, done, _cpu_s(workers)
            if started is not None and done >= total:
                seconds, handled, cpu_s = now - started[0], done - started[1], _cpu_s(workers) - started[2]
                return {"records_per_second": round(handled / seconds, 1), "cpu_us_per_record": round(cpu_s / handled * 1e6, 1)}
            await asyncio.sleep(POLL_S)


def _all_begun(committed: Mapping[object, int]) -> bool:
    return len(committed) == _PARTITIONS and all(offset > 0 for offset in committed.values())


def _cpu_s(workers: Sequence[StageWorker]) -> float:
    return sum(each.resource_usage().cpu_seconds for each in workers)
