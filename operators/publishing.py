"""Operators that publish memories of their own (the summaries of a timeline, the nodes of a tree), or links of the entity's memory."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

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


class PublishingOperator(Operator):
    """An operator whose state contains memories of its own."""

    @abstractmethod
    def memories(self, state: State, owner: Owner) -> Iterator[Memory]:
        """The memories of a state. Equal states give equal memories, and an id never changes its meaning.

        Args:
            state: The state; not modified.
            owner: The property that the state belongs to.
        """


class LinkedOperator(Operator):
    """An operator that links the memory of its entity to other memories."""

    @abstractmethod
    def links(self, state: State, owner: Owner) -> tuple[Link, ...]:
        """The links of the entity's memory, strongest first. Equal states give equal links.

        Args:
            state: The state; not modified.
            owner: The property that the state belongs to.
        """
