"""Deletes the beginnings of logs."""

from collections.abc import Mapping

from aiokafka import TopicPartition
from aiokafka.admin.records_to_delete import RecordsToDelete

from runtime.kafka.client import admin_client
from runtime.settings import KafkaSettings


async def delete_before(bounds: Mapping[TopicPartition, int], kafka: KafkaSettings) -> None:
    """Permanently deletes the records before an offset of each partition; idempotent.

    Args:
        bounds: The new first offset of each partition.
        kafka: Kafka's settings.

    Raises:
        KafkaUnavailableError: If no broker answers, or the broker refuses.
    """
    if bounds:
        async with admin_client(kafka) as admin:
            await admin.delete_records({partition: RecordsToDelete(bound) for partition, bound in bounds.items()})
