"""Calls of an engine run one at a time, in their order, and none is lost."""

import asyncio
from functools import partial

import pytest

from stores.edge.engine_scheduler import EngineScheduler


class Recalls:
    """Runs recalls of so many calls, and notes whose call ran when."""

    def __init__(self) -> None:
        self.turns = EngineScheduler(monotonic=iter(range(100_000)).__next__)
        self.order: list[str] = []
        self.enough = asyncio.Event()

    async def recall(self, tenant: str, *, candidates: int, calls: int) -> None:
        recall = self.turns.recall(tenant, candidates)
        for _ in range(calls):
            await self.turns.run(recall, partial(self._call, tenant))

    def _call(self, tenant: str) -> None:
        self.order.append(tenant)
        if len(self.order) == 40:
            self.enough.set()


async def test_a_flood_delays_another_tenant_by_one_call() -> None:
    recalls = Recalls()
    flood = [asyncio.create_task(recalls.recall("flood", candidates=1000, calls=17)) for _ in range(20)]
    await recalls.enough.wait()
    began = len(recalls.order)
    await recalls.recall("quiet", candidates=64, calls=3)
    assert recalls.order[began:].index("quiet") <= 1
    assert recalls.order[began:][: recalls.order[began:].index("quiet") + 3].count("quiet") == 3
    assert not any(each.done() for each in flood[2:]), "the flood was there all the time"
    await asyncio.gather(*flood)
    assert recalls.order.count("flood") == 20 * 17


async def test_an_exception_reaches_only_its_own_recall() -> None:
    turns = EngineScheduler()
    failing, fine = turns.recall("a", 64), turns.recall("a", 64)
    outcomes = await asyncio.gather(turns.run(failing, lambda: 1 / 0), turns.run(fine, lambda: "found"), return_exceptions=True)
    assert isinstance(outcomes[0], ZeroDivisionError)
    assert outcomes[1] == "found"


async def test_a_recall_that_is_cancelled_makes_no_call() -> None:
    recalls = Recalls()
    gone = asyncio.create_task(recalls.recall("gone", candidates=64, calls=3))
    stays = asyncio.create_task(recalls.recall("stays", candidates=64, calls=3))
    await asyncio.sleep(0)
    gone.cancel()
    await stays
    with pytest.raises(asyncio.CancelledError):
        await gone
    assert recalls.order == ["stays"] * 3
    await recalls.recall("next", candidates=64, calls=1)
    assert recalls.order[-1] == "next"
