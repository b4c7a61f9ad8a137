"""EDGE: the edges of a node in a temporal knowledge graph (Mem0g, Zep).

An edge has a subject, a relation, an object, and the time span in which it holds. *Zep* (Rasmussen et al., 2025, section 2.2.3) and *Mem0*
(Chhikara et al., 2025, section 2.2) invalidate an edge that a newer one contradicts, and delete nothing. Here the state keeps what was
stated, and the spans follow from it: so the order of arrival does not matter, and a retracted statement gives the former edge back.

A newer statement contradicts an edge if it has the same subject and relation and another object, unless the subject can have several such
objects; or if it says that the relation holds no longer. Only the node of the subject gets all of these statements. The node of the object
therefore shows when the relation was stated, and its end only if that was stated of the same two nodes.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import orjson

from memory.ids import entity_id
from memory.keys import entity_key, entity_key_parts
from memory.records import Link
from memory.relations import ENDS, NODES, RELATION_PROPERTIES, SEVERAL, node_of
from memory.schema.operator_specs import OperatorSpec, built_in
from memory.texts.text import shortened
from memory.times import time_of_microseconds
from operators.errors import RefusedChangeError
from operators.operator import AdditiveOperator, Configuration, MergeableOperator, Operand, State, Value
from operators.publishing import LinkedOperator, Owner

MAX_NAME: Final = 256
"""Characters of a subject, relation or object."""
MAX_LINES: Final = 60
"""Most edges in the value."""
MAX_LINKS: Final = 50
_CURRENT: Final = 1.0
_FORMER: Final = 0.5
"""Scores of links along edges that hold, and along former ones."""
_UNKNOWN: Final = "unknown"

Statement = list[Any]
"""``[time, order, event id, subject, relation, object, date, whether it ends, whether there may be several, whether the node is the
subject, count]``. Sorted by all but the count, so by time."""
_COUNT: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One edge of a node."""

    subject: str
    relation: str
    object: str
    valid_at: str
    """The date of its first statement, as exactly as it is known. ``unknown``: there is none."""
    invalid_at: str | None
    """The date of the statement that contradicts or ends it. None: it holds."""
    is_outgoing: bool
    """Whether the node is the subject."""
    event_ids: tuple[str, ...]
    """The events that state it, oldest first."""

    @property
    def other(self) -> str:
        """The name of the node at the other end."""
        return self.object if self.is_outgoing else self.subject

    @property
    def line(self) -> str:
        """The edge as a line of text."""
        words = f"{self.subject} {self.relation} {self.object}"
        is_dated = self.valid_at != _UNKNOWN
        if self.invalid_at is None:
            return f"{words} ({'since' if self.is_outgoing else 'stated'} {self.valid_at})" if is_dated else words
        until = "an unknown date" if self.invalid_at == _UNKNOWN else self.invalid_at
        return f"formerly: {words} ({f'{self.valid_at} ' if is_dated else ''}until {until})"


class Edges(AdditiveOperator, LinkedOperator):
    """Keeps the statements about a node. The value is the edges, those that hold first, each with the newest first.

    Args:
        configuration: The schema's definition of the property.
    """

    spec: ClassVar[OperatorSpec] = built_in("EDGE")

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self._limit = configuration.whole("Limit")

    def add(self, state: State | None, operand: Operand, times: int) -> State | None:
        """See :meth:`AdditiveOperator.add`. Above the limit, the oldest statements are dropped; what follows them is dropped as well.

        Raises:
            operators.errors.RefusedChangeError: ``no_relation`` if the event does not state a whole relation.
        """
        statement = _statement(operand)
        kept, dropped, dropped_through = state or [[], 0, None]
        if dropped_through is not None and statement[:3] <= dropped_through:
            return self._state(kept, dropped + times, dropped_through)
        return self._state(_with(kept, statement, times), dropped, dropped_through)

    def merge(self, one: State, other: State) -> State | None:
        """See :meth:`MergeableOperator.merge`."""
        (mine, my_dropped, my_through), (others, other_dropped, other_through) = one, other
        through = max((each for each in (my_through, other_through) if each is not None), default=None)
        dropped = my_dropped + other_dropped
        kept: list[Statement] = []
        for entry in [*mine, *others]:
            if through is not None and entry[:3] <= through:
                dropped += entry[_COUNT]
            else:
                kept = _with(kept, entry[:_COUNT], entry[_COUNT])
        return self._state(kept, dropped, through)

    def with_capacity_for(self, parts: int) -> MergeableOperator:
        """See :meth:`MergeableOperator.with_capacity_for`: all edges may come from one part."""
        return self

    def value(self, state: State) -> Value:
        """The edges as lines."""
        return "\n".join(each.line for each in edges_of(state)[:MAX_LINES]) or None

    def links(self, state: State, owner: Owner) -> tuple[Link, ...]:
        """See :meth:`LinkedOperator.links`: to the nodes at the other ends of the edges."""
        names, parts = owner.entity_type.keys, entity_key_parts(owner.key)
        if NODES not in names:
            return ()
        place = names.index(NODES)
        found: dict[str, Link] = {}
        for edge in edges_of(state):
            node = node_of(edge.other)
            if node is None or node == parts[place]:
                continue
            key = entity_key(*parts[:place], node, *parts[place + 1 :])
            other = entity_id(owner.tenant, owner.entity_type.name, key, owner.generation)
            score = _CURRENT if edge.invalid_at is None else _FORMER
            # Edges that hold come first.
            found.setdefault(other, Link(id=other, relation=edge.relation, score=score))
        return tuple(sorted(found.values(), key=lambda each: -each.score)[:MAX_LINKS])

    def _state(self, kept: list[Statement], dropped: int, through: list[Any] | None) -> State | None:
        beyond = len(kept) - self._limit
        if beyond > 0:
            # All statements of an event are dropped together.
            through = kept[beyond - 1][:3]
            dropped += sum(each[_COUNT] for each in kept if each[:3] <= through)
            kept = [each for each in kept if each[:3] > through]
        return [kept, dropped, through if dropped else None] if kept or dropped else None


def edges_of(state: State) -> list[Edge]:
    """The edges of a node: those that hold first, each with the newest first.

    Args:
        state: The state of :class:`Edges`.
    """
    present = [each for each in state[0] if each[_COUNT] > 0]
    by_relation: dict[tuple[str | None, str | None], list[Statement]] = {}
    for each in present:
        by_relation.setdefault((node_of(each[3]), node_of(each[4])), []).append(each)
    found = [edge for statements in by_relation.values() for edge in _spans(statements)]
    found.sort(key=lambda each: (each[0][:3], each[1].object), reverse=True)
    edges = [edge for _, edge in found]
    return [*(each for each in edges if each.invalid_at is None), *(each for each in edges if each.invalid_at is not None)]


def _spans(statements: Sequence[Statement]) -> list[tuple[Statement, Edge]]:
    """The edges of one subject and relation, each with its newest statement.

    Args:
        statements: Those of the subject and relation, oldest first.
    """
    holding: dict[str | None, list[Statement]] = {}
    closed: list[tuple[Statement, Edge]] = []
    for statement in statements:
        target, is_end, several = node_of(statement[5]), statement[7], statement[8]
        ended = [
            other
            for other, stated in holding.items()
            if (other == target if is_end else other != target and not (several or any(one[8] for one in stated)))
        ]
        closed.extend((holding[other][-1], _edge(holding.pop(other), until=statement)) for other in ended)
        if not is_end:
            holding.setdefault(target, []).append(statement)
    return [*closed, *((stated[-1], _edge(stated)) for stated in holding.values())]


def _edge(statements: Sequence[Statement], until: Statement | None = None) -> Edge:
    first, newest = statements[0], statements[-1]
    return Edge(
        subject=newest[3],
        relation=newest[4],
        object=newest[5],
        valid_at=first[6],
        invalid_at=None if until is None else until[6],
        is_outgoing=newest[9],
        event_ids=tuple(each[2] for each in statements),
    )


def _statement(operand: Operand) -> Statement:
    fields = operand.fields
    properties: Mapping[str, Any] = fields["properties"]
    names = [properties.get(each) for each in RELATION_PROPERTIES]
    if not all(node_of(each) for each in names):
        raise RefusedChangeError("no_relation")
    node = fields["keys"].get(NODES)
    return [
        operand.time,
        operand.order,
        operand.source_id,
        *(shortened(" ".join(str(each).split()), MAX_NAME) for each in names),
        fields["date"] or time_of_microseconds(operand.local).date().isoformat(),
        bool(properties.get(ENDS)),
        bool(properties.get(SEVERAL)),
        node is None or node == node_of(names[0]),
    ]


def _with(kept: list[Statement], statement: Statement, times: int) -> list[Statement]:
    index = bisect_left(kept, _place(statement), key=lambda each: _place(each[:_COUNT]))
    found = index < len(kept) and kept[index][:_COUNT] == statement
    count = (kept[index][_COUNT] if found else 0) + times
    return [*kept[:index], *([[*statement, count]] if count else []), *kept[index + found :]]


def _place(statement: Statement) -> tuple[list[Any], bytes]:
    """The sort key of a statement."""
    return statement[:3], orjson.dumps(statement[3:])
