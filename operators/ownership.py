"""Ownership of entities."""

from memory.errors import KeyFormatError
from memory.keys import entity_key_parts
from memory.schema.model import EntityType


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
