"""The statements of a relation graph, and the communities that follow from them.

The communities are a function of the statements that are kept, in the order of event time, not of arrival. So the order in which windows
arrive does not matter, and a retracted statement leaves no trace. Former edges count, as in Zep's released code.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from memory.relations import node_of
from operators.cluster.propagation import Pair, communities_of
from operators.links.edge import Edge, Statement, edges_of
from operators.operator import State

_TIME, _ID, _SUBJECT, _RELATION, _OBJECT, _ENDS, _COUNT = 0, 2, 3, 4, 5, 7, 10
"""Places in a :data:`operators.links.edge.Statement`."""
_MARK_LENGTH: Final = 12


class Evidence(NamedTuple):
    """The event of a statement. JSON carries it as a list."""

    rank: int
    """Importance in thousandths."""
    window: str
    mark: str
    """Names this application of the event: an event that returns has another mark."""
    messages: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Community:
    """Closely related nodes, and the edges of which they are the subject."""

    key: str
    """Names the community by its oldest node."""
    members: tuple[str, ...]
    """The names of its nodes, oldest first."""
    edges: tuple[Edge, ...]
    """Relations that hold precede former ones; the newest first."""
    events: tuple[str, ...]
    """The events that state its edges, or their end, newest first."""
    newest: int
    """The time of the newest of them, in microseconds since 1970."""

    def marks(self, evidence: Mapping[str, Evidence]) -> list[str]:
        """The marks of its events, sorted."""
        return sorted(evidence[each].mark for each in self.events)


def application_mark(source: str, position: int, event_id: str) -> str:
    """The mark of an event that was applied at a position of the log."""
    return hashlib.sha256(f"{source}@{position} {event_id}".encode()).hexdigest()[:_MARK_LENGTH]


def present_in(statements: Sequence[Statement]) -> list[Statement]:
    """The statements without those whose retraction came first."""
    return [each for each in statements if each[_COUNT] > 0]


def ids_of(statements: Sequence[Statement]) -> set[str]:
    """The ids of the events of statements."""
    return {each[_ID] for each in statements}


def communities_in(edges: State | None, evidence: Mapping[str, Evidence]) -> list[Community]:
    """The communities of a graph, oldest first.

    Args:
        edges: The state of :class:`operators.links.edge.Edges`. None: no statements.
        evidence: The events of the present statements.
    """
    if edges is None:
        return []
    present = present_in(edges[0])
    groups = communities_of(_windows(present, evidence).values())
    place = {node: index for index, group in enumerate(groups) for node in group}
    names: dict[str | None, str] = {}
    events: list[list[Statement]] = [[] for _ in groups]
    for relation in present:
        names |= {node_of(name): name for name in (relation[_SUBJECT], relation[_OBJECT])}
        if (index := place.get(node_of(relation[_SUBJECT]) or "")) is not None:
            events[index].append(relation)
    lines: list[list[Edge]] = [[] for _ in groups]
    for edge in edges_of(edges):
        lines[place[node_of(edge.subject) or ""]].append(edge)
    return [
        Community(
            key=hashlib.sha256(group[0].encode()).hexdigest()[:16],
            members=tuple(names[each] for each in group),
            edges=tuple(lines[index]),
            events=tuple(dict.fromkeys(each[_ID] for each in reversed(events[index]))),
            newest=max((each[_TIME] for each in events[index]), default=0),
        )
        for index, group in enumerate(groups)
    ]


def changed_edges(community: Community, edges: State, known: Sequence[str], evidence: Mapping[str, Evidence]) -> list[Edge]:
    """The edges of a community that differ since a text about it: those with a new statement, and those that it may have ended.

    Args:
        community: The community.
        edges: The state of :class:`operators.links.edge.Edges`.
        known: The marks of the events that the text covers.
        evidence: The events of the present statements.
    """
    new = {each for each in community.events if evidence[each].mark not in set(known)}
    touched = {(node_of(each[_SUBJECT]), node_of(each[_RELATION])) for each in edges[0] if each[_ID] in new}
    return [each for each in community.edges if (node_of(each.subject), node_of(each.relation)) in touched]


def _windows(present: Sequence[Statement], evidence: Mapping[str, Evidence]) -> dict[str, list[Pair]]:
    """The edges that each window adds, in the order of the windows' first statements."""
    seen: set[tuple[Any, ...]] = set()
    windows: dict[str, list[Pair]] = {}
    for relation in present:
        nodes = node_of(relation[_SUBJECT]), node_of(relation[_RELATION]), node_of(relation[_OBJECT])
        if relation[_ENDS] or nodes in seen:
            continue
        seen.add(nodes)
        windows.setdefault(evidence[relation[_ID]].window, []).append((nodes[0] or "", nodes[2] or ""))
    return windows
