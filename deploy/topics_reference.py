"""``docs/reference/topics.md``: the topics between the stages, from their own definitions."""

from collections.abc import Mapping
from typing import Final

from memory.topics import ALL, DAY_MS, TopicSpec, topic_name
from memory.wire_schema import RECORDS
from runtime.kafka.topics import broker_config
from runtime.settings import KafkaSettings
from streams.stages.catalog import STAGES

_HEAD: Final = """# Topics

Generated from `memory/topics.py`, `memory/wire_schema.py`, `streams/stages/catalog.py` and `runtime/kafka/topics.py` by
`make generated`. `varve topics create` creates missing topics. On the broker, each name has the prefix
`VARVE_KAFKA__TOPIC_PREFIX` (`{prefix}`). Each topic has `VARVE_KAFKA__PARTITIONS` partitions unless the table says
otherwise, and `VARVE_KAFKA__REPLICATION_FACTOR` replicas. The parts of a key are percent-encoded and joined by `/`. A mark
after a `#` distinguishes records of one key for compaction; it does not influence the partition.

Fields of the records: [records.schema.json](records.schema.json). The topics as AsyncAPI: [asyncapi.json](asyncapi.json). Who writes what,
and why: [architecture](../internals/architecture.md), [delivery](../internals/delivery.md).

| topic | key | records | read by | kept | partitions |
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

A stage with state also writes it to a compacted topic with as many partitions as its source.

| stage | changelog |
|---|---|
"""

_ELSEWHERE: Final[Mapping[str, str]] = {
    "control": "documents: tenants, keys, schemas, generations, erasures",
    "audit": "who changed what in `control`, with the state before and after",
    "dead-letters": "records that a stage could not process, unchanged: see [errors](errors.md#dead-letter-reasons)",
}
"""Contents of the topics whose records are not part of the wire format."""


def topics_markdown() -> str:
    """All topics: contents, readers, and how the broker keeps them."""
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
