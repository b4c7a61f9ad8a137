"""A record that kills its worker's process becomes a dead letter after several deaths, and no other record does: on the real broker."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from runtime.clocks import SystemClock
from runtime.dead_letters import DeadLetter, DeadLetterBox, DeadLetterSelection
from runtime.kafka import OutgoingRecord, Producer
from runtime.kafka.groups import ConsumerGroups, stage_group
from runtime.settings import Settings
from tests.conftest import ROOT
from tests.streams.flow import NewFlow, caught_up
from tests.streams.message_ledger import records_of

pytestmark = pytest.mark.integration

DEADLY = b"p0-7"
RECORDS = 20
CRASHES = 3
SHORT_SESSION_S = 10.0
"""For a record that outlasts it: each crash takes longer than that."""


@pytest.fixture
async def settings(new_flow: NewFlow) -> Settings:
    return await new_flow({})


@pytest.mark.parametrize(
    ("way", "death", "ended"),
    [("in-order", "kill", -signal.SIGKILL), ("by-key", "abort", -signal.SIGABRT), ("by-key", "compute", 1)],
)
async def test_a_deadly_record_is_put_aside(way: str, death: str, ended: int, settings: Settings) -> None:
    """Whether it kills the process, or computes until the worker has lost its session and ends itself."""
    if death == "compute":
        settings = settings.model_copy(update={"kafka": settings.kafka.model_copy(update={"session_timeout_s": SHORT_SESSION_S})})
    values = [[b"p%d-%d" % (partition, number) for number in range(RECORDS)] for partition in range(2)]
    await _produce(settings, values)
    for crash in range(CRASHES):
        assert await _run_worker(settings, way, deadly=DEADLY, death=death, until=_never) == ended, f"crash {crash}"
        assert await _letters(settings) == []
    await _run_worker(settings, way, deadly=DEADLY, death=death, until=lambda: caught_up(settings, ["extraction"]))
    (letter,) = await _letters(settings)
    assert (letter.metadata.reason, letter.metadata.partition, letter.metadata.offset) == ("crashed_worker", 0, 7)
    assert f"crashed or froze {CRASHES} times" in letter.metadata.detail
    neighbours = sorted(value for of_partition in values for value in of_partition if value != DEADLY)
    assert await _outputs(settings, way) == neighbours, "each once"

    # The cause of the crash is fixed: the record is redriven like any other.
    async with Producer(kafka=settings.kafka) as producer:
        box = DeadLetterBox(settings=settings, producer=producer, clock=SystemClock())
        assert (await box.redrive(DeadLetterSelection(reason="crashed_worker"))).redriven == 1
    await _run_worker(settings, way, deadly=b"", until=lambda: caught_up(settings, ["extraction"]))
    assert await _outputs(settings, way) == sorted([*neighbours, DEADLY])


async def test_a_successor_does_not_wait_for_the_session(settings: Settings) -> None:
    """The worker that gets the folder of a killed one removes it from the group."""
    kafka = settings.kafka.model_copy(update={"session_timeout_s": 240.0, "request_timeout_s": 240.0})
    patient = settings.model_copy(update={"kafka": kafka})
    await _produce(patient, [[DEADLY], [b"p1-0"]])
    assert await _run_worker(patient, "in-order", deadly=DEADLY, death="kill", until=_never) == -signal.SIGKILL
    async with asyncio.timeout(60):
        await _run_worker(patient, "in-order", deadly=b"", until=lambda: caught_up(settings, ["extraction"]))
    assert await _outputs(settings, "in-order") == sorted([DEADLY, b"p1-0"])


async def test_a_worker_without_session_stops_without_an_error(settings: Settings) -> None:
    """A rolling update on an overloaded machine stops workers that have just lost their partitions: nothing is wrong with them."""
    await _produce(settings, [[b"p0-0"], [b"p1-0"]])
    async with _running(settings, "by-key") as process:
        await caught_up(settings, ["extraction"])
        process.send_signal(signal.SIGSTOP)
        await ConsumerGroups(kafka=settings.kafka).require_empty([stage_group(settings.kafka.topic_prefix, "extraction")])
        process.terminate()
        process.send_signal(signal.SIGCONT)
        async with asyncio.timeout(60):
            assert await process.wait() == 0
    assert await _outputs(settings, "by-key") == [b"p0-0", b"p1-0"]


async def _produce(settings: Settings, values: list[list[bytes]]) -> None:
    topic = settings.topic("windows")
    records = [
        OutgoingRecord(topic, value, value, partition=number) for number, of_partition in enumerate(values) for value in of_partition
    ]
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many(records)


async def _never() -> None:
    await asyncio.Event().wait()


async def _run_worker(settings: Settings, way: str, *, deadly: bytes, death: str = "", until: Callable[[], Awaitable[None]]) -> int:
    """Runs a worker until it dies or a condition holds, and stops it; returns how it ended."""
    async with _running(settings, way, deadly=deadly, death=death) as process:
        died, done = asyncio.ensure_future(process.wait()), asyncio.ensure_future(until())
        try:
            async with asyncio.timeout(120):
                await asyncio.wait([died, done], return_when=asyncio.FIRST_COMPLETED)
            if done.done():
                assert not died.done(), f"it ended with {process.returncode}"
                process.terminate()
            async with asyncio.timeout(60):
                return await died
        finally:
            done.cancel()


@asynccontextmanager
async def _running(settings: Settings, way: str, *, deadly: bytes = b"", death: str = "") -> AsyncIterator[asyncio.subprocess.Process]:
    """A worker's process."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.streams.deadly_worker", way),
        cwd=ROOT,
        env={**os.environ, **_environment(settings), "PYTHONPATH": str(ROOT), "DEADLY": deadly.decode(), "DEATH": death},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _environment(settings: Settings) -> dict[str, str]:
    kafka = settings.kafka
    values = {"BOOTSTRAP": kafka.bootstrap, "TOPIC_PREFIX": kafka.topic_prefix, "PARTITIONS": kafka.partitions}
    values |= {"REPLICATION_FACTOR": kafka.replication_factor, "MIN_INSYNC_REPLICAS": kafka.min_insync_replicas}
    values |= {"SESSION_TIMEOUT_S": kafka.session_timeout_s, "REQUEST_TIMEOUT_S": kafka.request_timeout_s}
    return {
        "VARVE_DATA": str(settings.data),
        "VARVE_METRICS_PORT": "0",
        "VARVE_DELIVERY__MAXIMUM_CRASHES": str(CRASHES),
        **{f"VARVE_KAFKA__{name}": str(value) for name, value in values.items()},
    }


async def _letters(settings: Settings) -> list[DeadLetter]:
    async with Producer(kafka=settings.kafka) as producer:
        return await DeadLetterBox(settings=settings, producer=producer, clock=SystemClock()).letters(DeadLetterSelection())


async def _outputs(settings: Settings, way: str) -> list[bytes]:
    """The outputs of the records. By key, a crash repeats results after a gap, under the same ids."""
    outputs = [record.value or b"" for record in await records_of(settings, "contributions")]
    return sorted(outputs if way == "in-order" else set(outputs))
