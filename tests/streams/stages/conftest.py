"""Fixtures that several stages share."""

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from runtime.settings import KafkaSettings, SessionSettings, StoreSettings
from stores.build import build_store
from stores.port import MemoryStore
from tests.control_log import known_tenants
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.streams.harness import plain_settings
from tests.streams.stages.message_flow import TENANT, Flow, NewFlow


@pytest.fixture(scope="session")
def new_flow() -> Iterator[NewFlow]:
    with tempfile.TemporaryDirectory() as folder:
        limits = SessionSettings(message_count=20, message_cap=40, wait_timeout_s=10_000)
        settings = plain_settings(Path(folder), kafka=KafkaSettings(partitions=1), sessions=limits)
        tenants = known_tenants({TENANT: "companion"})
        yield lambda: Flow(settings, tenants)


@pytest.fixture
def edge(tmp_path: Path) -> Iterator[EdgeOwnerProcess]:
    """The vector store's own process."""
    with EdgeOwnerProcess(tmp_path / "edge") as edge:
        yield edge


@pytest.fixture
async def store(edge: EdgeOwnerProcess, tmp_path: Path) -> AsyncIterator[MemoryStore]:
    """A real vector store."""
    store = build_store(plain_settings(tmp_path, store=StoreSettings(socket=edge.socket)))
    yield store
    await store.close()


@pytest.fixture
def message_flow(new_flow: NewFlow) -> Flow:
    return new_flow()
