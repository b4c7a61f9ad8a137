"""The store that the settings name, and a Qdrant server that is unavailable."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from runtime.settings import Settings, StoreSettings
from stores.build import build_store
from stores.edge.client import EdgeStore
from stores.errors import StoreRejectedError, StoreUnavailableError
from stores.port import MemoryFilter, MemoryStore, RecallQuery, TenantScope
from stores.server.store import QdrantStore
from tests.stores.closed_port import closed_port
from tests.stores.factories import DIMENSION, LATE_DIMENSION, MODEL, NOON, deletions, embedding, memory, point, stable_id

ACME = TenantScope("acme", "ann")
QUERY = RecallQuery(
    filter=MemoryFilter(scope=ACME, kinds=("event", "entity"), types=("note",), since=NOON, until=NOON, not_expired_at=NOON),
    text="red bicycle",
    embedding=embedding("red bicycle"),
    explain=True,
)


@pytest.fixture
def unreachable() -> Settings:
    store = StoreSettings(kind="server", url=f"http://127.0.0.1:{closed_port()}", grpc_port=closed_port(), timeout_s=1)
    return Settings(_env_file=None, store=store)


def test_the_default_store_is_edge(tmp_path: Path) -> None:
    store = build_store(Settings(_env_file=None, data=tmp_path))
    assert isinstance(store, EdgeStore)


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION),
        lambda store: store.delete(ACME, deletions(stable_id("x"))),
        lambda store: store.get(ACME, [stable_id("x")]),
        lambda store: store.recall(QUERY),
        lambda store: store.scroll(ACME, after=stable_id("x")),
        lambda store: store.count(ACME),
        lambda store: store.drop(),
    ],
)
async def test_every_call_reports_an_unavailable_server(unreachable: Settings, call: Callable[[MemoryStore], Awaitable[object]]) -> None:
    store = build_store(unreachable)
    assert isinstance(store, QdrantStore)
    with pytest.raises(StoreUnavailableError, match="varve"):
        await call(store)
    await store.close()


async def test_an_upsert_needs_a_prepared_store(unreachable: Settings, tmp_path: Path) -> None:
    for store in (build_store(unreachable), EdgeStore(path=tmp_path / "nobody")):
        with pytest.raises(StoreRejectedError, match=r"prepare\(\)"):
            await store.upsert([point(memory())])
        await store.close()
