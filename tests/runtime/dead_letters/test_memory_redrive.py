"""Changes of memories are driven again while they are the newest, and the feed is read but once for all of them."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import pytest

from memory.positions import LogPosition
from runtime.dead_letters import box
from runtime.dead_letters.box import MemoryRedrive
from runtime.dead_letters.records import DeadLetter
from runtime.kafka import OutgoingRecord, Producer, TopicPartition
from runtime.settings import KafkaSettings


@dataclass
class FeedRecord:
    """A record of the feed."""

    partition: int
    offset: int
    key: bytes
    value: bytes


class Feed:
    """The feed with its writers and readers; both partitions count from 0."""

    def __init__(self) -> None:
        self.records: list[FeedRecord] = []
        self.opened = self.read = 0
        self.before_sending: Callable[[], object] = lambda: None

    def append(self, key: bytes, value: bytes, partition: int = 0) -> LogPosition:
        offset = sum(each.partition == partition for each in self.records)
        self.records.append(FeedRecord(partition, offset, key, value))
        return LogPosition("memories", partition, offset)

    async def read_topic(
        self, topic: str, kafka: KafkaSettings, *, start: Mapping[TopicPartition, int] | None = None
    ) -> AsyncIterator[FeedRecord]:
        self.opened += 1
        for record in list(self.records):
            begin = 0 if start is None else start.get(TopicPartition(topic, record.partition))
            if begin is not None and record.offset >= begin:
                self.read += 1
                yield record

    async def send_many(self, records: Sequence[OutgoingRecord]) -> list[LogPosition]:
        self.before_sending()
        return [self.append(each.key or b"", each.value or b"", each.partition or 0) for each in records]

    def values(self, key: bytes) -> list[bytes]:
        return [each.value for each in self.records if each.key == key]


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> Feed:
    feed = Feed()
    monkeypatch.setattr(box, "read_topic", feed.read_topic)
    return feed


async def _redriven(feed: Feed, redrive: MemoryRedrive, key: bytes, offset: int, value: bytes = b"1", partition: int = 0) -> bool:
    letter = cast(DeadLetter, SimpleNamespace(key=key, metadata=SimpleNamespace(offset=offset)))
    return await redrive.redrive(OutgoingRecord("memories", key, value, partition=partition), letter, cast(Producer, cast(Any, feed)))


async def _looked_up(feed: Feed, *keys: bytes) -> MemoryRedrive:
    redrive = MemoryRedrive(topic="memories", kafka=KafkaSettings())
    await redrive.look_up(keys)
    return redrive


async def test_the_feed_is_read_once_for_all_dead_letters(feed: Feed) -> None:
    keys = [b"%d" % number for number in range(50)]
    for key in keys:
        feed.append(key, b"1", partition=1)
        feed.append(key, b"1")
    for number in range(1000):
        feed.append(b"other %d" % number, b"1")
    redrive = await _looked_up(feed, *keys)
    for offset, key in enumerate(keys):
        assert await _redriven(feed, redrive, key, offset)
    assert (feed.opened, feed.read) == (1, 1100)
    feed.before_sending = lambda: feed.append(b"other", b"2")
    for offset, key in enumerate(keys, start=1050):
        assert await _redriven(feed, redrive, key, offset)
    assert feed.read == 1100 + 2 * 50, "what was written since, and what was sent"


async def test_concurrent_changes_are_sent_again_after_the_redrive(feed: Feed) -> None:
    feed.append(b"k", b"1")
    redrive = await _looked_up(feed, b"k")
    newer = [b"2", b"3"]

    def overtake() -> None:
        if newer:
            feed.append(b"other", b"1")
            feed.append(b"k", newer.pop(0))

    feed.before_sending = overtake
    assert await _redriven(feed, redrive, b"k", 0)
    assert feed.values(b"k") == [b"1", b"2", b"1", b"3", b"2", b"3"]
    assert not await _redriven(feed, redrive, b"k", 0), "what was sent last is newer"


async def test_a_newer_value_found_during_lookup_is_kept(feed: Feed) -> None:
    for key in (b"a", b"b"):
        feed.append(key, b"1")
    redrive = await _looked_up(feed, b"a", b"b")
    feed.append(b"b", b"2")
    assert await _redriven(feed, redrive, b"a", 0)
    assert not await _redriven(feed, redrive, b"b", 1)
    assert feed.values(b"b") == [b"1", b"2"]


async def test_a_key_of_another_dead_letter_is_looked_up(feed: Feed) -> None:
    feed.append(b"cut", b"1")
    redrive = await _looked_up(feed, b"other")
    assert await _redriven(feed, redrive, b"cut", 0)
    assert feed.values(b"cut") == [b"1", b"1"]
