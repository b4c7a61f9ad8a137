"""Opens the clients and stores of the query service."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from api.dependencies import Dependencies
from api.guarded_clients import closed_by, guarded_embedder, guarded_store, started_producer
from api.limits.admission import Admission
from api.limits.quotas import MemoryCounts, Quotas
from api.limits.requests_in_progress import RequestsInProgress
from api.previews import Previews
from api.reads.entity_history import EntitiesAsOf
from api.reads.read_audit import ReadAudit
from api.reads.recall_log import RecallLog
from api.reads.recall_models import BackgroundUsage, build_query_rewriter
from api.reads.store_positions import StorePositions
from api.stage_overview import StageOverview
from api.webhooks.service import Webhooks
from api.writes.erasures import Erasures
from control import ControlWriter
from control.key_usage import KeyUsage
from control.redaction import TenantRedaction
from control.tenants import TenantDirectory, follow_tenants
from memory.topics import MEMORIES, USAGE
from retrieval.pipeline import RecallPipeline
from retrieval.profiles import load_profiles
from runtime.background import BackgroundWorks
from runtime.clocks import Clock, SystemClock
from runtime.errors import ExtraMissingError
from runtime.kafka import Producer
from runtime.logs import logger
from runtime.metrics import metrics
from runtime.periodic_job import PeriodicJob
from runtime.redis.client import GuardedRedis, open_redis
from runtime.redis.entity_view import EntityView
from runtime.redis.idempotency_cache import IdempotencyCache
from runtime.redis.rate_limits import RateLimiter
from runtime.redis.recall_history import RecallHistory
from runtime.redis.retrieval_counts import RetrievalCounts
from runtime.redis.session_tail import SessionTail
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.operations.service_work import Eraser, ServiceJob

if TYPE_CHECKING:
    from api.auth.identity_provider import IdentityProvider
    from api.console.sessions import ConsoleSessions

_log = logger(__name__)

OpenDependencies = Callable[[Settings], AbstractAsyncContextManager[Dependencies]]


@asynccontextmanager
async def open_dependencies(
    settings: Settings, *, eraser: Eraser | None = None, jobs: Sequence[ServiceJob] = ()
) -> AsyncIterator[Dependencies]:
    """Opens the real dependencies. Kafka, Redis and the store may be unavailable now: the service connects when it first needs them.

    It rejects all requests before it has read the control log.

    Args:
        settings: The addresses.
        eraser: Runs erasures, including those that another process left unfinished. None: this service runs no erasures.
        jobs: Periodic work that one of the services does.

    Raises:
        ProfilesError: If the settings' file of ranking profiles is invalid.
        ModelConfigurationError: If the embedding model cannot be loaded, or a recall's model has no price.
    """
    profiles = await asyncio.to_thread(load_profiles, settings.recall)
    clock = SystemClock()
    metrics().first_tenants.most = settings.metrics_tenants
    async with AsyncExitStack() as stack:
        tenants = await stack.enter_async_context(follow_tenants(settings, metrics(), wait_s=settings.service.produce_timeout_s))
        embedder = closed_by(stack, await guarded_embedder(settings))
        store = closed_by(stack, guarded_store(settings, embedder))
        store_positions = closed_by(
            stack, StorePositions(store=store, topic=settings.topic(MEMORIES.name), partitions=settings.kafka.partitions)
        )
        redis = await stack.enter_async_context(open_redis(settings.redis))
        identity = _identity_provider(stack, settings)
        key_uses = closed_by(stack, KeyUsage(redis=redis))
        producer = await started_producer(stack, settings)
        counts = RetrievalCounts(redis=redis)
        recall_log = closed_by(stack, _recall_log(settings, producer, redis, counts))
        read_audit = closed_by(stack, _read_audit(settings, producer, clock))
        memory_counts = closed_by(stack, MemoryCounts(store=store))
        usage = closed_by(
            stack, BackgroundUsage(producer=producer, topic=settings.topic(USAGE.name), max_pending=settings.service.max_pending_recalls)
        )
        redaction_of = TenantRedaction(tenants).of
        tail = SessionTail(redis=redis, ttl_s=settings.redis.tail_ttl_s)
        recall = RecallPipeline(
            store=store,
            embedder=embedder,
            settings=settings.recall,
            clock=clock,
            profiles=profiles,
            counts=counts,
            read_positions=store_positions.read,
            read_tail=tail.read,
            history=EntitiesAsOf(store=store, tenants=tenants, clock=clock),
            rewriter=build_query_rewriter(
                stack, settings, store=store, embedder=embedder, redis=redis, usage=usage, redaction_of=redaction_of
            ),
        )
        overview = closed_by(stack, StageOverview(settings=settings, clock=clock))
        previews = closed_by(stack, Previews(settings=settings, redis=redis, producer=producer, tenants=tenants, embedder=embedder))
        erasures = closed_by(stack, Erasures(eraser=eraser, store=store, redis=redis, tenants=tenants, clock=clock))
        background = _background_works(settings, tenants, store, redis, producer, clock, erasures, jobs)
        await stack.enter_async_context(background.running())
        yield Dependencies(
            settings=settings,
            clock=clock,
            metrics=metrics(),
            tenants=tenants,
            identity=identity,
            console=_console_sessions(settings, redis, clock),
            control=ControlWriter(settings=settings, clock=clock),
            producer=producer,
            redis=redis,
            tail=tail,
            entity_view=EntityView(redis=redis, ttl_s=settings.redis.entity_ttl_s),
            key_uses=key_uses,
            answers=IdempotencyCache(redis=redis, ttl_s=settings.service.idempotency_ttl_s, max_bytes=settings.service.idempotency_bytes),
            store=store,
            store_positions=store_positions,
            embedder=embedder,
            profiles=profiles,
            recall=recall,
            recall_log=recall_log,
            read_audit=read_audit,
            quotas=_quotas(settings, redis, memory_counts),
            in_progress=RequestsInProgress(most=settings.service.max_requests_of_tenant),
            admission=Admission(settings=settings.service, metrics=metrics()),
            erasures=erasures,
            overview=overview,
            previews=previews,
            background=background,
        )


def _recall_log(settings: Settings, producer: Producer, redis: GuardedRedis, counts: RetrievalCounts) -> RecallLog:
    return RecallLog(
        producer=producer,
        recall_history=RecallHistory(redis=redis),
        counts=counts,
        topic_prefix=settings.kafka.topic_prefix,
        max_bytes=settings.kafka.max_record_bytes,
        max_pending=settings.service.max_pending_recalls,
        metrics=metrics(),
    )


def _read_audit(settings: Settings, producer: Producer, clock: Clock) -> ReadAudit:
    return ReadAudit(
        producer=producer,
        topic_prefix=settings.kafka.topic_prefix,
        rate=settings.read_audit.rate,
        max_pending=settings.service.max_pending_recalls,
        metrics=metrics(),
        clock=clock,
    )


def _quotas(settings: Settings, redis: GuardedRedis, memory_counts: MemoryCounts) -> Quotas:
    limiter = RateLimiter(redis=redis, purpose="quota", metrics=metrics())
    return Quotas(settings=settings.quota, limiter=limiter, memory_counts=memory_counts, metrics=metrics())


def _background_works(
    settings: Settings,
    tenants: TenantDirectory,
    store: MemoryStore,
    redis: GuardedRedis,
    producer: Producer,
    clock: Clock,
    erasures: Erasures,
    jobs: Sequence[ServiceJob],
) -> BackgroundWorks:
    """The service's work besides its requests: unfinished erasures, periodic jobs, webhooks."""
    background = BackgroundWorks(metrics())
    if erasures.is_equipped:
        background.add("erasures-looking", erasures.look)
    for job in jobs:
        work = partial(job.work, tenants=tenants, store=store, redis=redis, metrics=metrics())
        background.add(job.name, PeriodicJob(job.name, interval_s=job.interval_s, redis=redis, work=work).run)
    if settings.webhooks.enabled and settings.signing.secret is not None:
        webhooks = Webhooks(settings=settings, tenants=tenants, producer=producer, metrics=metrics(), clock=clock)
        background.add("webhooks", webhooks.run)
    return background


def _identity_provider(stack: AsyncExitStack, settings: Settings) -> "IdentityProvider | None":
    """Verifies tokens, if the settings name an issuer. Its packages are imported only then.

    Raises:
        ExtraMissingError: If they are not installed.
    """
    if settings.oidc.issuer is None:
        return None
    try:
        from api.auth.identity_provider import IdentityProvider
    except ModuleNotFoundError as error:
        raise ExtraMissingError("VARVE_OIDC__ISSUER", "oidc") from error
    return closed_by(stack, IdentityProvider(settings=settings.oidc))


def _console_sessions(settings: Settings, redis: GuardedRedis, clock: Clock) -> "ConsoleSessions | None":
    """The sessions of the console. Its modules are imported only if the setting turns it on."""
    if not settings.console.enabled:
        return None
    from api.console.sessions import ConsoleSessions

    return ConsoleSessions(redis=redis, lifetime_s=settings.console.session_s, clock=clock, metrics=metrics())
