"""Items written in the background."""

import asyncio
from collections.abc import Sequence

from runtime.background_batches import BackgroundBatches


class Sink:
    """Takes what it is given once it is open."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.calls: list[list[int]] = []

    async def write(self, items: Sequence[int]) -> None:
        await self.open.wait()
        self.calls.append([*items])
        if 13 in items:
            raise OSError("thirteen")


async def test_what_came_meanwhile_is_one_call() -> None:
    sink = Sink()
    batches = BackgroundBatches(sink.write, max_pending=10)
    assert batches.add(1)
    await asyncio.sleep(0)
    assert all(batches.add(item) for item in (2, 3, 4))
    sink.open.set()
    await batches.close()
    assert sink.calls == [[1], [2, 3, 4]]


async def test_too_many_are_refused_until_some_are_written() -> None:
    sink = Sink()
    batches = BackgroundBatches(sink.write, max_pending=2)
    assert [batches.add(1), batches.add(2), batches.add(3)] == [True, True, False]
    await asyncio.sleep(0)
    assert not batches.add(4)
    sink.open.set()
    await batches.close()
    assert batches.add(5)
    await batches.close()
    assert sink.calls == [[1, 2], [5]]


async def test_a_failed_batch_keeps_none_behind_it() -> None:
    sink = Sink()
    batches = BackgroundBatches(sink.write, max_pending=10)
    batches.add(13)
    await asyncio.sleep(0)
    batches.add(14)
    sink.open.set()
    await batches.close()
    assert sink.calls == [[13], [14]]
