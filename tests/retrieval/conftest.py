"""The stores and the embedding model of the tests in this folder."""

from collections.abc import AsyncIterator

import pytest

from models.embedding.build import build_embedder
from models.embedding.port import Embedder
from runtime.settings import EmbeddingSettings, Settings
from tests.stores.fixtures import edge_owner_process, edge_store, store

__all__ = ["edge_owner_process", "edge_store", "store"]


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    """The real MiniLM."""
    pytest.importorskip("ctranslate2", reason="the embedded extra is not installed")
    embedder = build_embedder(EmbeddingSettings(), cache=Settings().cache_path)
    yield embedder
    await embedder.close()
