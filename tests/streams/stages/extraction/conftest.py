from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stores.edge.client import EdgeStore
from tests.stores.edge_owner_process import EdgeOwnerProcess


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EdgeStore]:
    """A real store, empty."""
    with EdgeOwnerProcess(tmp_path / "edge") as process:
        store = EdgeStore(path=process.socket)
        yield store
        await store.close()
