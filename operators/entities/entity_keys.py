"""Keys of entities: the spelling of their parts, and the user whom they name."""

from collections.abc import Sequence

from memory.errors import KeyFormatError
from memory.keys import entity_key_parts, key_part
from memory.schema.coerce import coerce_value
from memory.schema.model import BUILT_IN_KEYS, NUMERIC_TYPES, EntityProperty, EntityType


def spelled_alike(parts: Sequence[str], entity_type: EntityType) -> tuple[str, ...]:
    """Normalizes the parts of a key to the form that events' values give, numbers included. User and session ids are not changed.

    Args:
        parts: The parts of the key as a caller wrote them.
        entity_type: The entity's type.
    """
    if len(parts) != len(entity_type.keys):
        return tuple(parts)
    return tuple(
        part if key in BUILT_IN_KEYS else key_part(_number_in(part, entity_type.property(name))) or part
        for key, name, part in zip(entity_type.keys, entity_type.key_names, parts, strict=True)
    )


def _number_in(part: str, each: EntityProperty | None) -> object:
    """The number in a part of a numeric key; any other part unchanged."""
    number = coerce_value(part, each.value_type) if each is not None and each.value_type in NUMERIC_TYPES else None
    return part if number is None else number


def belongs_to_user(entity_type: EntityType, entity_key: str, user: str | None) -> bool:
    """Whether an entity belongs to one user: its key names the user, so it has no data of other users.

    Args:
        entity_type: Its type.
        entity_key: Its ``GROUP BY`` key, as :func:`memory.keys.entity_key` builds it.
        user: The user; None: no user.
    """
    try:
        parts = entity_key_parts(entity_key)
    except KeyFormatError:
        return False
    return user is not None and any(name == "user" and part == user for name, part in zip(entity_type.keys, parts, strict=False))
