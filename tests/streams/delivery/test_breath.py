"""A batch that takes long lets the loop turn: heartbeats run on it."""

import asyncio
import time

from streams.delivery.batch import Batch
from streams.delivery.build import NoState
from streams.delivery.state import PartitionState
from tests.streams.steps import RowsInMemory, delivered


async def test_while_a_long_batch_is_handled_the_loop_turns() -> None:
    records = [delivered("messages", offset, b"k", b"v") for offset in range(12)]
    batch = Batch(0, records, PartitionState(RowsInMemory(), NoState(), cache_bytes=0))
    seen: list[int] = []
    turns: list[int] = []

    async def beat() -> None:
        while True:
            turns.append(len(seen))
            await asyncio.sleep(0)

    beating = asyncio.create_task(beat())
    await batch.each(lambda record: (time.sleep(0.03), seen.append(record.offset))[1])
    beating.cancel()
    assert seen == list(range(12))
    assert len(set(turns) & set(range(1, 12))) >= 3
