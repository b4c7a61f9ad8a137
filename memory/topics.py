"""The topics that the stages meet in: names, what keys them, and how long Kafka keeps them (docs/internals/architecture.md, contracts)."""

from dataclasses import dataclass, field
from typing import Final, Literal

DAY_MS: Final = 24 * 60 * 60 * 1000

Cleanup = Literal["delete", "compact"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSpec:
    """One topic as it has to exist before any stage starts."""

    name: str
    """The name without the prefix."""
    key: tuple[str, ...]
    """What the parts of its keys are, in order."""
    mark: str = ""
    """What tells records of one key apart (:func:`memory.keys.marked_key`), so that each can be erased by a tombstone; empty: nothing."""
    cleanup: Cleanup = "delete"
    partitions: int | None = None
    """How many it has; None: as many as the settings say, and all such topics have alike."""
    retention_ms: int = -1
    """How long records are kept, in milliseconds; -1 keeps them for ever."""
    config: dict[str, str] = field(default_factory=dict)
    """Further topic configuration in Kafka's own words."""


# What a tombstone erases is gone from the disk by then. Kafka closes a segment by time only, and compacts closed segments alone.
COMPACTION_LAG_MS: Final = 7 * DAY_MS
_ERASABLE: Final = {"max.compaction.lag.ms": str(COMPACTION_LAG_MS), "segment.ms": str(DAY_MS)}
_SOON: Final = {"segment.ms": str(DAY_MS)}
"""Retention deletes closed segments alone, too."""

# Messages bear their own event time; the record's time is left to say when the broker took it, which no producer's clock can falsify.
MESSAGES: Final = TopicSpec(name="messages", key=("tenant", "session"), config={"message.timestamp.type": "LogAppendTime"})
# Every record of these two is kept, since no two bear the same key: compaction takes away what a tombstone names (docs/internals/adr/0050).
WINDOWS: Final = TopicSpec(name="windows", key=("tenant", "user"), mark="window", cleanup="compact", config=_ERASABLE)
EXTRACTIONS: Final = TopicSpec(name="extractions", key=("tenant", "user"), mark="record", cleanup="compact", config=_ERASABLE)
CONTRIBUTIONS: Final = TopicSpec(name="contributions", key=("tenant", "entity_type", "entity_key"), retention_ms=7 * DAY_MS, config=_SOON)
MERGES: Final = TopicSpec(name="merges", key=("tenant", "entity_type", "entity_key"), retention_ms=7 * DAY_MS, config=_SOON)
# The newest of each key says all: what a rebuild takes in place of the calls that were paid for.
MERGED: Final = TopicSpec(
    name="merged",
    key=("tenant", "entity_type", "entity_key", "generation", "property", "part"),
    cleanup="compact",
    config=_ERASABLE,
)
MEMORIES: Final = TopicSpec(name="memories", key=("tenant", "memory"), cleanup="compact", config=_ERASABLE)
RECALLS: Final = TopicSpec(name="recalls", key=("tenant", "user"), retention_ms=7 * DAY_MS, config=_SOON)
# One partition: the offset of a change is its place among all changes. Every process reads it whole, so what is superseded goes soon.
CONTROL: Final = TopicSpec(
    name="control",
    key=("kind", "name"),
    cleanup="compact",
    partitions=1,
    config={"segment.ms": str(DAY_MS), "segment.bytes": "16777216", "min.cleanable.dirty.ratio": "0.2"},
)
DEAD_LETTERS: Final = TopicSpec(name="dead-letters", key=("source key",), retention_ms=28 * DAY_MS, config=_SOON)
AUDIT: Final = TopicSpec(name="audit", key=("kind", "name"), partitions=1)
USAGE: Final = TopicSpec(name="usage", key=("tenant",))

ALL: Final = (
    MESSAGES,
    WINDOWS,
    EXTRACTIONS,
    CONTRIBUTIONS,
    MERGES,
    MERGED,
    MEMORIES,
    RECALLS,
    CONTROL,
    DEAD_LETTERS,
    AUDIT,
    USAGE,
)


def topic_name(spec: TopicSpec, prefix: str) -> str:
    """The name on the broker: the prefix (``varve.`` unless told) and the topic's own name."""
    return f"{prefix}{spec.name}"


def topic_named(name: str, prefix: str) -> TopicSpec | None:
    """The topic of a name on the broker; None where it is none of these.

    Args:
        name: The name, with the prefix.
        prefix: As :func:`topic_name` takes it.
    """
    return next((spec for spec in ALL if topic_name(spec, prefix) == name), None)
