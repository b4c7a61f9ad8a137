"""A running Edge owner for the tests of one file."""

from collections.abc import AsyncIterator, Iterator

import pytest

from retrieval.stores.edge.client import EdgeStore
from tests.retrieval.edge_owner_process import EdgeOwnerProcess


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
