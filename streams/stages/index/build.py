"""Dependencies of the index stage."""

from contextlib import AsyncExitStack
from dataclasses import replace

from memory.topics import MEMORIES
from models.embedding.build import build_embedder
from models.embedding.handover import build_handover
from runtime.kafka import KafkaOffsets, TopicPartition
from runtime.metrics import Metrics
from runtime.redis.client import open_redis
from runtime.settings import Settings
from stores.build import open_store
from stores.index_writer import IndexWriter
from streams.engine.build import DriverFactory, ordered_driver_factory
from streams.engine.context import StageContext
from streams.engine.state.partition_state import NullStore
from streams.engine.tasks.checkpointer import Writer
from streams.engine.tasks.driver import Driver
from streams.stages.index.handler import IndexHandler
from streams.stages.index.store_size import StoreSizeWatch
from streams.stages.index.store_watermark import StoreWatermarkGuard


async def build(settings: Settings, metrics: Metrics, resources: AsyncExitStack) -> DriverFactory:
    """Builds the embedding model and the vector store.

    Args:
        settings: The settings in force.
        metrics: Receives the stage's counts.
        resources: Closes what was opened.
    """
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    resources.push_async_callback(embedder.close)
    store = await resources.enter_async_context(open_store(settings))
    size_watch = StoreSizeWatch(store=store, kind=settings.store.kind, metrics=metrics)
    offsets = await resources.enter_async_context(KafkaOffsets(kafka=settings.kafka))
    redis = await resources.enter_async_context(open_redis(settings.redis))
    handover = build_handover(settings.embedding, redis=redis, embedder=embedder)
    index = IndexWriter(store=store, embedder=embedder, handover=handover)
    new_ordered_driver = ordered_driver_factory(settings, NullStore(), lambda _: IndexHandler(writer=index))
    feed = settings.topic(MEMORIES.name)

    def new_driver(context: StageContext) -> Driver:
        def new_writer(partition: int) -> Writer:
            return StoreWatermarkGuard(context.new_writer(partition), source=TopicPartition(feed, partition), index=index, offsets=offsets)

        context.background.add("store-size", size_watch.run)
        return new_ordered_driver(replace(context, new_writer=new_writer))

    return new_driver
