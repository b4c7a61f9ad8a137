"""Operators that publish memories of their own: the summaries of a timeline, the nodes of a tree."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

from memory.records import Memory
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
