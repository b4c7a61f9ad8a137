"""A running Edge owner for the tests of one file."""

from collections.abc import AsyncIterator, Iterator

import pytest

from stores.edge.client import EdgeStore
from stores.port import MemoryStore
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.stores.factories import DIMENSION, LATE_DIMENSION, MODEL
from tests.stores.store_kinds import KINDS, edge_store_on, qdrant_store


@pytest.fixture(scope="module")
def edge_owner_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EdgeOwnerProcess]:
    with EdgeOwnerProcess(tmp_path_factory.mktemp("edge")) as process:
        yield process


@pytest.fixture
async def edge_store(edge_owner_process: EdgeOwnerProcess) -> AsyncIterator[EdgeStore]:
    """An empty store that nobody has prepared."""
    store = EdgeStore(path=edge_owner_process.socket)
    yield store
    await store.drop()
    await store.close()


@pytest.fixture(params=KINDS)
async def store(request: pytest.FixtureRequest) -> AsyncIterator[MemoryStore]:
    """An empty, prepared store of each kind in turn."""
    kind = request.param
    built = edge_store_on(request.getfixturevalue("edge_owner_process").socket) if kind == "edge" else qdrant_store(kind)
    await built.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
    yield built
    await built.drop()
    await built.close()
