"""The recalls of memories that fade (STRENGTH), as a memory that no recall finds, and the retention that follows from them."""

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Self

from pydantic import JsonValue

from memory.ids import summary_id

STRENGTH: Final = "strength_us"
"""Property: the strength of a memory that was never recalled, in microseconds."""
RECALLED: Final = "recalled"
"""Property: by memory, the number of its recalls, and the time of the last one in microseconds since 1970."""


class Recalls(NamedTuple):
    """Numbers and times of the recalls of memories."""

    strength: int
    """See :data:`STRENGTH`."""
    recalled: Mapping[str, tuple[int, int]]
    """See :data:`RECALLED`."""

    @classmethod
    def read(cls, properties: Mapping[str, Any]) -> Self:
        """Reads the properties that :func:`written_recalls` made."""
        return cls(properties[STRENGTH], {name: (count, last) for name, (count, last) in properties[RECALLED].items()})

    def retention(self, memory_id: str, *, made: int, now: int) -> float:
        """``R = exp(-t / S)`` (MemoryBank, section 2.3), in (0, 1].

        Args:
            memory_id: The memory.
            made: The time of its message, in microseconds since 1970.
            now: The time of the recall.
        """
        count, last = self.recalled.get(memory_id, (0, made))
        return math.exp(-max(0, now - last) / ((1 + count) * self.strength))


def written_recalls(strength: int, recalled: Mapping[str, tuple[int, int]]) -> dict[str, JsonValue]:
    """Recalls as properties of a memory."""
    return {STRENGTH: strength, RECALLED: {name: [count, last] for name, (count, last) in recalled.items()}}


def recalls_memory_id(tenant: str, entity_type: str, entity_key: str, property_name: str, generation: str) -> str:
    """The id of the memory with the recalls that a property of an entity counts.

    Args:
        tenant: The entity's tenant.
        entity_type: The entity type with the operator STRENGTH.
        entity_key: The entity's key, from :func:`memory.keys.entity_key`.
        property_name: The property with that operator.
        generation: The generation's name; empty for the first.
    """
    return summary_id(tenant, entity_type, entity_key, property_name, "recalls", generation)
