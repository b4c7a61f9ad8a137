"""What the index stage runs on."""

from contextlib import AsyncExitStack

from models.embedding.build import build_embedder
from retrieval.index.writer import IndexWriter
from retrieval.stores.build import build_store
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.delivery.build import DriverFactory, ordered_driver_factory
from streams.delivery.no_state import NoState
from streams.index.handler import IndexHandler


async def build(settings: Settings, metrics: Metrics, resources: AsyncExitStack) -> DriverFactory:
    """Builds what the stage runs on: the embedding model and the vector store.

    Args:
        settings: The settings in force.
        metrics: Where the stage counts.
        resources: Closes what was opened.
    """
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    resources.push_async_callback(embedder.close)
    store = build_store(settings)
    resources.push_async_callback(store.close)
    writer = IndexWriter(store=store, embedder=embedder)
    return ordered_driver_factory(settings, NoState(), lambda _: IndexHandler(writer=writer))
