"""Ownership of entities."""

from memory.errors import KeyFormatError
from memory.keys import entity_key_parts
from memory.schema.model import EntityType


def belongs_to_user(entity_type: EntityType, entity_key: str, user: str | None) -> bool:
    """Whether an entity is one user's own: its key names the user, so nothing of another's reaches it.

    Args:
        entity_type: Its type.
        entity_key: Its ``GROUP BY`` key, as :func:`memory.keys.entity_key` builds it.
        user: Who; None: nobody.
    """
    try:
        parts = entity_key_parts(entity_key)
    except KeyFormatError:
        return False
    return user is not None and any(name == "user" and part == user for name, part in zip(entity_type.keys, parts, strict=False))
