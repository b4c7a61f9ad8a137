"""What each stage runs on: its handler, its state, and what it needs of the floors below."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, Final

from models.extraction.build import build_extractor
from retrieval.index.writer import IndexWriter

from models.embedding.build import build_embedder
from models.llm.build import build_llm
from retrieval.recall import Recall
from retrieval.stores.build import build_store
from runtime.clocks import SystemClock
from runtime.metrics import Metrics
from runtime.recalled import RecalledHashes
from runtime.redis import connect_redis
from runtime.session_tail import SessionTail
from runtime.settings import Settings
from runtime.tenants import TenantDirectory
from streams.delivery.batch import BatchHandler
from streams.delivery.chains import Chains
from streams.delivery.context import StageContext
from streams.delivery.driver import Driver
from streams.delivery.lanes import Lanes
from streams.delivery.scheduler import Scheduler
from streams.delivery.state import Codec
from streams.delivery.worker import RowsOf
from streams.entities.handler import EntitiesHandler, EntityCodec
from streams.events.handler import EventsHandler
from streams.events.ledger import LedgerCodec
from streams.extraction.handler import ExtractionHandler
from streams.index.handler import IndexHandler
from streams.sessions.codec import SessionCodec
from streams.sessions.handler import SessionsHandler
from streams.sessions.tail import TailFeed

NewDriver = Callable[[StageContext, RowsOf], Driver]
Build = Callable[[Settings, Metrics, AsyncExitStack], Awaitable[NewDriver]]

_CACHED_STATES: Final = 20_000


class NoState:
    """The codec of a stage that keeps no state."""

    def encode(self, state: None) -> bytes:
        """Nothing."""
        return b""

    def decode(self, raw: bytes) -> None:
        """Nothing."""


async def sessions(settings: Settings, metrics: Metrics, resources: AsyncExitStack) -> NewDriver:
    """Windows of sessions, with their tails in Redis."""
    tenants = TenantDirectory(path=settings.tenants_path)
    client = connect_redis(settings.redis)
    resources.push_async_callback(client.aclose)
    redis = settings.redis
    tail = SessionTail(client=client, prefix=redis.prefix, max_messages=redis.tail_messages, ttl_s=redis.tail_ttl_s)
    feed = TailFeed(tail=tail, metrics=metrics)
    feed.start()
    resources.push_async_callback(feed.stop)
    return _lanes(
        settings,
        SessionCodec(),
        lambda partition: SessionsHandler(partition=partition, settings=settings, tenants=tenants, tail=feed, metrics=metrics),
    )


async def extraction(settings: Settings, metrics: Metrics, resources: AsyncExitStack) -> NewDriver:
    """Extraction by LLM, or offline where no endpoint is set."""
    client = connect_redis(settings.redis)
    resources.push_async_callback(client.aclose)
    embedder = await build_embedder(settings.embedding, cache=settings.data / "models")
    resources.push_async_callback(embedder.close)
    llm = build_llm(settings, redis=client)
    if llm is not None:
        resources.push_async_callback(llm.close)
    extractor = build_extractor(settings, embedder=embedder, llm=llm)
    resources.push_async_callback(extractor.close)
    store = build_store(settings)
    resources.push_async_callback(store.close)
    handler = ExtractionHandler(
        settings=settings,
        tenants=TenantDirectory(path=settings.tenants_path),
        extractor=extractor,
        nearest=Recall(store=store, embedder=embedder, settings=settings.recall, clock=SystemClock()),
        recalled=RecalledHashes(client=client, prefix=settings.redis.prefix),
    )
    delivery = settings.delivery

    def new_driver(context: StageContext, rows: RowsOf) -> Driver:
        return Chains(
            context=context,
            handler=handler,
            topic=settings.topic("windows"),
            scheduler=Scheduler(
                slots=delivery.slots,
                tenant_share=delivery.tenant_share,
                max_in_flight=delivery.max_unacked_span,
                max_span=delivery.max_unacked_span,
            ),
            max_tries=delivery.max_tries,
        )

    return new_driver


async def events(settings: Settings, metrics: Metrics, resources: AsyncExitStack) -> NewDriver:
    """What windows laid down."""
    tenants = TenantDirectory(path=settings.tenants_path)
    return _lanes(
        settings,
        LedgerCodec(),
        lambda partition: EventsHandler(partition=partition, settings=settings, tenants=tenants, metrics=metrics),
    )


async def entities(settings: Settings, metrics: Metrics, resources: AsyncExitStack) -> NewDriver:
    """Entity state."""
    tenants = TenantDirectory(path=settings.tenants_path)
    return _lanes(
        settings,
        EntityCodec(),
        lambda partition: EntitiesHandler(settings=settings, tenants=tenants, metrics=metrics),
    )


async def index(settings: Settings, metrics: Metrics, resources: AsyncExitStack) -> NewDriver:
    """The vector store."""
    embedder = await build_embedder(settings.embedding, cache=settings.data / "models")
    resources.push_async_callback(embedder.close)
    store = build_store(settings)
    resources.push_async_callback(store.close)
    writer = IndexWriter(store=store, embedder=embedder)
    return _lanes(settings, NoState(), lambda partition: IndexHandler(writer=writer))


BUILDERS: Final[dict[str, Build]] = {
    "sessions": sessions,
    "extraction": extraction,
    "events": events,
    "entities": entities,
    "index": index,
}


def _lanes(settings: Settings, codec: Codec[Any], new_handler: Callable[[int], BatchHandler]) -> NewDriver:
    def new_driver(context: StageContext, rows: RowsOf) -> Driver:
        return Lanes(
            context=context,
            new_handler=new_handler,
            rows=rows,
            codec=codec,
            max_span=settings.delivery.max_unacked_span,
            cache_size=_CACHED_STATES,
        )

    return new_driver
