"""A worker that some records kill: ``python -m tests.streams.deadly_worker in-order|by-key``, with its settings in the environment.

Every other record becomes one of the same key and value in ``contributions``. ``DEADLY`` names the value that kills, if one does,
and ``DEATH`` how.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from memory.topics import CONTRIBUTIONS, WINDOWS
from runtime.kafka import OutgoingRecord
from runtime.metrics import metrics
from runtime.settings import Settings
from streams.engine.build import ordered_driver_factory
from streams.engine.context import StageContext
from streams.engine.keyed.keyed_driver import KeyedDriver
from streams.engine.keyed.scheduler import Scheduler
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch, BatchHandler
from streams.engine.tasks.driver import Driver, InFlightRecord
from streams.engine.worker import Worker

DEADLY = os.environ.get("DEADLY", "").encode()
DEATH = os.environ.get("DEATH", "")


class Bytes:
    """State as it is."""

    def encode(self, state: bytes) -> bytes:
        return state

    def decode(self, raw: bytes) -> bytes:
        return raw


class InOrder(BatchHandler):
    """Handles a batch."""

    def __init__(self, settings: Settings) -> None:
        self._topic = settings.topic(CONTRIBUTIONS.name)

    async def handle(self, batch: Batch) -> None:
        async def one(record: ConsumedRecord) -> None:
            await die_of(record)
            batch.emit(OutgoingRecord(self._topic, record.key, record.value), record)

        await batch.each(one)


class ByKey:
    """Handles a record."""

    def __init__(self, settings: Settings) -> None:
        self._topic = settings.topic(CONTRIBUTIONS.name)

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        await die_of(record)
        return [OutgoingRecord(self._topic, record.key, record.value)]


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def compute() -> None:
    """Keeps the event loop for longer than the worker's session, as a computation does. A real one would take a core from other tests."""
    time.sleep(1.5 * Settings().kafka.session_timeout_s)


DEATHS: dict[str, Callable[[], Any]] = {"kill": kill, "abort": os.abort, "compute": compute}


async def die_of(record: ConsumedRecord) -> None:
    """Ends the process if the record is deadly; other records are started first."""
    if DEADLY and record.value == DEADLY:
        for _ in range(10):
            await asyncio.sleep(0)
        DEATHS[DEATH]()


def in_order(settings: Settings) -> Callable[[StageContext], Driver]:
    return ordered_driver_factory(settings, Bytes(), lambda partition: InOrder(settings))


def by_key(settings: Settings) -> Callable[[StageContext], Driver]:
    def new_driver(context: StageContext) -> Driver:
        scheduler = Scheduler[InFlightRecord](slots=8, tenant_share=1.0, max_in_flight=100, max_span=1_000)
        return KeyedDriver(context=context, handler=ByKey(settings), topic=settings.topic(WINDOWS.name), scheduler=scheduler)

    return new_driver


async def main(way: str) -> None:
    settings = Settings()
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    worker = Worker(
        stage="extraction",
        source=settings.topic(WINDOWS.name),
        has_table=False,
        settings=settings,
        metrics=metrics(),
        new_driver={"in-order": in_order, "by-key": by_key}[way](settings),
    )
    await worker.run(stop)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
