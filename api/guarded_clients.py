"""Clients of the servers that the query service needs. A server may be unavailable when the service starts."""

import asyncio
import math
from contextlib import AsyncExitStack
from typing import Final, Protocol, TypeVar

from models.embedding.build import GuardedEmbedder, build_embedder
from models.embedding.port import Embedder
from runtime.errors import KafkaUnavailableError
from runtime.guard import Guard
from runtime.kafka import Producer
from runtime.logs import logger
from runtime.settings import Settings
from stores.build import build_store
from stores.errors import StoreUnavailableError
from stores.guarded_store import GuardedStore

_log = logger(__name__)

_LEAST_AHEAD_S: Final = 60.0
"""Clocks that differ by less count as right, however little ahead a message may be."""


class _Closable(Protocol):
    async def close(self) -> None: ...


_Resource = TypeVar("_Resource", bound=_Closable)


def closed_by(stack: AsyncExitStack, resource: _Resource) -> _Resource:
    """The resource, which the stack closes at its end."""
    stack.push_async_callback(resource.close)
    return resource


async def guarded_embedder(settings: Settings) -> GuardedEmbedder:
    """The embedding model, whose calls fail at once while it is unavailable.

    Raises:
        ModelConfigurationError: If the model cannot be loaded.
    """
    return GuardedEmbedder(
        embedder=await asyncio.to_thread(build_embedder, settings.embedding, cache=settings.cache_path),
        timeout_s=settings.service.embedding_timeout_s,
        probe_timeout_s=settings.service.probe_timeout_s,
        retry_s=settings.delivery.breaker_reset_s,
    )


def guarded_store(settings: Settings, embedder: Embedder) -> GuardedStore:
    """The vector store, whose calls fail at once while it is unavailable.

    Args:
        settings: The store's address, and the time-outs.
        embedder: The model that the memories were embedded with.
    """
    store = build_store(settings)
    guard = Guard(
        name="the vector store",
        probe=lambda: store.prepare(model=embedder.name, dimension=embedder.dimension, late_dimension=embedder.late_dimension),
        outage=StoreUnavailableError,
        unavailable=StoreUnavailableError,
        timeout_s=settings.store.timeout_s,
        probe_timeout_s=settings.service.probe_timeout_s,
        retry_s=settings.delivery.breaker_reset_s,
    )
    return GuardedStore(store=store, guard=guard)


async def started_producer(stack: AsyncExitStack, settings: Settings) -> Producer:
    """The producer, which the stack stops. It connects later if Kafka is unavailable now.

    Args:
        stack: Stops the producer.
        settings: Kafka's settings.
    """
    # The sessions stage refuses seals that were not made at the append time, and messages of the future: their default time is the clock's.
    seal_s = math.inf if settings.signing.secret is None else settings.signing.max_age_s
    producer = Producer(
        kafka=settings.kafka,
        timeout_s=settings.service.produce_timeout_s,
        max_ahead_s=min(seal_s, max(settings.sessions.max_future_s, _LEAST_AHEAD_S)),
        max_behind_s=seal_s,
    )
    stack.push_async_callback(producer.stop)
    try:
        await producer.start()
    except KafkaUnavailableError as error:
        _log.warning("kafka_unavailable", error=str(error))
    return producer
