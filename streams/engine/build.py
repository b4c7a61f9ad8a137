"""Factories for the driver of a stage's worker."""

from collections.abc import Callable
from typing import Any

from runtime.settings import Settings
from streams.engine.context import StageContext
from streams.engine.failures.erased_records import ErasedRecords
from streams.engine.keyed.attempts import HealthCheck, KeyedHandler
from streams.engine.keyed.keyed_driver import KeyedDriver, LoadPayload
from streams.engine.keyed.scheduler import Scheduler
from streams.engine.state.partition_state import Codec
from streams.engine.tasks.batch import BatchHandler
from streams.engine.tasks.driver import Driver, InFlightRecord, OrderingKey, key_of
from streams.engine.tasks.ordered_driver import OrderedDriver

DriverFactory = Callable[[StageContext], Driver]


def ordered_driver_factory(
    settings: Settings,
    codec: Codec[Any],
    new_handler: Callable[[int], BatchHandler],
    *,
    driver_class: Callable[..., OrderedDriver] = OrderedDriver,
) -> DriverFactory:
    """Makes drivers that handle every partition in the order of its log.

    Args:
        settings: The settings in force.
        codec: Encodes and decodes the stage's state.
        new_handler: Makes the handler of one partition.
        driver_class: The driver's class, for a stage that extends it.
    """

    def new_driver(context: StageContext) -> Driver:
        return driver_class(
            context=context,
            new_handler=new_handler,
            codec=codec,
            max_queued=settings.delivery.max_queued,
            max_queued_bytes=settings.delivery.max_queued_bytes,
            cache_bytes=settings.delivery.state_cache_bytes,
        )

    return new_driver


def keyed_driver_factory(
    settings: Settings,
    handler: KeyedHandler,
    *,
    topic: str,
    calls_at_once: int | None,
    weight_of: Callable[[str], float],
    load_payload: LoadPayload,
    ordering_key: OrderingKey = key_of,
    serves: HealthCheck | None,
    erased: ErasedRecords | None = None,
) -> DriverFactory:
    """Makes drivers that handle records key by key, for a stage that waits for slow calls.

    Args:
        settings: The settings in force.
        handler: Handles the stage's records.
        topic: The source topic.
        calls_at_once: Limit of concurrent calls of the stage. None: it makes no calls.
        weight_of: A tenant's weight in fair queueing.
        load_payload: Reads an evicted payload again.
        ordering_key: The ordering key: records with the same key run one after the other.
        serves: Checks whether a dependency is available, to separate an outage from a faulty record. None: no check.
        erased: Knows the erased users, whose records are not parked. None: no user is erased.
    """
    delivery = settings.delivery
    # With more slots than calls, records would queue for a call in order of arrival, which bypasses fair queueing.
    slots = delivery.slots if calls_at_once is None else min(delivery.slots, calls_at_once)

    def new_driver(context: StageContext) -> Driver:
        scheduler = Scheduler[InFlightRecord](
            slots=slots,
            tenant_share=delivery.tenant_share,
            max_in_flight=delivery.max_in_flight,
            max_span=delivery.max_unacked_span,
            weight_of=weight_of,
            evict=lambda record: record.evict(),
        )
        return KeyedDriver(
            context=context,
            handler=handler,
            topic=topic,
            scheduler=scheduler,
            park_after_s=delivery.park_after_s,
            load_payload=load_payload,
            ordering_key=ordering_key,
            serves=serves,
            erased=erased,
        )

    return new_driver
