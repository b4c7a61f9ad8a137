"""A real store for the tests of lookups."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from runtime.settings import StoreSettings
from stores.build import build_store
from stores.port import MemoryStore
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.streams.harness import plain_settings


@pytest.fixture
def edge(tmp_path: Path) -> Iterator[EdgeOwnerProcess]:
    with EdgeOwnerProcess(tmp_path / "edge") as edge:
        yield edge


@pytest.fixture
async def store(edge: EdgeOwnerProcess, tmp_path: Path) -> AsyncIterator[MemoryStore]:
    store = build_store(plain_settings(tmp_path, store=StoreSettings(socket=edge.socket)))
    yield store
    await store.close()
