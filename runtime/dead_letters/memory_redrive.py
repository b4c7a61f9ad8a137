"""Drives changes of memories again, each only while it is the newest of its key in the feed, which is compacted to the newest.

An older value must not become the memory again.
"""

from collections.abc import Collection
from typing import NamedTuple

from runtime.dead_letters.records import Letter
from runtime.kafka import OutgoingRecord, Producer, TopicPartition, read_topic
from runtime.settings import KafkaSettings


class _Newest(NamedTuple):
    offset: int
    value: bytes | None


class MemoryRedrive:
    """One round of it. It reads the feed once: what was written since, it reads on to wherever it has sent something.

    Args:
        topic: The feed's name on the broker.
        kafka: Where the brokers are.
    """

    def __init__(self, *, topic: str, kafka: KafkaSettings) -> None:
        self._topic = topic
        self._kafka = kafka
        self._keys: set[bytes] = set()
        self._newest: dict[bytes, _Newest] = {}
        self._read_to: dict[int, int] = {}
        """Of each partition, the offset up to which it is read."""

    async def look_up(self, keys: Collection[bytes | None]) -> None:
        """Reads the newest record of each key in the feed."""
        if keys:
            self._keys.update(key or b"" for key in keys)
            async for record in read_topic(self._topic, self._kafka):
                self._note(record.key, record.partition, _Newest(record.offset, record.value))

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
        if key not in self._keys:
            await self.look_up({key})
        found = self._newest.get(key)
        if found is None or found.offset != letter.metadata.offset:
            return False
        after, later = found.offset, list[_Newest]()
        while True:
            position = (await producer.send_many([record]))[0]
            later += await self._read_on(key, _Newest(position.offset, record.value), position.partition)
            between = [each for each in later if after < each.offset < position.offset]
            if not between:
                return True
            after = position.offset
            record = OutgoingRecord(topic=self._topic, key=key, value=between[-1].value, partition=position.partition)

    async def _read_on(self, key: bytes, sent: _Newest, partition: int) -> list[_Newest]:
        """Reads a partition on to its end, but not where nothing lies before what was just sent; gives the records of the key there."""
        begin = self._read_to.get(partition, 0)
        if begin >= sent.offset:
            self._note(key, partition, sent)
            return []
        records: list[_Newest] = []
        async for record in read_topic(self._topic, self._kafka, start={TopicPartition(self._topic, partition): begin}):
            self._note(record.key, partition, _Newest(record.offset, record.value))
            if record.key == key:
                records.append(_Newest(record.offset, record.value))
        return records

    def _note(self, key: bytes | None, partition: int, record: _Newest) -> None:
        """Takes note of a record of the feed, none of which lies between it and those before."""
        if (key or b"") in self._keys:
            self._newest[key or b""] = record
        self._read_to[partition] = record.offset + 1
