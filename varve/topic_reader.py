"""Reads what a topic holds now, from its beginning to its end."""

from collections.abc import AsyncIterator
from typing import Final

from aiokafka import AIOKafkaConsumer, ConsumerRecord

from memory.topics import TopicSpec
from runtime.kafka import KafkaOffsets, client_options
from runtime.settings import Settings

POLL_MS: Final = 500


async def read_topic(spec: TopicSpec, settings: Settings) -> AsyncIterator[ConsumerRecord[bytes | None, bytes | None]]:
    """Every record of a topic up to the end that it has at the call, in order within a partition.

    Raises:
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If the topic does not exist.
    """
    name = settings.topic(spec.name)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        ends = {place: end for place, end in (await offsets.end_offsets([name])).items() if end > 0}
    if not ends:
        return
    async with AIOKafkaConsumer(**client_options(settings.kafka), enable_auto_commit=False, auto_offset_reset="earliest") as consumer:
        consumer.assign(list(ends))
        open_places = set(ends)
        await consumer.seek_to_beginning(*ends)
        while open_places:
            fetched = await consumer.getmany(*open_places, timeout_ms=POLL_MS)
            for place, records in fetched.items():
                for record in records:
                    if record.offset < ends[place]:
                        yield record
            open_places = {place for place in open_places if await consumer.position(place) < ends[place]}
