"""Operators that publish separate memories (the summaries of a timeline, the nodes of a tree), or links of the entity's memory."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from pydantic import JsonValue

from memory.records import Link, Memory
from memory.schema.model import EntityType
from operators.operator import Operator, State


class Owner(NamedTuple):
    """The property of an entity whose operator publishes memories."""

    property_name: str
    entity_type: EntityType
    tenant: str
    key: str
    """The entity's ``GROUP BY`` key, from :func:`memory.keys.entity_key`."""
    generation: str


def changed_keys(before: Mapping[str, object], after: Mapping[str, object]) -> set[str]:
    """The keys whose values differ or are only in one of both. Values that are the same object are not compared.

    Args:
        before: The values before a change.
        after: The values after it.
    """
    return {key for key in before.keys() | after.keys() if before.get(key) is not after.get(key) and before.get(key) != after.get(key)}


class PublishingOperator(Operator):
    """An operator whose state contains separate memories."""

    @abstractmethod
    def memories(self, state: State, owner: Owner) -> Iterator[Memory]:
        """The memories of a state. Equal states give equal memories, and an id never changes its meaning.

        Args:
            state: The state; not modified.
            owner: The property that the state belongs to.
        """

    def changes(self, before: State | None, after: State | None, owner: Owner) -> tuple[dict[str, Memory], set[str]]:
        """The memories that are new or differ after a change of the state, by id, and the ids of those that are no longer there.

        Args:
            before: The state before the change. None: there was none.
            after: The state after it. None: there is none.
            owner: The property that the states belong to.
        """
        known, wanted = ({} if state is None else {each.id: each for each in self.memories(state, owner)} for state in (before, after))
        return {name: each for name, each in wanted.items() if known.get(name) != each}, known.keys() - wanted.keys()


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """How an operator shows the memory of its entity, which is about one event."""

    content: str
    event_time: datetime
    date: str | None = None
    """The precision of ``event_time``, as in a memory. None: exact."""
    keywords: tuple[str, ...] = ()
    properties: Mapping[str, JsonValue] = field(default_factory=dict)
    """Properties in addition to those of the schema."""
    hidden_at: datetime | None = None
    """The time since when no recall finds it. None: recalls find it."""


class LinkedOperator(Operator):
    """An operator that links the memory of its entity to other memories."""

    @abstractmethod
    def links(self, state: State, owner: Owner) -> tuple[Link, ...]:
        """The links of the entity's memory, strongest first. Equal states give equal links.

        Args:
            state: The state; not modified.
            owner: The property that the state belongs to.
        """

    def note(self, state: State) -> Note | None:
        """How the entity's memory is shown, if the operator decides that. None: as a sentence that names the known values."""
        return None
