"""Sets of topics with different numbers of partitions. Pure.

A set of topics is named by the prefix of its topics and groups. Growth makes a second set; ``control`` and ``audit``, which have one
partition, belong to all sets.
"""

import math
import re
from dataclasses import dataclass
from typing import Final

from memory.topics import ALL, CONTRIBUTIONS, DEAD_LETTERS, EXTRACTIONS, MEMORIES, MERGES, MESSAGES, RECALLS, WINDOWS, TopicSpec
from runtime.settings import KafkaSettings, Settings
from streams.errors import GrowthRefusedError
from streams.stages.catalog import STAGES

GROWN: Final = tuple(spec for spec in ALL if spec.partitions is None)
"""The topics of which a set has its own."""
READ_BY_STAGES: Final = (MESSAGES, WINDOWS, EXTRACTIONS, CONTRIBUTIONS, MERGES, MEMORIES, RECALLS)
"""Topics whose offsets are compared with earlier ones: new records must have higher offsets than all copied ones had."""
KEPT_IN_PLACE: Final = DEAD_LETTERS
"""The topic whose records refer to offsets of their own partition: they keep the partition."""

_DIGITS: Final = re.compile(r"\d*\.$")
_PREFIX: Final = re.compile(r"[A-Za-z0-9._-]{1,100}")


@dataclass(frozen=True, slots=True)
class Layout:
    """A set of topics."""

    prefix: str
    partitions: int

    @classmethod
    def of(cls, settings: Settings) -> "Layout":
        """The set of topics in the settings."""
        return cls(settings.kafka.topic_prefix, settings.kafka.partitions)

    def settings(self, settings: Settings) -> Settings:
        """The settings for this set of topics, otherwise the same."""
        kafka = settings.kafka
        update = {"topic_prefix": self.prefix, "partitions": self.partitions, "control_prefix": control_prefix(kafka)}
        return settings.model_copy(update={"kafka": kafka.model_copy(update=update)})


def control_prefix(kafka: KafkaSettings) -> str:
    """The prefix of ``control`` and ``audit``, which all sets share."""
    return kafka.topic_prefix if kafka.control_prefix is None else kafka.control_prefix


def default_prefix(prefix: str, partitions: int) -> str:
    """The prefix of the new set: the present one with the number of partitions, ``varve24.``."""
    return f"{_DIGITS.sub('', prefix)}{partitions}."


def new_layout(present: Layout, partitions: int, prefix: str | None) -> Layout:
    """The set of topics to grow to.

    Raises:
        GrowthRefusedError: If it has not more partitions, or no other name.
    """
    if partitions <= present.partitions:
        raise GrowthRefusedError(
            f"the topics have {present.partitions} partitions, and {partitions} are not more: the number of partitions can only grow"
        )
    name = default_prefix(present.prefix, partitions) if prefix is None else prefix
    if name == present.prefix or not _PREFIX.fullmatch(name):
        raise GrowthRefusedError(f"{name!r} cannot name the new topics: give --prefix another prefix, of letters, digits, '.', '_' and '-'")
    return Layout(name, partitions)


def target_partitions(partition: int, *, old: int, new: int) -> tuple[int, ...]:
    """The new partitions that can receive keys of an old partition."""
    step = math.gcd(old, new)
    return tuple(range(partition % step, new, step))


def source_partitions(partition: int, *, old: int, new: int) -> tuple[int, ...]:
    """The old partitions that can have keys of a new partition."""
    step = math.gcd(old, new)
    return tuple(range(partition % step, old, step))


def topic_in(spec: TopicSpec, layout: Layout) -> str:
    """The name of a topic of a set."""
    return f"{layout.prefix}{spec.name}"


def topics_of(layout: Layout) -> list[str]:
    """The names of a set's topics, with the changelogs of its stages."""
    return [*(topic_in(spec, layout) for spec in GROWN), *(stage.changelog(layout.prefix) for stage in STAGES.values())]
