"""Operators that publish separate memories (the summaries of a timeline, the nodes of a tree), or links of the entity's memory."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from pydantic import JsonValue

from memory.ids import summary_id
from memory.keys import entity_key_parts
from memory.records import Link, Memory, WrittenText
from memory.schema.model import EntityType
from operators.operator import Operator, State

BY_EXTRACT: Final = "extract"
"""Author of a summary that no model wrote: it consists of the most important events' own words."""


class Owner(NamedTuple):
    """The property of an entity whose operator publishes memories."""

    property_name: str
    entity_type: EntityType
    tenant: str
    key: str
    """The entity's ``GROUP BY`` key, from :func:`memory.keys.entity_key`."""
    generation: str

    def summary_id(self, part: str) -> str:
        """The id of a memory of the property, by the name that the memory has among them."""
        return summary_id(self.tenant, self.entity_type.name, self.key, self.property_name, part, self.generation)

    def summary(
        self,
        part: str,
        *,
        content: str,
        properties: Mapping[str, JsonValue],
        importance: float,
        event_time: datetime,
        message_ids: Sequence[str],
        version: int,
        keywords: Sequence[str] = (),
        parent: str | None = None,
        depth: int | None = None,
        written: WrittenText | None = None,
    ) -> Memory:
        """A memory of kind ``summary`` that the property publishes.

        Args:
            part: Its name among the property's memories.
            content: Its text.
            properties: Its properties, in addition to the parts of the entity's key.
            importance: Its importance.
            event_time: Its event time.
            message_ids: Its evidence, best first.
            version: Grows with every change of it.
            keywords: Its keywords.
            parent: Id of its parent, in a tree.
            depth: Number of nodes above it, in a tree.
            written: How its text was made, if a model was asked for it and has not answered yet.
        """
        values = entity_key_parts(self.key)
        parts = dict(zip(self.entity_type.keys, values, strict=False))
        return Memory(
            id=self.summary_id(part),
            tenant=self.tenant,
            user=parts.get("user"),
            kind="summary",
            type=self.entity_type.name,
            content=content,
            properties={**dict(zip(self.entity_type.key_names, values, strict=False)), **properties},
            keywords=list(keywords),
            importance=importance,
            event_time=event_time,
            session=parts.get("session"),
            entity_key=self.key,
            message_ids=list(message_ids),
            generation=self.generation,
            version=version,
            written=None if written is None else {self.property_name: written},
            parent=parent,
            depth=depth,
        )


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
    """Form in which an operator shows the memory of its entity, which is about one event."""

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
        """Form of the entity's memory, if the operator decides it. None: as a sentence that names the known values."""
        return None
