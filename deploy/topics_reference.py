"""``docs/reference/topics.md``: the topics between the stages, from their own definitions."""

from collections.abc import Mapping
from typing import Final

from memory.topics import ALL, DAY_MS, TopicSpec, topic_name
from memory.wire_schema import RECORDS
from runtime.kafka.topics import broker_config
from runtime.settings import KafkaSettings
from streams.stages import STAGES

_HEAD: Final = """# Topics

Made from `memory/topics.py`, `memory/wire_schema.py`, `streams/stages.py` and `runtime/kafka/topics.py`: `make generated`.
`varve topics create` makes what is missing. On the broker each name has a prefix (`VARVE_KAFKA__TOPIC_PREFIX`, `{prefix}`); each topic has
`VARVE_KAFKA__PARTITIONS` partitions unless the table says otherwise, and `VARVE_KAFKA__REPLICATION_FACTOR` replicas. A key's parts are
percent-encoded and joined by a slash; a mark follows a `#`, tells records of one key apart for compaction, and places nothing.

The records' fields: [records.schema.json](records.schema.json); the topics as AsyncAPI: [asyncapi.json](asyncapi.json). Who writes what,
and why: [architecture.md](../architecture.md), [delivery.md](../delivery.md).

| topic | key | records | read by the stage | kept | partitions |
|---|---|---|---|---|---|
"""

_CONFIGURATION: Final = """
## Configuration

With default settings, as `varve topics create` gives it to the broker.

| topic | configuration |
|---|---|
"""

_CHANGELOGS: Final = """
## Changelogs

A stage with state keeps it in a topic of its own, too, compacted, with as many partitions as its source has.

| stage | changelog |
|---|---|
"""

_ELSEWHERE: Final[Mapping[str, str]] = {
    "control": "documents: see [the control log](../adr/0024-the-control-log.md)",
    "audit": "who changed `control`, and what was before",
    "dead-letters": "what a stage could not process, untouched: see [ADR 9](../adr/0009-dead-letters-untouched-metadata-in-headers.md)",
}
"""What lies in topics that have no records of the wire format."""


def topics_markdown() -> str:
    """All topics, with what lies in them, who reads it, and how the broker keeps it."""
    kafka = KafkaSettings()
    prefix = kafka.topic_prefix
    rows = [_row(topic) for topic in ALL]
    configured = [
        f"| `{topic_name(topic, prefix)}` | {', '.join(f'`{name}={value}`' for name, value in broker_config(topic, kafka).items())} |\n"
        for topic in ALL
    ]
    changelogs = [f"| `{name}` | `{stage.changelog(prefix)}` |\n" for name, stage in STAGES.items() if stage.has_table]
    return "".join([_HEAD.format(prefix=prefix), *rows, _CONFIGURATION, *configured, _CHANGELOGS, *changelogs])


def _row(topic: TopicSpec) -> str:
    readers = ", ".join(f"`{name}`" for name, stage in STAGES.items() if stage.source == topic)
    records = RECORDS.get(topic.name)
    holds = _ELSEWHERE[topic.name] if records is None else ", ".join(f"`{record.__name__}`" for record in records)
    key = ", ".join(topic.key) + (f"; marked by {topic.mark}" if topic.mark else "")
    return f"| `{topic.name}` | {key} | {holds} | {readers} | {_kept(topic)} | {topic.partitions or ''} |\n"


def _kept(topic: TopicSpec) -> str:
    if topic.mark:
        return "for ever, but for what is erased"
    if topic.cleanup == "compact":
        return "the newest of each key"
    return "for ever" if topic.retention_ms < 0 else f"{topic.retention_ms // DAY_MS} days"
