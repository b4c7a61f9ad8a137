"""The time that a quiet key waits for the records of a hot key before it, in stages that handle a partition in the order of its log."""

import time
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Final

from benchmarks.stream.growing_users import MESSAGES_PER_WINDOW, GrowingUsers
from benchmarks.stream.load import SCHEMA, TENANT, Record, contributions_to, fill, messages_of_session
from benchmarks.stream.stage import isolated_settings, stage_worker
from memory.keys import partition_of
from runtime.kafka import read_topic
from runtime.settings import Settings
from streams.stages.catalog import STAGES

_TIMEOUT_S: Final = 300.0
_STAGES: Final = ("sessions", "events", "entities")
_OUTPUT: Final = {"sessions": "windows", "events": "memories", "entities": "memories"}
_QUIET_RECORDS: Final = 40
"""So many messages fill a window, so that it closes at once."""


async def hot_key(base: Settings, folder: Path, *, records: int) -> dict[str, object]:
    """Produces the records of a hot key, then one record of a quiet key in the same partition, to a running worker of each stage.

    Args:
        base: The settings with the addresses of Kafka and Redis.
        folder: The folder for the stages' data.
        records: Records of the hot key: messages of one session, events of one user, contributions to one entity.

    Returns:
        For each stage the time from the quiet record to its output, and the CPU time of the worker for each record of the hot key.
    """
    results: dict[str, object] = {"records": records}
    for stage in _STAGES:
        settings = await isolated_settings(base, folder, **{TENANT: SCHEMA})
        hot, quiet = _keys(stage, settings)
        async with stage_worker(stage, settings) as worker:
            source = settings.topic(STAGES[stage].source.name)
            cpu, started = worker.resource_usage().cpu_seconds, time.time()
            sent = await fill(source, _input(stage, hot, records, settings), settings)
            filled = time.time()
            sent_last = await fill(source, _input(stage, quiet, _QUIET_RECORDS, settings), settings)
            await worker.wait_until_done(sent + sent_last, timeout_s=_TIMEOUT_S)
            cpu = worker.resource_usage().cpu_seconds - cpu
            ended = await _first_output(settings.topic(_OUTPUT[stage]), quiet, settings)
        results[stage] = {
            "log_records": sent,
            "fill_s": round(filled - started, 2),
            "wait_s": round(ended - filled, 2),
            "total_s": round(ended - started, 2),
            "cpu_us_per_record": round(cpu / sent * 1e6, 1),
        }
    return results


def _input(stage: str, name: str, number: int, settings: Settings) -> Iterable[Record]:
    match stage:
        case "sessions":
            return messages_of_session(name, number)
        case "events":
            users = GrowingUsers(users=1, partitions=settings.kafka.partitions, name=name)
            return users.extractions(0, number // 10 * MESSAGES_PER_WINDOW)
        case _:
            return contributions_to([name], number, settings)


def _keys(stage: str, settings: Settings) -> tuple[str, str]:
    """The names of a hot and of a quiet key in one partition."""

    def partition(name: str) -> int:
        key, _ = next(iter(_input(stage, name, 20, settings)))
        return partition_of(key, settings.kafka.partitions)

    home = partition("hot")
    return "hot", next(name for name in (f"quiet{number}" for number in count()) if partition(name) == home)


async def _first_output(topic: str, name: str, settings: Settings) -> float:
    """The time of the first record that names the quiet key, in seconds since the epoch."""
    times: list[float] = [each.timestamp / 1000 async for each in read_topic(topic, settings.kafka) if name.encode() in (each.value or b"")]
    return min(times)
