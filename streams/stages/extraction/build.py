"""Dependencies of the extraction stage."""

from contextlib import AsyncExitStack
from functools import partial

from control.redaction import TenantRedaction
from control.tenants import TenantDirectory
from extraction.build import build_extractor
from memory.topics import USAGE, WINDOWS
from models.embedding.build import build_embedder
from models.embedding.handover import build_handover
from models.llm.build import build_llm
from models.llm.cache import forget_answers
from retrieval.entity_lookup import EntityLookup
from runtime.clocks import SystemClock
from runtime.kafka import Producer
from runtime.metrics import Metrics
from runtime.redis.client import GuardedRedis, open_redis
from runtime.redis.entity_view import EntityView
from runtime.redis.extraction_notes import KeyValueNotes, PromptEntities
from runtime.redis.recall_history import RecallHistory
from runtime.redis.recent_patches import RecentPatchStore
from runtime.redis.session_history import SessionHistory
from runtime.settings import Settings
from stores.build import open_store
from streams.engine.build import DriverFactory, keyed_driver_factory
from streams.engine.failures.erased_records import ErasedRecords
from streams.engine.keyed.payloads import PayloadLoader
from streams.stages.extraction.entity_context import EntityContext, EntityNotes
from streams.stages.extraction.handler import ExtractionHandler
from streams.stages.extraction.lanes import WindowLanes
from streams.stages.extraction.metering import MeteredExtractor, Metering
from streams.stages.extraction.similar_keys import SimilarKeys
from streams.stages.extraction.window_notes import WindowNotes
from streams.stages.model_calls import TenantBudgets, UsageTopic, llm_serves
from streams.stages.tenancy import weight_of


async def build(
    settings: Settings,
    metrics: Metrics,
    resources: AsyncExitStack,
    *,
    tenants: TenantDirectory,
    generation: str | None = None,
    only: frozenset[str] | None = None,
    metering: Metering | None = None,
) -> DriverFactory:
    """Builds the extractor and its context. The extractor uses an LLM, or works offline if no endpoint is set.

    Args:
        settings: The settings in force.
        metrics: Receives the stage's counts.
        resources: Closes what was opened.
        tenants: The known tenants.
        generation: See :class:`streams.stages.extraction.handler.ExtractionHandler`.
        only: See :class:`streams.stages.extraction.handler.ExtractionHandler`.
        metering: Limits of a re-extraction. None: the tenants' daily budgets apply.
    """
    redis = await resources.enter_async_context(open_redis(settings.redis))
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    resources.push_async_callback(embedder.close)
    producer = await resources.enter_async_context(Producer(kafka=settings.kafka))
    usage = UsageTopic(producer=producer, topic=settings.topic(USAGE.name), generation=(generation or "") if metering else "")
    llm = build_llm(
        settings,
        redis=redis,
        usage=usage,
        budget_of=TenantBudgets(tenants=tenants, settings=settings).of,
        redaction_of=TenantRedaction(tenants).of,
        budget=None if metering is None else metering.budget,
        clock=None if metering is None else metering.clock,
    )
    extractor = build_extractor(settings, embedder=embedder, llm=llm, own_metrics=metrics)
    if metering is not None:
        extractor = MeteredExtractor(extractor, metering)
    resources.push_async_callback(extractor.close)
    store = await resources.enter_async_context(open_store(settings))
    lookup = EntityLookup(store=store, embedder=embedder, prefetch=settings.recall.prefetch, clock=SystemClock())
    entity_notes = _entity_notes(settings, redis)
    handler = ExtractionHandler(
        settings=settings,
        tenants=tenants,
        metrics=metrics,
        extractor=extractor,
        entity_context=EntityContext(lookup=lookup, notes=entity_notes),
        notes=_window_notes(settings, redis, entity_notes),
        similar_keys=SimilarKeys(lookup=lookup, embedder=embedder, notes=KeyValueNotes(redis=redis)),
        forget_answers=partial(forget_answers, redis),
        handover=build_handover(settings.embedding, redis=redis, embedder=embedder),
        generation=generation,
        only=only,
    )
    payload_loader = await resources.enter_async_context(PayloadLoader(kafka=settings.kafka))
    return keyed_driver_factory(
        settings,
        handler,
        topic=settings.topic(WINDOWS.name),
        calls_at_once=None if llm is None else settings.llm.concurrency,
        weight_of=lambda tenant: weight_of(tenants, tenant),
        load_payload=payload_loader.read,
        ordering_key=WindowLanes(tenants=tenants, generation=generation).ordering_key,
        serves=llm_serves(llm, stage="extraction"),
        erased=ErasedRecords(revision=tenants.erasures_revision, covers=handler.is_erased),
    )


def _entity_notes(settings: Settings, redis: GuardedRedis) -> EntityNotes:
    return EntityNotes(
        prompt_entities=PromptEntities(redis=redis, ttl_s=settings.extraction.context_ttl_s),
        patches=RecentPatchStore(redis=redis),
        view=EntityView(redis=redis, ttl_s=settings.redis.entity_ttl_s),
    )


def _window_notes(settings: Settings, redis: GuardedRedis, entity_notes: EntityNotes) -> WindowNotes:
    return WindowNotes(
        sessions=SessionHistory(redis=redis, ttl_s=settings.extraction.context_ttl_s),
        recalls=RecallHistory(redis=redis),
        entities=entity_notes,
    )
