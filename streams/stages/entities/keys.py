"""Keys of an entity's rows and outcomes."""

from memory.keys import encode_key
from memory.records import Contribution


def row_key(contribution: Contribution) -> bytes:
    """The key of the row of a contribution's entity."""
    return encode_key(*_parts_of(contribution))


def outcome_key(contribution: Contribution, property_name: str, part: str) -> bytes:
    """The key of the newest outcome of a part of a property in the topic ``merged``; an empty part: the property has only one."""
    return encode_key(*_parts_of(contribution), property_name, part or "-")


def _parts_of(contribution: Contribution) -> tuple[str, str, str, str]:
    return contribution.tenant, contribution.entity_type, contribution.entity_key, contribution.generation or "-"
