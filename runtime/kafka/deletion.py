"""Deletes the beginnings of logs."""

from collections.abc import Mapping

from aiokafka import TopicPartition
from aiokafka.admin.records_to_delete import RecordsToDelete

from runtime.kafka.client import admin_client
from runtime.settings import KafkaSettings


async def delete_before(bounds: Mapping[TopicPartition, int], kafka: KafkaSettings) -> None:
    """Deletes what lies before an offset of each partition, for good; harmless when repeated.

    Args:
        bounds: The offset that each partition begins at afterwards.
        kafka: Where they are.

    Raises:
        KafkaUnavailableError: If no broker answers, or it refuses.
    """
    if bounds:
        async with admin_client(kafka) as admin:
            await admin.delete_records({partition: RecordsToDelete(bound) for partition, bound in bounds.items()})
