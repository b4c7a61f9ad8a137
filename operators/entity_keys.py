"""How the parts of an entity's key are spelled."""

from collections.abc import Callable, Sequence

from memory.keys import key_part
from memory.schema.model import BUILT_IN_KEYS, EntityType

KeyPart = Callable[[object], str | None]
"""Makes a part of a key of a value: :func:`memory.keys.key_part`."""


def spelled_alike(parts: Sequence[str], entity_type: EntityType, *, part_of: KeyPart = key_part) -> tuple[str, ...]:
    """The parts of a key as events' values give them. What the application calls users and sessions stays as it is.

    Args:
        parts: Of the key, as somebody has written them.
        entity_type: The entity's type.
        part_of: What makes a part of a value.
    """
    if len(parts) != len(entity_type.keys):
        return tuple(parts)
    return tuple(part if key in BUILT_IN_KEYS else part_of(part) or part for key, part in zip(entity_type.keys, parts, strict=True))
