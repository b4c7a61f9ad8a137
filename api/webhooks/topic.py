"""The topic of deliveries: it holds only those that wait and those that failed permanently."""

from memory.errors import RecordError
from memory.keys import encode_key, marked_key, partition_of
from memory.records import WebhookDelivery
from memory.topics import WEBHOOK_DELIVERIES
from runtime.kafka import OutgoingRecord, Producer, TopicPartition, check_topics, read_topic
from runtime.logs import logger
from runtime.settings import Settings

_log = logger(__name__)


def delivery_record(topic: str, delivery: WebhookDelivery) -> OutgoingRecord:
    """The record with a delivery's state; ``topic`` is its name on the broker."""
    return OutgoingRecord(topic, _key(delivery), delivery.to_json())


def end_record(topic: str, delivery: WebhookDelivery) -> OutgoingRecord:
    """The tombstone that ends a delivery; ``topic`` is its name on the broker."""
    return OutgoingRecord(topic, _key(delivery), None)


def read_delivery(value: bytes, *, place: str) -> WebhookDelivery | None:
    """The delivery in a record; None if it cannot be read, which is logged.

    Args:
        value: The record's value.
        place: The record's position, for the log.
    """
    try:
        return WebhookDelivery.from_json(value)
    except RecordError as error:
        _log.error("webhook_delivery_unreadable", place=place, error=str(error))
        return None


async def read_deliveries(settings: Settings, tenant: str, webhook: str) -> list[WebhookDelivery]:
    """The waiting and the dead deliveries of a webhook, oldest change first.

    Args:
        settings: Kafka's settings.
        tenant: The tenant.
        webhook: The webhook's id.

    Raises:
        KafkaUnavailableError: If no broker answers.
    """
    topic = settings.topic(WEBHOOK_DELIVERIES.name)
    partition = TopicPartition(topic, partition_of(encode_key(tenant, webhook), await check_topics(settings)))
    found: dict[bytes | None, WebhookDelivery] = {}
    async for record in read_topic(topic, settings.kafka, start={partition: 0}):
        found.pop(record.key, None)
        if record.value is None:
            continue
        delivery = read_delivery(record.value, place=f"{record.topic}/{record.partition}/{record.offset}")
        if delivery is not None and (delivery.tenant, delivery.webhook) == (tenant, webhook):
            found[record.key] = delivery
    return sorted(found.values(), key=lambda each: (each.changed_at, each.partition, each.offset))


async def redrive(settings: Settings, producer: Producer, tenant: str, webhook: str) -> int:
    """Lets the dead letters of a webhook be sent again.

    Args:
        settings: Kafka's settings.
        producer: Writes.
        tenant: The tenant.
        webhook: The webhook's id.

    Returns:
        The number of deliveries.

    Raises:
        KafkaUnavailableError: If no broker answers. Then some may have been redriven; the call may be repeated.
    """
    topic = settings.topic(WEBHOOK_DELIVERIES.name)
    dead = [each for each in await read_deliveries(settings, tenant, webhook) if each.state == "dead"]
    again = (
        each.model_copy(update={"state": "pending", "attempts": 0, "due_at": None, "dead_at": None, "redriven": each.redriven + 1})
        for each in dead
    )
    await producer.send_in_batches([delivery_record(topic, each) for each in again])
    return len(dead)


def _key(delivery: WebhookDelivery) -> bytes:
    return marked_key(encode_key(delivery.tenant, delivery.webhook), delivery.id)
