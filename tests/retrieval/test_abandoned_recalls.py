"""The Edge owner stops recalls whose callers have disconnected."""

import asyncio
import itertools
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from stores.edge.client import EdgeStore
from stores.edge.folder import is_served
from stores.edge.owner import Owner
from stores.edge.search import ScoredRecord
from stores.edge.shard import Shard
from stores.port import MemoryFilter, RecallQuery, TenantScope
from stores.query_plan import QueryPlan
from tests.stores.factories import embedding, memory
from tests.streams.harness import until

ENDLESS = "endless"


class CountingShard(Shard):
    """Recalls of one tenant never end, and their calls are counted; those of others have one result."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.calls = 0
        self.goes_on = asyncio.Event()

    def recall(self, plan: QueryPlan, *, explain: bool) -> Iterator[list[ScoredRecord]]:
        for _ in itertools.count() if plan.filter.scope.tenant == ENDLESS else ():
            self.calls += 1
            if self.calls == 10:
                self.goes_on.set()
            yield []
        yield [ScoredRecord(memory().to_json().decode(), 1.0, {})]


@pytest.fixture
def shard(tmp_path: Path) -> CountingShard:
    return CountingShard(tmp_path)


@pytest.fixture
async def store(shard: CountingShard) -> AsyncIterator[EdgeStore]:
    with tempfile.TemporaryDirectory() as short:
        path, stopping = Path(short) / "edge.sock", asyncio.Event()
        serving = asyncio.create_task(Owner(shard=shard, path=path).serve(stopping))
        built = EdgeStore(path=path)
        await until(lambda: is_served(path))
        yield built
        await built.close()
        stopping.set()
        await serving


async def recall(store: EdgeStore, tenant: str) -> int:
    return len(
        await store.recall(
            RecallQuery(filter=MemoryFilter(scope=TenantScope(tenant)), text="note", embedding=embedding("note"), prefetch=1000)
        )
    )


async def test_an_abandoned_recall_makes_no_more_calls(store: EdgeStore, shard: CountingShard) -> None:
    callers = [asyncio.create_task(recall(store, ENDLESS)) for _ in range(3)]
    async with asyncio.timeout(60):
        await shard.goes_on.wait()
        for each in callers:
            each.cancel()
        await asyncio.gather(*callers, return_exceptions=True)
        await store.ping()
        made = shard.calls
        for _ in range(5):
            await store.ping()
    assert shard.calls == made


async def test_a_recall_next_to_an_abandoned_one_is_answered(store: EdgeStore, shard: CountingShard) -> None:
    gone = asyncio.create_task(recall(store, ENDLESS))
    async with asyncio.timeout(60):
        await shard.goes_on.wait()
        other_recall = asyncio.create_task(recall(store, "acme"))
        gone.cancel()
        assert await other_recall == 1
        assert await recall(store, "acme") == 1
