"""Metadata of a committed offset: the number of the partition's parked records, by tenant."""

import heapq
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Self

import orjson

from runtime.kafka.offsets import KafkaOffsets

_TENANTS: Final = 5
_MAX_BYTES: Final = 2000
"""The broker's default limit is 4,096 (``offset.metadata.max.bytes``)."""


@dataclass(frozen=True, slots=True)
class ParkedNote:
    """Number of parked records."""

    count: int = 0
    tenants: Mapping[str, int] = field(default_factory=dict)
    """Number by tenant, only for the tenants with the most parked records."""

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Self:
        """The note for the numbers of parked records by tenant."""
        return cls(sum(counts.values()), dict(heapq.nlargest(_TENANTS, counts.items(), key=lambda each: each[1])))

    @classmethod
    def read(cls, text: str | None) -> Self:
        """Parses an offset's metadata. Missing or other metadata means that nothing is parked."""
        try:
            fields = orjson.loads(text or "")
        except orjson.JSONDecodeError:
            return cls()
        return cls(fields.get("parked", 0), fields.get("tenants", {})) if isinstance(fields, dict) else cls()

    @classmethod
    def sum(cls, notes: Iterable[Self]) -> Self:
        """The total of several partitions."""
        count, tenants = 0, dict[str, int]()
        for note in notes:
            count += note.count
            for tenant, parked in note.tenants.items():
                tenants[tenant] = tenants.get(tenant, 0) + parked
        return cls(count, dict(sorted(tenants.items(), key=lambda each: -each[1])))

    @property
    def text(self) -> str:
        """Text of the offset's metadata; empty if nothing is parked."""
        if not self.count:
            return ""
        text = orjson.dumps({"parked": self.count, "tenants": self.tenants})
        return (text if len(text) <= _MAX_BYTES else orjson.dumps({"parked": self.count, "tenants": {}})).decode()


async def read_parked(offsets: KafkaOffsets, group: str, topics: Collection[str]) -> ParkedNote:
    """The parked records of a group.

    Args:
        offsets: Reader of the group's offsets.
        group: The consumer group.
        topics: The topics of the group, by their names on the broker.

    Raises:
        KafkaUnavailableError: If no broker answers.
    """
    return ParkedNote.sum([ParkedNote.read(entry.metadata) for entry in (await offsets.commits(group, topics)).values()])
