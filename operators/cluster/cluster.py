"""CLUSTER: an entity type's property that groups the nodes of a relation graph into communities, with summaries (Zep)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from pydantic import JsonValue

from memory.records import Memory, WrittenText
from memory.schema.operator_specs import OperatorSpec, built_in
from memory.texts.text import first_that_fit
from memory.times import time_of_microseconds
from operators.applied_positions import last_positions
from operators.cluster.communities import Community, Evidence, application_mark, changed_edges, communities_in, ids_of, present_in
from operators.cluster.prompt import community_prompt
from operators.cluster.texts import CommunityTexts
from operators.links.edge import Edge, Edges
from operators.llm.llm_operator import Moment, Prompt, Question, Settled
from operators.llm.summary_operator import SummaryOperator
from operators.operator import Configuration, Operand, State, Value
from operators.publishing import BY_EXTRACT, Owner, PublishingOperator

MAX_EXTRACT: Final = 600
"""Characters of a summary."""
MAX_NAMED: Final = 60
"""Most members, events and messages that a community names."""
LEAST_MEMBERS: Final = 3
"""Members of a published community. A smaller one is a single edge, which has a separate memory."""
_MAX_ADDED: Final = 40
"""Edges that one question adds to a summary."""
_MAX_MESSAGES: Final = 4
"""Messages of an event that the state names."""


@dataclass(frozen=True, slots=True)
class _Graph:
    """A state that was read."""

    edges: State | None
    """Of :class:`Edges`."""
    evidence: Mapping[str, Evidence]
    """The events of the present statements."""
    texts: CommunityTexts

    @property
    def marks(self) -> set[str]:
        """The marks of all events that are present."""
        return {each.mark for each in self.evidence.values()}


class Communities(SummaryOperator[CommunityTexts], PublishingOperator):
    """Keeps the statements of a relation graph, and publishes a memory for each community of at least three nodes.

    After a batch of changes, the operator asks a model for a bounded number of stale summaries. Until it has answered, or without one, a
    summary consists of the community's edges.

    Args:
        configuration: The schema's definition of the property.
    """

    spec: ClassVar[OperatorSpec] = built_in("CLUSTER")
    kept_of_question = ("marks", "known")

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self._edges = Edges(configuration)
        self._questions = configuration.whole("Questions")
        self._recent: tuple[tuple[State, list[Community]], ...] = ()
        """The communities of the last two states. A change of an entity needs those before and after it several times."""

    def apply(self, state: State | None, operand: Operand) -> State | None:
        """See :meth:`Operator.apply`. Above the limit, the oldest statements are dropped.

        Raises:
            operators.errors.RefusedChangeError: ``no_relation`` if the event does not state a whole relation.
        """
        graph, fields = _read(state), operand.fields
        event = Evidence(
            rank=round(fields["importance"] * 1000),
            window=fields["window_id"],
            mark=application_mark(operand.source, operand.position, operand.source_id),
            messages=list(fields["message_ids"][:_MAX_MESSAGES]),
        )
        return _written(self._edges.add(graph.edges, operand, 1), {**graph.evidence, operand.source_id: event}, graph.texts)

    def retract(self, state: State | None, operand: Operand) -> State | None:
        """See :meth:`Operator.retract`."""
        graph = _read(state)
        return _written(self._edges.add(graph.edges, operand, -1), graph.evidence, graph.texts)

    def value(self, state: State) -> Value:
        """The size of the graph."""
        graph = _read(state)
        found = self._communities(graph)
        members = sum(len(each.members) for each in found)
        published = sum(len(each.members) >= LEAST_MEMBERS for each in found)
        return f"{members} people and things, {published} communities" if members else None

    def memories(self, state: State, owner: Owner) -> Iterator[Memory]:
        """See :meth:`PublishingOperator.memories`: the communities."""
        graph = _read(state)
        present = graph.marks
        return (_memory(each, graph, present, owner) for each in self._published(graph).values())

    def plan_questions(self, state: State, moment: Moment) -> Settled:
        """See :meth:`LLMOperator.plan_questions`. About each community at most one question is open."""
        graph = _read(state)
        if not moment.has_llm and graph.texts.is_empty:
            return Settled(state)
        communities, present = self._published(graph), graph.marks
        marks = {key: each.marks(graph.evidence) for key, each in communities.items()}
        planned, wanted, dropped = graph.texts.planned(marks, present, moment, most=self._questions)
        if planned == graph.texts:
            return Settled(state)
        questions = tuple(_question(communities[key], graph, present, moment) for key in wanted)
        return Settled(_written(graph.edges, graph.evidence, planned), questions=questions, dropped=tuple(dropped))

    def prompt(self, question: Question, *, subject: str) -> Prompt:
        """See :meth:`LLMOperator.prompt`."""
        return community_prompt(subject=self._described(subject), question=question.content)

    def _texts_of(self, state: State | None) -> CommunityTexts:
        return CommunityTexts.of_state(state)

    def _with_texts(self, state: State | None, texts: CommunityTexts) -> State:
        graph = _read(state)
        return _written(graph.edges, graph.evidence, texts)

    def _valid_texts(self, state: State) -> CommunityTexts:
        graph = _read(state)
        return graph.texts.valid(graph.marks)

    def _published(self, graph: _Graph) -> dict[str, Community]:
        """The published communities by key."""
        return {each.key: each for each in self._communities(graph) if len(each.members) >= LEAST_MEMBERS}

    def _communities(self, graph: _Graph) -> list[Community]:
        """All communities. A state of edges is never changed in place, so the same object has the same communities."""
        for edges, found in self._recent:
            if edges is graph.edges:
                return found
        found = communities_in(graph.edges, graph.evidence)
        self._recent = ((graph.edges, found), *self._recent[:1])
        return found


def _read(state: State | None) -> _Graph:
    """The parts of a state that :func:`_written` made."""
    fields: dict[str, Any] = state or {}
    evidence = {name: Evidence(*each) for name, each in fields.get("evidence", {}).items()}
    return _Graph(fields.get("edges"), evidence, CommunityTexts.of_state(state))


def _written(edges: State | None, evidence: Mapping[str, Evidence], texts: CommunityTexts) -> State | None:
    """A state as JSON carries it; None if it is empty."""
    present = ids_of(present_in(edges[0])) if edges is not None else set()
    kept = {name: list(each) for name, each in evidence.items() if name in present}
    fields = {"edges": edges, "evidence": kept, "texts": texts.written, "asked": texts.asked}
    return {name: value for name, value in fields.items() if value} or None


def _memory(community: Community, graph: _Graph, present: set[str], owner: Owner) -> Memory:
    text = graph.texts.text_of(community.key, present)
    is_by_model = text is not None and bool(text["text"])
    events = [graph.evidence[each] for each in community.events]
    members = list[JsonValue](community.members[:MAX_NAMED])
    properties: dict[str, JsonValue] = {
        "community": community.key,
        "members": members,
        "member_count": len(community.members),
        "edge_count": len(community.edges),
        "events": list[JsonValue](community.events[:MAX_NAMED]),
        "written_by": text["by"] if text is not None and is_by_model else BY_EXTRACT,
    }
    is_awaited = text is None and community.key in graph.texts.asked
    return owner.summary(
        f"community {community.key}",
        content=text["text"] if text is not None and is_by_model else _extract(community.edges),
        properties=properties,
        keywords=community.members[:MAX_NAMED],
        importance=max((each.rank for each in events), default=0) / 1000,
        event_time=time_of_microseconds(community.newest),
        message_ids=list(dict.fromkeys(name for each in events for name in each.messages))[:MAX_NAMED],
        version=2 * len(events) + (text is not None),
        written=WrittenText(by=BY_EXTRACT, pending=len(events)) if is_awaited else None,
    )


def _extract(edges: tuple[Edge, ...], most: int = MAX_EXTRACT) -> str:
    """The edges as lines, as many as fit, at least one."""
    return "\n".join(first_that_fit((each.line for each in edges), lambda line: len(line) + 1, most))


def _question(community: Community, graph: _Graph, present: set[str], moment: Moment) -> Question:
    """Asks to add the changed edges to the valid summary, or to write one from all edges."""
    text = graph.texts.text_of(community.key, present)
    marks = community.marks(graph.evidence)
    # A summary that quotes events of another community by now is written from all edges.
    is_continued = text is not None and bool(text["text"]) and set(text["marks"]).issubset(marks)
    before = text if text is not None and is_continued else None
    edges = community.edges if before is None else changed_edges(community, graph.edges, before["marks"], graph.evidence)
    return Question(
        {
            "members": list[JsonValue](community.members[:MAX_NAMED]),
            "before": "" if before is None else before["text"],
            "added": [each.line for each in edges[:_MAX_ADDED]],
            "limit": MAX_EXTRACT,
            "marks": list[JsonValue](marks),
            "known": last_positions(moment.sources),
        },
        part=community.key,
    )
