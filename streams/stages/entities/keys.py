"""The keys of an entity's rows and outcomes."""

from memory.keys import encode_key
from memory.records import Contribution


def row_key(contribution: Contribution) -> bytes:
    """The key of the row of a contribution's entity."""
    return encode_key(*_parts_of(contribution))


def outcome_key(contribution: Contribution, property_name: str, part: str) -> bytes:
    """The key under which ``merged`` keeps the newest outcome of a part of a property.

    Args:
        contribution: Of the entity.
        property_name: The property.
        part: The part; empty: it has one.
    """
    return encode_key(*_parts_of(contribution), property_name, part or "-")


def _parts_of(contribution: Contribution) -> tuple[str, str, str, str]:
    return contribution.tenant, contribution.entity_type, contribution.entity_key, contribution.generation or "-"
