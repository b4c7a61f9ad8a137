"""Relations between two things or people: the properties of an event that states one, and the nodes that it connects."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from pydantic import JsonValue

from memory.keys import key_part

SUBJECT: Final = "subject"
RELATION: Final = "relation"
OBJECT: Final = "object"
RELATION_PROPERTIES: Final = (SUBJECT, RELATION, OBJECT)
"""An event states a relation if it has a value for each of these."""
ENDS: Final = "ends"
"""Whether the message says that the relation holds no longer."""
SEVERAL: Final = "several"
"""Whether the subject can have the relation to several objects at a time, so that another object contradicts nothing."""

NODES: Final = "nodes"
"""Built-in key: the two nodes that a relation connects. An event that states a relation goes to the entities of both."""


def node_of(name: JsonValue) -> str | None:
    """The node of a subject or object as a part of a key: case and white space do not matter.

    Returns:
        None if the name is blank, too long, or no text.
    """
    return _node_of(name) if isinstance(name, str) else None


@lru_cache(maxsize=4096)
def _node_of(name: str) -> str | None:
    """Cached, since a graph computes the nodes of all its statements after each change."""
    return key_part(name.casefold())


def nodes_of(properties: Mapping[str, JsonValue]) -> list[str]:
    """The nodes that an event's relation connects, each once. Empty if the event states no whole relation."""
    nodes = [node_of(properties.get(SUBJECT)), node_of(properties.get(OBJECT))]
    found = [each for each in nodes if each is not None]
    return list(dict.fromkeys(found)) if len(found) == len(nodes) and node_of(properties.get(RELATION)) else []
