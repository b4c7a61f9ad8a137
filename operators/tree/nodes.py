"""The nodes of a tree as JSON carries them, and their vectors.

A leaf is one event, or one segment of several. An inner node represents all events below it. Its vector is the sum of theirs, in whole
numbers, so a retraction subtracts exactly what was added. The root is no node: the nodes at the top have :data:`ROOT` as their parent.

Cosines are computed from whole numbers too. Floats represent them exactly up to 2**53, so each machine computes the same cosines, and a
rebuild makes the same tree.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from memory.texts.text import shortened
from operators.errors import RefusedChangeError
from operators.operator import Operand

ROOT: Final = ""
"""The parent of the nodes at the top."""
NAMED: Final = 20
"""Most of its own events that a node names."""

_DECODED: Final = 4096
"""Number of decoded vectors that are kept, about 10 MB: an insertion reads the vectors of all siblings on its way."""

Whole = NDArray[np.float64]
"""A vector of whole numbers."""

_FORMS: Final = (("b", np.int8, 2**7 - 1), ("h", np.int16, 2**15 - 1), ("i", np.int32, 2**31 - 1))
"""The forms of a vector: its first letter, its numbers and their greatest value."""
_TYPES: Final = {letter: kind for letter, kind, _ in _FORMS}

_MAX_MESSAGES: Final = 8
"""Messages of an event that a node names."""


class NodeEvent(TypedDict):
    """One event of a node."""

    id: str
    time: int
    """In microseconds since 1970."""
    offset: int
    """The UTC offset of the time, in microseconds."""
    rank: int
    """Importance in thousandths."""
    text: str
    """Shortened. Empty: no longer kept."""
    messages: list[str]


class Node(TypedDict):
    """One node. Never changed in place."""

    parent: str
    """Its parent's key, or :data:`ROOT`."""
    inner: bool
    """Whether it can have children."""
    vector: str
    """The sum of the vectors of all its events, from :func:`written_vector`."""
    count: int
    """Number of all its events, those below it included."""
    place: int
    """The arrival number of the newest leaf in it. A leaf that arrives later has a greater one."""
    since: str
    """The log position at which the node was made, or an event last left it. A text from before that position may quote what left."""
    events: list[NodeEvent]
    """Its own events: of a leaf, all; of an inner node, the newest of the leaves that were merged into it."""
    unnamed: int
    """Number of its own events that are no longer in :attr:`events`."""


Nodes = Mapping[str, Node]
"""The nodes of a tree by key: the id of the event that made the node, and maybe a suffix."""


def vector_of(text: object) -> Whole:
    """The vector of an event, in whole numbers.

    Args:
        text: From :func:`memory.vectors.encode_vector`.

    Raises:
        RefusedChangeError: ``no_vector``.
    """
    try:
        raw = base64.b64decode(cast(str, text), validate=True)
    except (binascii.Error, TypeError, ValueError):
        raw = b""
    vector = np.frombuffer(raw, dtype=np.int8).astype(np.float64)
    if not vector.any():
        raise RefusedChangeError("no_vector")
    return vector


def written_vector(vector: Whole) -> str:
    """A vector as text, in the shortest form."""
    most = float(np.abs(vector).max())
    letter, kind, _ = next((each for each in _FORMS if most <= each[2]), _FORMS[-1])
    return letter + base64.b64encode(vector.astype(kind).tobytes()).decode("ascii")


def event_of(operand: Operand, *, longest: int) -> NodeEvent:
    """An operand's event.

    Args:
        operand: An event with its text, importance and evidence.
        longest: Most characters of its text.
    """
    fields = operand.fields
    return NodeEvent(
        id=operand.source_id,
        time=operand.time,
        offset=operand.offset,
        rank=round(fields["importance"] * 1000),
        text=shortened(fields["text"], longest),
        messages=list(fields["message_ids"][:_MAX_MESSAGES]),
    )


def operand_vector(operand: Operand) -> Whole:
    """The vector of an operand's event.

    Raises:
        RefusedChangeError: ``no_vector``.
    """
    return vector_of(operand.fields.get("vector"))


@lru_cache(maxsize=_DECODED)
def read_vector(text: str) -> NDArray[np.integer]:
    """Reads the result of :func:`written_vector`. The array is read-only: callers share it."""
    return np.frombuffer(binascii.a2b_base64(text[1:]), dtype=_TYPES[text[0]])


def cosines(vector: Whole, nodes: Sequence[Node]) -> Whole:
    """The cosines of a vector with nodes.

    Raises:
        RefusedChangeError: ``other_dimension``, if the nodes are of another embedding model.
    """
    found = np.empty((len(nodes), len(vector)))
    for index, node in enumerate(nodes):
        numbers = read_vector(node["vector"])
        if len(numbers) != len(vector):
            raise RefusedChangeError("other_dimension")
        found[index] = numbers
    squares = np.einsum("ij,ij->i", found, found) * float(vector @ vector)
    # After retractions from unnamed events a sum may be 0.
    return np.asarray((found @ vector) / np.sqrt(np.where(squares > 0, squares, 1.0)), dtype=np.float64)


def cosine(one: Whole, other: Whole) -> float:
    """The cosine of two vectors."""
    return float(one @ other) / float(np.sqrt(float(one @ one) * float(other @ other)))


def children_of(nodes: Nodes) -> dict[str, list[str]]:
    """The keys of the children by the key of the parent."""
    children: dict[str, list[str]] = {}
    for key, node in nodes.items():
        children.setdefault(node["parent"], []).append(key)
    return children


def above(nodes: Nodes, key: str) -> Iterator[str]:
    """The keys of the nodes above a node, nearest first."""
    parent = nodes[key]["parent"]
    while parent != ROOT:
        yield parent
        parent = nodes[parent]["parent"]


def below(key: str, children: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """A node's key and the keys of all nodes below it."""
    waiting = [key]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(children.get(each, ()))
