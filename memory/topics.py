"""The topics between the stages: names, keys and retention (docs/internals/architecture.md, contracts)."""

from dataclasses import dataclass, field
from typing import Final, Literal

DAY_MS: Final = 24 * 60 * 60 * 1000

Cleanup = Literal["delete", "compact"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSpec:
    """Specification of a topic, which has to exist before any stage starts."""

    name: str
    """The name without the prefix."""
    key: tuple[str, ...]
    """Names of the parts of its keys, in order."""
    mark: str = ""
    """Name of the keys' mark (:func:`memory.keys.marked_key`), which makes each record erasable by a tombstone; empty: no mark."""
    cleanup: Cleanup = "delete"
    partitions: int | None = None
    """Number of partitions. Default: the number in the settings, equal for all such topics."""
    retention_ms: int = -1
    """Retention in milliseconds; -1: unlimited."""
    config: dict[str, str] = field(default_factory=dict)
    """Further settings of the topic in Kafka."""


# Limit for the time until a tombstone's record is deleted from disk. Kafka compacts only closed segments, and closes them by time.
COMPACTION_LAG_MS: Final = 7 * DAY_MS
_ERASABLE: Final = {"max.compaction.lag.ms": str(COMPACTION_LAG_MS), "segment.ms": str(DAY_MS)}
_SOON: Final = {"segment.ms": str(DAY_MS)}
"""Retention also deletes only closed segments."""

# Messages contain their event time, so the record's time can be the broker's append time, which producers cannot falsify.
MESSAGES: Final = TopicSpec(name="messages", key=("tenant", "session"), config={"message.timestamp.type": "LogAppendTime"})
# All records of these two topics have unique keys: compaction deletes only records with a tombstone (docs/internals/adr/0050).
WINDOWS: Final = TopicSpec(name="windows", key=("tenant", "user"), mark="window", cleanup="compact", config=_ERASABLE)
EXTRACTIONS: Final = TopicSpec(name="extractions", key=("tenant", "user"), mark="record", cleanup="compact", config=_ERASABLE)
CONTRIBUTIONS: Final = TopicSpec(name="contributions", key=("tenant", "entity_type", "entity_key"), retention_ms=7 * DAY_MS, config=_SOON)
MERGES: Final = TopicSpec(name="merges", key=("tenant", "entity_type", "entity_key"), retention_ms=7 * DAY_MS, config=_SOON)
# The newest record of each key suffices: a rebuild uses it instead of repeating paid LLM calls.
MERGED: Final = TopicSpec(
    name="merged",
    key=("tenant", "entity_type", "entity_key", "generation", "property", "part"),
    cleanup="compact",
    config=_ERASABLE,
)
MEMORIES: Final = TopicSpec(name="memories", key=("tenant", "memory"), cleanup="compact", config=_ERASABLE)
RECALLS: Final = TopicSpec(name="recalls", key=("tenant", "user"), retention_ms=7 * DAY_MS, config=_SOON)
# Sampled reads of memories, by the user whose memories were read: erasures and retention write tombstones. The broker's own retention would
# know neither tenants nor legal holds.
READS: Final = TopicSpec(name="reads", key=("tenant", "user"), mark="read", cleanup="compact", config=_ERASABLE)
# One partition, so that offsets order all changes. Every process reads the whole topic, so superseded records are deleted soon.
CONTROL: Final = TopicSpec(
    name="control",
    key=("kind", "name"),
    cleanup="compact",
    partitions=1,
    config={"segment.ms": str(DAY_MS), "segment.bytes": "16777216", "min.cleanable.dirty.ratio": "0.2"},
)
# The newest record of each waiting delivery. The delivery is the key's mark, so that a webhook's deliveries share a partition.
# Segments are small, so that finished deliveries are soon removed.
WEBHOOK_DELIVERIES: Final = TopicSpec(
    name="webhook-deliveries",
    key=("tenant", "webhook#delivery"),
    cleanup="compact",
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
    READS,
    CONTROL,
    WEBHOOK_DELIVERIES,
    DEAD_LETTERS,
    AUDIT,
    USAGE,
)


def topic_name(spec: TopicSpec, prefix: str) -> str:
    """The name on the broker: the prefix (default: ``varve.``) and the topic's name."""
    return f"{prefix}{spec.name}"


def is_topic(spec: TopicSpec, name: str) -> bool:
    """Whether a name on the broker is that of a topic, under any prefix. No topic's name is the end of another one's."""
    return name.endswith(spec.name)


def topic_named(name: str, prefix: str) -> TopicSpec | None:
    """The topic with a name on the broker; None if it is not one of Varve's."""
    return next((spec for spec in ALL if topic_name(spec, prefix) == name), None)
