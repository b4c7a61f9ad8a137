"""A worker whose handler waits, and the losses that it reports."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from runtime.kafka import OutgoingRecord
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.worker import Worker
from tests.streams.flow import keyed_worker

SPAN = 20


class GatedHandler:
    """Handles records once it is let."""

    def __init__(self, settings: Settings) -> None:
        self.topic = settings.topic("extractions")
        self.handled: dict[int, list[int]] = {0: [], 1: []}
        self.gate = asyncio.Event()

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        await self.gate.wait()
        self.handled[record.partition].append(record.offset)
        return [OutgoingRecord(self.topic, record.key, record.value)]


@asynccontextmanager
async def working(settings: Settings, handler: GatedHandler) -> AsyncIterator[Worker]:
    stop = asyncio.Event()
    worker = keyed_worker(settings, handler, max_span=SPAN, stage="merging")
    running = asyncio.create_task(worker.run(stop))
    try:
        yield worker
    finally:
        handler.gate.set()
        stop.set()
        await running


def lost_by(worker: Worker, settings: Settings) -> float:
    """The number of records that a worker reports as lost."""
    return sum(sample.value for metric in worker._metrics.records_lost.collect() for sample in metric.samples)
