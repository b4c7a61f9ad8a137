"""Items written in the background."""

import asyncio
from collections.abc import Sequence

import pytest

from runtime.background import BackgroundBatches


class Sink:
    """Takes what it is given once it is open."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.calls: list[list[int]] = []
        self.called: asyncio.Queue[list[int]] = asyncio.Queue()

    async def write(self, items: Sequence[int]) -> None:
        await self.open.wait()
        self.calls.append([*items])
        self.called.put_nowait([*items])
        if 13 in items:
            raise OSError("thirteen")


async def test_items_added_during_a_call_share_the_next() -> None:
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


async def test_a_failed_batch_does_not_block_later_ones() -> None:
    sink = Sink()
    batches = BackgroundBatches(sink.write, max_pending=10)
    batches.add(13)
    await asyncio.sleep(0)
    batches.add(14)
    sink.open.set()
    await batches.close()
    assert sink.calls == [[13], [14]]


async def test_items_added_during_a_rest_share_a_call() -> None:
    sink = Sink()
    sink.open.set()
    batches = BackgroundBatches(sink.write, max_pending=10, rest_s=600)
    batches.add(1)
    async with asyncio.timeout(60):
        assert await sink.called.get() == [1]
        for item in (2, 3):
            batches.add(item)
            await asyncio.sleep(0)
        assert sink.calls == [[1]]
        await batches.close()
    assert sink.calls == [[1], [2, 3]], "who closes does not wait for a rest"


async def test_writing_continues_after_the_rest_time() -> None:
    sink = Sink()
    sink.open.set()
    batches = BackgroundBatches(sink.write, max_pending=10, rest_s=0.01)
    async with asyncio.timeout(60):
        for item in (1, 2):
            batches.add(item)
            assert await sink.called.get() == [item]
    await batches.close()


def test_the_rest_time_is_not_negative() -> None:
    with pytest.raises(ValueError, match="rest_s"):
        BackgroundBatches(Sink().write, max_pending=1, rest_s=-1)
