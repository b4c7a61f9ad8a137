"""Journal of a growth: the newest record of a small topic of the new set. It shows what a repeated command has to do."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final, Literal

import orjson
from pydantic import Field

from memory.records import Value
from runtime.errors import TopicMissingError
from runtime.kafka import OutgoingRecord, Producer, read_topic
from runtime.kafka.topics import create_topic, topic_partitions
from runtime.settings import Settings
from streams.operations.growth.layout import Layout

NAME: Final = "growth"

Step = Literal["copying", "ready", "deleting", "undoing"]


class GroupState(Value):
    """The offset of a consumer group in a partition."""

    partition: int
    offset: int
    metadata: str = ""


class Growth(Value):
    """State of a growth."""

    step: Step
    old_prefix: str
    old_partitions: int
    new_prefix: str
    new_partitions: int
    groups: dict[str, list[GroupState]] = Field(default_factory=dict)
    """The offsets of each stage before the growth, for an undo."""
    starts: dict[str, list[int]] = Field(default_factory=dict)
    """The offset at which each stage begins in the new topics, by partition."""
    ends: dict[str, list[int]] = Field(default_factory=dict)
    """By topic: the offset in each present partition up to which records were copied."""

    @property
    def old(self) -> Layout:
        """The set of topics before the growth."""
        return Layout(self.old_prefix, self.old_partitions)

    @property
    def new(self) -> Layout:
        """The set of topics after the growth."""
        return Layout(self.new_prefix, self.new_partitions)


def journal_topic(layout: Layout) -> str:
    """The name of the journal of the growth to a set of topics."""
    return f"{layout.prefix}{NAME}"


def growth_prefixes(topics: Iterable[str]) -> list[str]:
    """The prefixes of new sets of topics, according to the journals among the broker's topics."""
    return [name.removesuffix(NAME) for name in topics if name.endswith(f".{NAME}")]


async def read_journal(settings: Settings, layout: Layout, *, topics: dict[str, int]) -> Growth | None:
    """The growth to a set of topics; None: there is none, or it is finished.

    Args:
        settings: The settings, with Kafka's address.
        layout: The new set.
        topics: All topics on the broker.
    """
    name = journal_topic(layout)
    if name not in topics:
        return None
    newest: bytes | None = None
    # Of all installations on the broker, any may end its growth after the topics were listed.
    with suppress(TopicMissingError):
        async for record in read_topic(name, settings.kafka):
            newest = record.value
    return None if newest is None else Growth.model_validate(orjson.loads(newest))


async def unfinished_growth(settings: Settings) -> Growth | None:
    """The growth from or to the settings' set of topics whose earlier topics are still there; None: there is none.

    Raises:
        KafkaUnavailableError: No broker responds.
    """
    topics, present = await topic_partitions(settings.kafka), Layout.of(settings)
    for prefix in growth_prefixes(topics):
        growth = await read_journal(settings, Layout(prefix, 0), topics=topics)
        if growth is not None and present in (growth.old, growth.new):
            return growth
    return None


async def write_journal(settings: Settings, growth: Growth) -> None:
    """Appends the growth's state."""
    name = journal_topic(growth.new)
    config: dict[str, Any] = {
        "cleanup.policy": "delete",
        "retention.ms": "-1",
        "min.insync.replicas": str(settings.kafka.min_insync_replicas),
    }
    one = settings.kafka.model_copy(update={"partitions": 1})
    await create_topic(name, config=config, kafka=one)
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([OutgoingRecord(name, b"growth", orjson.dumps(growth.model_dump(mode="json")), partition=0)])
