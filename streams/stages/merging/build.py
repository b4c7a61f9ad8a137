"""Dependencies of the merging stage."""

from contextlib import AsyncExitStack

from control.redaction import TenantRedaction
from control.tenants import TenantDirectory
from memory.topics import MERGES, USAGE
from models.llm.build import build_llm
from runtime.clocks import SystemClock
from runtime.kafka import KafkaOffsets, Producer
from runtime.metrics import Metrics
from runtime.redis.client import open_redis
from runtime.settings import Settings
from streams.engine.build import DriverFactory, keyed_driver_factory
from streams.engine.failures.erased_records import ErasedRecords
from streams.engine.keyed.payloads import PayloadLoader
from streams.stages.merging.handler import STAGE, MergingHandler
from streams.stages.merging.indexed_log import IndexedLog
from streams.stages.merging.lookups import OpenedOnce
from streams.stages.model_calls import TenantBudgets, UsageTopic, llm_serves
from streams.stages.tenancy import weight_of


async def build(settings: Settings, metrics: Metrics, resources: AsyncExitStack, *, tenants: TenantDirectory) -> DriverFactory:
    """Builds the LLM, if an endpoint is set.

    Args:
        settings: The settings in force.
        metrics: Receives the stage's counts.
        resources: Closes what was opened.
        tenants: The known tenants.
    """
    redis = await resources.enter_async_context(open_redis(settings.redis))
    producer = await resources.enter_async_context(Producer(kafka=settings.kafka))
    usage = UsageTopic(producer=producer, topic=settings.topic(USAGE.name))
    budgets, redaction = TenantBudgets(tenants=tenants, settings=settings), TenantRedaction(tenants)
    llm = build_llm(settings, redis=redis, usage=usage, budget_of=budgets.of, redaction_of=redaction.of)
    if llm is not None:
        resources.push_async_callback(llm.close)
    nearest = OpenedOnce(settings, resources, clock=SystemClock())
    indexed_log = IndexedLog(settings=settings, offsets=await resources.enter_async_context(KafkaOffsets(kafka=settings.kafka)))
    resources.push_async_callback(indexed_log.close)
    handler = MergingHandler(settings=settings, tenants=tenants, metrics=metrics, llm=llm, nearest=nearest, indexed_log=indexed_log)
    payload_loader = await resources.enter_async_context(PayloadLoader(kafka=settings.kafka))
    return keyed_driver_factory(
        settings,
        handler,
        topic=settings.topic(MERGES.name),
        calls_at_once=None if llm is None else settings.llm.concurrency,
        weight_of=lambda tenant: weight_of(tenants, tenant),
        load_payload=payload_loader.read,
        serves=llm_serves(llm, stage=STAGE),
        erased=ErasedRecords(revision=tenants.erasures_revision, covers=handler.is_erased),
    )
