"""What stands beside a group's offset of a partition whose records are parked: how many, and whose. Whoever reads the offset knows it."""

import heapq
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Self

import orjson

from runtime.kafka.offsets import KafkaOffsets

_TENANTS: Final = 5
_MAX_BYTES: Final = 2000
"""The broker takes 4,096 (`offset.metadata.max.bytes`), unless told otherwise."""


@dataclass(frozen=True, slots=True)
class ParkedNote:
    """How many records are parked."""

    count: int = 0
    tenants: Mapping[str, int] = field(default_factory=dict)
    """Of the tenants that have most; not all of them."""

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Self:
        """The note of so many parked records of each tenant."""
        return cls(sum(counts.values()), dict(heapq.nlargest(_TENANTS, counts.items(), key=lambda each: each[1])))

    @classmethod
    def read(cls, text: str | None) -> Self:
        """What a group's offset bears. Notes of another kind, and none, say that nothing is parked."""
        try:
            fields = orjson.loads(text or "")
        except orjson.JSONDecodeError:
            return cls()
        return cls(fields.get("parked", 0), fields.get("tenants", {})) if isinstance(fields, dict) else cls()

    @classmethod
    def sum(cls, notes: Iterable[Self]) -> Self:
        """The note of several partitions."""
        count, tenants = 0, dict[str, int]()
        for note in notes:
            count += note.count
            for tenant, parked in note.tenants.items():
                tenants[tenant] = tenants.get(tenant, 0) + parked
        return cls(count, dict(sorted(tenants.items(), key=lambda each: -each[1])))

    @property
    def text(self) -> str:
        """What goes beside the offset: empty where nothing is parked."""
        if not self.count:
            return ""
        text = orjson.dumps({"parked": self.count, "tenants": self.tenants})
        return (text if len(text) <= _MAX_BYTES else orjson.dumps({"parked": self.count, "tenants": {}})).decode()


async def read_parked(offsets: KafkaOffsets, group: str, topics: Collection[str]) -> ParkedNote:
    """What a group has parked of its topics.

    Args:
        offsets: Reads the group's offsets.
        group: The consumer group.
        topics: What it reads, by their names on the broker.

    Raises:
        KafkaUnavailableError: If no broker answers.
    """
    return ParkedNote.sum([ParkedNote.read(entry.metadata) for entry in (await offsets.commits(group, topics)).values()])
