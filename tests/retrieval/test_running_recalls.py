"""The order in which the pieces of concurrent recalls run."""

import asyncio

from retrieval.stores.edge.running_recalls import MAX_YIELDS, RunningRecalls


class Recalls:
    """Runs recalls of so many pieces, and notes whose piece ran when."""

    def __init__(self) -> None:
        self._running = RunningRecalls()
        self.order: list[str] = []

    async def recall(self, name: str, *, candidates: int, pieces: int) -> None:
        with self._running.running(candidates) as recall:
            for _ in range(pieces):
                self.order.append(name)
                await recall.let_others_go_first()


async def test_a_small_recall_ends_before_a_large_one() -> None:
    recalls = Recalls()
    await asyncio.gather(recalls.recall("large", candidates=1000, pieces=8), recalls.recall("small", candidates=64, pieces=3))
    assert recalls.order == ["large", *["small"] * 3, *["large"] * 7]


async def test_recalls_of_one_size_take_turns() -> None:
    recalls = Recalls()
    await asyncio.gather(*(recalls.recall(name, candidates=64, pieces=3) for name in "ab"))
    assert recalls.order == ["a", "b"] * 3


async def test_a_large_recall_ends_among_endless_small_ones() -> None:
    recalls = Recalls()
    small = asyncio.create_task(recalls.recall("small", candidates=1, pieces=10_000))
    await recalls.recall("large", candidates=1000, pieces=8)
    assert not small.done()
    assert recalls.order.count("small") <= 8 * MAX_YIELDS + 1
    small.cancel()
