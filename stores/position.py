"""Where in the change feed a point comes from: what keeps an older write from replacing a newer one.

A worker that was replaced may still have a write under way, and no store can be told to refuse that worker. So each point bears the
position of the record that it comes of, and a write yields to a point of a newer position. Writes then commute: whatever their order, the
newest position of each id stands. A deletion leaves a tombstone, which bears the position alone.

Offsets say what is newer within one partition of one topic, and a memory's id always lies in one partition. Two positions cannot be
compared if the partitions differ, or if the topic was created anew and counts from 0 again. The later write then wins, as if there were no
positions: a feed that is read anew must not be blocked by what a former topic left in the store. A topic created anew shows by the
records' times: a record of a lower offset cannot be much younger than one of a higher offset.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from stores.collection import FEED_MS, FEED_OFFSET, FEED_PARTITION

NEW_TOPIC_MS: Final = 60_000
"""A record that was produced so much later than one of a higher offset lies in a topic that was created anew. The clocks of the machines
that produce the feed must not differ by more."""
_MARKS: Final = uuid.UUID("9a0e2a52-6f0c-4a53-9d5c-2f6f0f5f7c11")


def mark_id(partition: int) -> str:
    """The id of the point that says up to where a store holds a partition of the feed: it has a position, no tenant and no vectors."""
    return str(uuid.uuid5(_MARKS, str(partition)))


@dataclass(frozen=True, slots=True)
class FeedPosition:
    """The place of a record in the change feed."""

    partition: int
    offset: int
    produced_ms: int | None = None
    """When the record was produced, in milliseconds since the epoch. None: unknown, and the offsets alone decide."""

    def payload(self) -> dict[str, int]:
        """The fields of a point's payload that hold the position."""
        fields = {FEED_PARTITION: self.partition, FEED_OFFSET: self.offset, FEED_MS: self.produced_ms}
        return {name: value for name, value in fields.items() if value is not None}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any] | None) -> Self | None:
        """The position in a point's payload; None if the point was written before points had any."""
        if payload is None or FEED_OFFSET not in payload:
            return None
        return cls(payload[FEED_PARTITION], payload[FEED_OFFSET], payload.get(FEED_MS))

    @property
    def mark_id(self) -> str:
        """See :func:`mark_id`."""
        return mark_id(self.partition)

    def is_older_than(self, stored: "FeedPosition | None") -> bool:
        """Whether a write of this position must leave a point of the stored position as it is. A point without one is older than any."""
        if stored is None or stored.partition != self.partition or stored.offset <= self.offset:
            return False
        return self.produced_ms is None or stored.produced_ms is None or self.produced_ms <= stored.produced_ms + NEW_TOPIC_MS
