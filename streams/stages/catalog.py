"""Stages, in the order of the pipeline; the last one feeds an earlier one."""

from dataclasses import dataclass
from typing import Final

from memory.topics import CONTRIBUTIONS, EXTRACTIONS, MEMORIES, MERGES, MESSAGES, RECALLS, WINDOWS, TopicSpec
from runtime.kafka.groups import stage_group
from streams.engine.state.partition_state import changelog_topic
from streams.errors import StreamError


@dataclass(frozen=True, slots=True)
class StageSpec:
    """One stage: a Faust app with its own consumer group."""

    name: str
    source: TopicSpec
    """The topic it reads."""
    has_table: bool
    """Whether it keeps state by key."""
    knows_tenants: bool = True
    """Whether its results depend on the known tenants and their schemas."""

    def group(self, prefix: str, suffix: str = "") -> str:
        """Its consumer group. A suffix names the group of a second set of workers, next to the live ones."""
        return stage_group(prefix, self.name, suffix=suffix)

    def changelog(self, prefix: str) -> str:
        """The changelog of its table, if it has one."""
        return changelog_topic(self.group(prefix))


STAGES: Final[dict[str, StageSpec]] = {
    spec.name: spec
    for spec in (
        StageSpec("sessions", MESSAGES, has_table=True),
        StageSpec("extraction", WINDOWS, has_table=True),
        StageSpec("events", EXTRACTIONS, has_table=True),
        StageSpec("entities", CONTRIBUTIONS, has_table=True),
        StageSpec("merging", MERGES, has_table=True),
        StageSpec("index", MEMORIES, has_table=False, knows_tenants=False),
        StageSpec("recalls", RECALLS, has_table=True),
    )
}


def stage_named(name: str) -> StageSpec:
    """The stage with a name.

    Args:
        name: The name.

    Raises:
        StreamError: There is none.
    """
    if name not in STAGES:
        raise StreamError(f"there is no stage {name!r}; the stages are {', '.join(STAGES)}")
    return STAGES[name]
