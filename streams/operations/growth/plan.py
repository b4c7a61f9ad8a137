"""Estimate of a growth, from offsets and a sample of each topic. Changes nothing."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aiokafka import TopicPartition

from runtime.kafka import KafkaOffsets
from runtime.kafka.bulk import read_range
from runtime.kafka.topics import topic_partitions
from runtime.settings import Settings
from streams.operations.growth.layout import GROWN, READ_BY_STAGES, Layout, topic_in
from streams.operations.growth.rows import TABLES
from streams.stages.catalog import STAGES

_SAMPLE: Final = 300
"""Records read from the end of each partition."""
_PASSES: Final = 5.0
"""Time of a copied record in readings: it is read, written, hashed, read again and compared; in compacted topics it is read once more."""
_PADDING_US: Final = 4.0
"""Time of a record without content: a rough value."""
_FIXED_S: Final = 30.0
"""Time to stop and fence the stages, and to create the topics."""
_READING_US: Final = 15.0
"""Least time of a reading, since a small sample comes from memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Estimate of one topic or changelog."""

    name: str
    records: int
    """At most: compaction and transactions leave offsets without records."""
    size: int
    """Bytes of keys, values and headers."""
    padding: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthPlan:
    """Estimate of a growth."""

    old: Layout
    new: Layout
    parts: tuple[Part, ...]
    reading_us: float
    """Measured time to read one record, in microseconds."""

    @property
    def records(self) -> int:
        """Records to copy, at most."""
        return sum(each.records for each in self.parts)

    @property
    def size(self) -> int:
        """Bytes to copy, for one replica."""
        return sum(each.size for each in self.parts)

    @property
    def padding(self) -> int:
        """Records without content."""
        return sum(each.padding for each in self.parts)

    @property
    def pause_s(self) -> float:
        """Time during which the stages are stopped."""
        return _FIXED_S + (self.records * self.reading_us * _PASSES + self.padding * _PADDING_US) / 1e6


async def plan_growth(settings: Settings, old: Layout, new: Layout) -> GrowthPlan:
    """Estimates a growth.

    Args:
        settings: The settings of the present set.
        old: The present set.
        new: The new set.

    Raises:
        KafkaUnavailableError: No broker responds.
        TopicMissingError: A topic is missing.
    """
    parts, sampled, elapsed_s = [], 0, 0.0
    there = await topic_partitions(settings.kafka)
    names = {topic_in(spec, old): spec in READ_BY_STAGES for spec in GROWN}
    names |= {name: False for stage in TABLES if (name := STAGES[stage].changelog(old.prefix)) in there}
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        for name, is_padded in names.items():
            begins, ends = await offsets.beginning_offsets([name]), await offsets.end_offsets([name])
            records = sum(end - begins[place] for place, end in ends.items())
            started = time.monotonic()
            found, size = await _sample(settings, begins, ends)
            elapsed_s, sampled = elapsed_s + time.monotonic() - started, sampled + found
            padding = max(0, max(ends.values(), default=0) * new.partitions - records) if is_padded else 0
            parts.append(Part(name=name, records=records, size=round(size / found * records) if found else 0, padding=padding))
    reading_us = max(_READING_US, elapsed_s / sampled * 1e6 / 50 if sampled else 0.0)
    return GrowthPlan(old=old, new=new, parts=tuple(parts), reading_us=reading_us)


async def _sample(settings: Settings, begins: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]) -> tuple[int, int]:
    count, size = 0, 0
    for place, end in ends.items():
        async for records in read_range(place, settings.kafka, begin=max(begins[place], end - _SAMPLE), end=end):
            for record in records:
                count += 1
                size += (
                    len(record.key or b"") + len(record.value or b"") + sum(len(name) + len(value or b"") for name, value in record.headers)
                )
    return count, size
