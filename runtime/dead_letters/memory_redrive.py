"""Drives changes of memories again, each only while it is the newest of its key in the feed, which is compacted to the newest.

An older value must not become the memory again.
"""

from collections.abc import Collection
from typing import NamedTuple

from memory.positions import LogPosition
from runtime.dead_letters.letters import Letter
from runtime.kafka import OutgoingRecord, Producer, TopicPartition, read_topic
from runtime.settings import KafkaSettings


class _Newest(NamedTuple):
    offset: int
    value: bytes | None


class MemoryRedrive:
    """One round of it; it knows what is newest in the feed, and what it has sent itself.

    Args:
        topic: The feed's name on the broker.
        kafka: Where the brokers are.
    """

    def __init__(self, *, topic: str, kafka: KafkaSettings) -> None:
        self._topic = topic
        self._kafka = kafka
        self._newest: dict[bytes, _Newest] = {}

    async def look_up(self, keys: Collection[bytes | None]) -> None:
        """Reads the newest record of each key in the feed."""
        if keys:
            async for record in read_topic(self._topic, self._kafka):
                if record.key in keys:
                    self._newest[record.key or b""] = _Newest(record.offset, record.value)

    async def redrive(self, record: OutgoingRecord, letter: Letter, producer: Producer) -> bool:
        """Redrives a change of a memory unless it has a newer one; one that comes in between is sent again behind it.

        Args:
            record: What to send.
            letter: The dead letter that it comes of.
            producer: Sends it.

        Returns:
            Whether it was sent: False where the memory has a newer value.
        """
        key = record.key or b""
        if key != letter.key:
            await self.look_up({key})
        found = self._newest.get(key)
        if found is None or found.offset != letter.metadata.offset:
            return False
        position = await producer.send_many([record])
        self._newest[key] = _Newest(position[0].offset, record.value)
        overtaken_at = letter.metadata.offset
        while (overtaken := await self._between(key, overtaken_at, position[0])) is not None:
            again = OutgoingRecord(topic=self._topic, key=key, value=overtaken.value, partition=position[0].partition)
            overtaken_at = position[0].offset
            position = await producer.send_many([again])
            self._newest[key] = _Newest(position[0].offset, overtaken.value)
        return True

    async def _between(self, key: bytes, after: int, before: LogPosition) -> _Newest | None:
        """The newest record of a key between two offsets of a partition."""
        found: _Newest | None = None
        start = {TopicPartition(self._topic, before.partition): after + 1}
        async for record in read_topic(self._topic, self._kafka, start=start):
            if record.key == key and after < record.offset < before.offset:
                found = _Newest(record.offset, record.value)
        return found
