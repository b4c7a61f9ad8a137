"""What the extraction stage runs on."""

from contextlib import AsyncExitStack

from extraction.build import build_extractor
from models.embedding.build import build_embedder
from models.llm.build import build_llm
from retrieval.recall import Recall
from retrieval.stores.build import build_store
from runtime.clocks import SystemClock
from runtime.kafka import Producer
from runtime.metrics import Metrics
from runtime.prompt_entities import PromptEntities
from runtime.recall_history import RecallHistory
from runtime.redis import open_redis
from runtime.session_history import SessionHistory
from runtime.settings import Settings
from runtime.tenants import TenantDirectory
from streams.delivery.build import DriverFactory
from streams.delivery.context import StageContext
from streams.delivery.driver import Driver, InFlightRecord
from streams.delivery.keyed_driver import KeyedDriver
from streams.delivery.payload_loader import PayloadLoader
from streams.delivery.scheduler import Scheduler
from streams.extraction.budgets import TenantBudgets
from streams.extraction.handler import ExtractionHandler
from streams.extraction.usage import UsageTopic
from streams.tenancy import weight_of


async def build(
    settings: Settings, metrics: Metrics, resources: AsyncExitStack, *, tenants: TenantDirectory, generation: str | None = None
) -> DriverFactory:
    """Builds what the stage runs on: the extractor, by LLM or offline where no endpoint is set, and its context.

    Args:
        settings: The settings in force.
        metrics: Where the stage counts.
        resources: Closes what was opened.
        tenants: Who is known.
        generation: See :class:`streams.extraction.handler.ExtractionHandler`.
    """
    redis = await resources.enter_async_context(open_redis(settings.redis))
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    resources.push_async_callback(embedder.close)
    producer = await resources.enter_async_context(Producer(kafka=settings.kafka))
    usage = UsageTopic(producer=producer, topic=settings.topic("usage"))
    llm = build_llm(settings, redis=redis, usage=usage, budget_of=TenantBudgets(tenants=tenants, settings=settings).of)
    extractor = build_extractor(settings, embedder=embedder, llm=llm)
    resources.push_async_callback(extractor.close)
    store = build_store(settings)
    resources.push_async_callback(store.close)
    handler = ExtractionHandler(
        settings=settings,
        tenants=tenants,
        metrics=metrics,
        extractor=extractor,
        recall=Recall(store=store, embedder=embedder, settings=settings.recall, clock=SystemClock()),
        recall_history=RecallHistory(redis=redis),
        prompt_entities=PromptEntities(redis=redis, ttl_s=settings.extraction.context_ttl_s),
        session_history=SessionHistory(redis=redis, ttl_s=settings.extraction.context_ttl_s),
        generation=generation,
    )
    payload_loader = await resources.enter_async_context(PayloadLoader(kafka=settings.kafka))
    delivery = settings.delivery
    # More slots than calls would let records queue for a call first come, first served, past fair queueing.
    slots = delivery.slots if llm is None else min(delivery.slots, settings.llm.concurrency)

    def new_driver(context: StageContext) -> Driver:
        scheduler = Scheduler[InFlightRecord](
            slots=slots,
            tenant_share=delivery.tenant_share,
            max_in_flight=delivery.max_in_flight,
            max_span=delivery.max_unacked_span,
            weight_of=lambda tenant: weight_of(tenants, tenant),
            evict=lambda record: record.evict(),
        )
        return KeyedDriver(
            context=context,
            handler=handler,
            topic=settings.topic("windows"),
            scheduler=scheduler,
            load_payload=payload_loader.read,
        )

    return new_driver
