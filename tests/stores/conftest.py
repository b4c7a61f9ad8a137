"""The stores of the tests in this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stores.edge.shard import Shard
from tests.stores.factories import prepared_shard
from tests.stores.fixtures import edge_owner_process, edge_store, store

__all__ = ["edge_owner_process", "edge_store", "store"]


@pytest.fixture
def shard(tmp_path: Path) -> Iterator[Shard]:
    """An empty, prepared shard in this process."""
    shard = prepared_shard(tmp_path)
    yield shard
    shard.close()
