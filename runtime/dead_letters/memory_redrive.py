"""Redrives changes of memories, each only while it is the newest record of its key in the feed.

The feed is compacted: an older value must not replace a newer one.
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
    """Redrives a number of letters. It reads the feed once, and after each sent record the rest of that partition."""

    def __init__(self, *, topic: str, kafka: KafkaSettings) -> None:
        self._topic = topic
        self._kafka = kafka
        self._keys: set[bytes] = set()
        self._newest: dict[bytes, _Newest] = {}
        self._read_to: dict[int, int] = {}
        """End offset that was read, by partition."""

    async def look_up(self, keys: Collection[bytes | None]) -> None:
        """Reads the newest record of each key in the feed."""
        if keys:
            self._keys.update(key or b"" for key in keys)
            async for record in read_topic(self._topic, self._kafka):
                self._note(record.key, record.partition, _Newest(record.offset, record.value))

    async def redrive(self, record: OutgoingRecord, letter: Letter, producer: Producer) -> bool:
        """Redrives a change of a memory unless a newer one exists. A change that was written meanwhile is sent again after it.

        Returns:
            Whether it was sent.
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
        """Reads the rest of a partition, unless nothing precedes the sent record; returns the records of the key."""
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
        """Stores the newest record of a key. Records have to be passed in the order of their partition, without gaps."""
        if (key or b"") in self._keys:
            self._newest[key or b""] = record
        self._read_to[partition] = record.offset + 1
