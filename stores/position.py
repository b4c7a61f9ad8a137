"""Position of a point's record in the change feed. It prevents an older write from replacing a newer one.

A replaced worker may still have a write in flight, and no store can fence that worker. So each point has the position of its record, and a
write never replaces a point with a newer position. Writes then commute: in any order, the newest position of each id remains. A deletion
leaves a tombstone, which has only the position.

Offsets order the records of one partition of one topic, and all records of a memory are in one partition. Two positions cannot be compared
if the partitions differ, or if the topic was recreated and counts from 0 again. Then the later write wins, as without positions: points of
a deleted topic must not block the feed of the new one. The records' times reveal a recreated topic: a record of a lower offset cannot be
much younger than one of a higher offset.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from stores.collection import FEED_MS, FEED_OFFSET, FEED_PARTITION

NEW_TOPIC_MS: Final = 60_000
"""A record that was produced this much later than one of a higher offset is from a recreated topic. The clocks of the producers' machines
must not differ by more."""
_CHECKPOINTS: Final = uuid.UUID("9a0e2a52-6f0c-4a53-9d5c-2f6f0f5f7c11")


def checkpoint_id(partition: int) -> str:
    """The id of a partition's checkpoint: a point with a position, without tenant and vectors."""
    return str(uuid.uuid5(_CHECKPOINTS, str(partition)))


@dataclass(frozen=True, slots=True)
class FeedPosition:
    """The place of a record in the change feed."""

    partition: int
    offset: int
    produced_ms: int | None = None
    """Time when the record was produced, in milliseconds since the epoch. None: unknown; only the offsets are compared."""

    def payload(self) -> dict[str, int]:
        """The fields of a point's payload that hold the position."""
        fields = {FEED_PARTITION: self.partition, FEED_OFFSET: self.offset, FEED_MS: self.produced_ms}
        return {name: value for name, value in fields.items() if value is not None}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any] | None) -> Self | None:
        """The position in a point's payload; None if it has none."""
        if payload is None or FEED_OFFSET not in payload:
            return None
        return cls(payload[FEED_PARTITION], payload[FEED_OFFSET], payload.get(FEED_MS))

    @property
    def checkpoint_id(self) -> str:
        """See :func:`checkpoint_id`."""
        return checkpoint_id(self.partition)

    def is_older_than(self, stored: "FeedPosition | None") -> bool:
        """Whether a write of this position must not replace a point of the stored position. A point without a position is always older."""
        if stored is None or stored.partition != self.partition or stored.offset <= self.offset:
            return False
        return self.produced_ms is None or stored.produced_ms is None or self.produced_ms <= stored.produced_ms + NEW_TOPIC_MS
