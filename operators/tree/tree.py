"""TREE: an entity type's property that is a tree of its events by similarity (MemTree; *Memory in the LLM Era*, appendix C)."""

from collections.abc import Iterator
from typing import Any, ClassVar, Final

from memory.records import Memory
from memory.schema.operator_specs import OperatorSpec, built_in
from memory.texts.text import shortened
from operators.applied_positions import last_positions
from operators.errors import RefusedChangeError
from operators.llm.llm_operator import Moment, Prompt, Question, Settled
from operators.llm.summary_operator import SummaryOperator
from operators.operator import Configuration, Operand, State, Value
from operators.publishing import Owner, PublishingOperator, changed_keys
from operators.tree.growth import Shape, Tree, inserted, retracted
from operators.tree.nodes import NodeEvent, Nodes, above, below, children_of, event_of, operand_vector
from operators.tree.prompt import node_prompt
from operators.tree.published import MAX_EXTRACT, days_of, events_below, extract, node_id, node_memory
from operators.tree.texts import NodeTexts
from operators.tree.turns import Turn, divided, segments, turn_of

MAX_TEXT: Final = 300
"""Characters of an event that a leaf keeps."""
MAX_TURN: Final = 2000
"""Characters of a turn that is not in a leaf yet."""
_MAX_ADDED: Final = 20
"""Texts that one question adds to a summary."""
_MAX_NEWER: Final = 2400
"""Characters of the events of one node that its own summary lacks, in a question about the node above it."""


class MemoryTree(SummaryOperator[NodeTexts], PublishingOperator):
    """Keeps the events of an entity in a tree, and summarises its inner nodes.

    After a batch of changes, the operator asks a model for a bounded number of stale summaries. Until it has answered, or without one, a
    summary is an extract of the most important events.

    Args:
        configuration: The schema's definition of the property.
    """

    spec: ClassVar[OperatorSpec] = built_in("TREE")
    kept_of_question = ("since", "count", "place", "known")

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        base, rate, depth, nodes, self._fifo, self._questions = (
            configuration.whole(name) for name in ("Base", "Rate", "Depth", "Nodes", "Fifo", "Questions")
        )
        self._shape = Shape(base=base / 1000, rate=rate / 1000, max_depth=depth, max_nodes=nodes)

    def apply(self, state: State | None, operand: Operand) -> State:
        """See :meth:`Operator.apply`. The tree depends on the order in which events arrive.

        Raises:
            RefusedChangeError: ``no_vector``, ``other_dimension`` or ``already_applied``.
        """
        tree, turns, texts = _read(state)
        if _has(tree.nodes, turns, operand.source_id):
            raise RefusedChangeError("already_applied")
        event, vector, position = event_of(operand, longest=MAX_TURN), operand_vector(operand), _position(operand)
        if not self._fifo:
            short: NodeEvent = {**event, "text": shortened(event["text"], MAX_TEXT)}
            return _written(inserted(tree, [short], vector, self._shape, position=position), turns, texts)
        moved, remaining = divided([*turns, turn_of(event, vector)], self._fifo)
        for events, total in segments(moved, self._shape.threshold(0)):
            tree = inserted(tree, events, total, self._shape, position=position)
        return _written(tree, list(remaining), texts)

    def retract(self, state: State | None, operand: Operand) -> State | None:
        """See :meth:`Operator.retract`. The other leaves keep their places.

        Raises:
            RefusedChangeError: ``not_applied``, ``no_vector`` or ``other_dimension``.
        """
        tree, turns, texts = _read(state)
        remaining = [each for each in turns if each["event"]["id"] != operand.source_id]
        if len(remaining) == len(turns):
            tree = retracted(tree, operand.source_id, operand_vector(operand), position=_position(operand))
        return _written(tree, remaining, texts)

    def value(self, state: State) -> Value:
        """The size of the tree."""
        tree, turns, _ = _read(state)
        if tree.is_empty and not turns:
            return None
        top = [node for node in tree.nodes.values() if not node["parent"]]
        events = sum(node["count"] for node in top)
        recent = f", {len(turns)} recent" if turns else ""
        return f"{events} in {len(tree.nodes)} nodes, {len(top)} at the top{recent}"

    def memories(self, state: State, owner: Owner) -> Iterator[Memory]:
        """See :meth:`PublishingOperator.memories`: the nodes of more than one event."""
        tree, _, texts = _read(state)
        children = children_of(tree.nodes)
        found = (node_memory(tree.nodes, key, texts, owner, children) for key in tree.nodes)
        return (each for each in found if each is not None)

    def changes(self, before: State | None, after: State | None, owner: Owner) -> tuple[dict[str, Memory], set[str]]:
        """See :meth:`PublishingOperator.changes`. Compares only changed nodes, those above them, and those that moved."""
        (old, _, old_texts), (new, _, new_texts) = _read(before), _read(after)
        changed = _changed_keys(old.nodes, new.nodes, old_texts, new_texts)
        old_children, new_children = children_of(old.nodes), children_of(new.nodes)
        wanted: dict[str, Memory] = {}
        removed: set[str] = set()
        for key in sorted(changed):
            memory = node_memory(new.nodes, key, new_texts, owner, new_children) if key in new.nodes else None
            if memory is not None and key in old.nodes and old.nodes[key]["count"] != new.nodes[key]["count"]:
                wanted[memory.id] = memory  # Another count is another version, so the former memory need not be made.
                continue
            known = node_memory(old.nodes, key, old_texts, owner, old_children) if key in old.nodes else None
            if memory is not None and memory != known:
                wanted[memory.id] = memory
            elif memory is None and known is not None:
                removed.add(node_id(key, owner))
        return wanted, removed

    def plan_questions(self, state: State, moment: Moment) -> Settled:
        """See :meth:`LLMOperator.plan_questions`. About each node at most one question is open."""
        tree, turns, texts = _read(state)
        if not moment.has_llm and texts.is_empty:
            return Settled(state)
        planned, wanted, dropped = texts.planned(tree.nodes, moment, most=self._questions)
        if planned == texts:
            return Settled(state)
        children = children_of(tree.nodes)
        questions = tuple(_question(tree.nodes, key, texts, children, moment) for key in wanted)
        return Settled(_written(tree, turns, planned), questions=questions, dropped=tuple(dropped))

    def prompt(self, question: Question, *, subject: str) -> Prompt:
        """See :meth:`LLMOperator.prompt`."""
        return node_prompt(subject=self._described(subject), question=question.content)

    def _texts_of(self, state: State | None) -> NodeTexts:
        return NodeTexts.of_state(state)

    def _with_texts(self, state: State | None, texts: NodeTexts) -> State:
        tree, turns, _ = _read(state)
        return _written(tree, turns, texts)

    def _valid_texts(self, state: State) -> NodeTexts:
        tree, _, texts = _read(state)
        return texts.valid(tree.nodes)


def _read(state: State | None) -> tuple[Tree, list[Turn], NodeTexts]:
    """The parts of a state that :func:`_written` made."""
    fields: dict[str, Any] = state or {}
    tree = Tree(fields.get("nodes", {}), fields.get("unnamed", 0))
    return tree, fields.get("turns", []), NodeTexts.of_state(state)


def _written(tree: Tree, turns: list[Turn], texts: NodeTexts) -> State | None:
    """A state as JSON carries it; None if it is empty."""
    fields = {"nodes": tree.nodes, "unnamed": tree.unnamed, "turns": turns, "texts": texts.written, "asked": texts.asked}
    return {name: value for name, value in fields.items() if value} or None


def _has(nodes: Nodes, turns: list[Turn], event_id: str) -> bool:
    return any(each["id"] == event_id for node in nodes.values() for each in node["events"]) or any(
        turn["event"]["id"] == event_id for turn in turns
    )


def _changed_keys(old: Nodes, new: Nodes, old_texts: NodeTexts, new_texts: NodeTexts) -> set[str]:
    """The keys of all nodes whose memories may differ."""
    changed = changed_keys(old, new)
    changed |= {key for key in new if old_texts.written.get(key) != new_texts.written.get(key)}
    changed |= (old_texts.asked.keys() ^ new_texts.asked.keys()) & new.keys()
    moved = {key for key in changed if key in old and key in new and old[key]["parent"] != new[key]["parent"]}
    children = children_of(new) if moved else {}
    for nodes in (old, new):
        changed |= {each for key in changed & nodes.keys() for each in above(nodes, key)}
    return changed.union(*(below(key, children) for key in moved))


def _position(operand: Operand) -> str:
    return f"{operand.source}@{operand.position}"


def _question(nodes: Nodes, key: str, texts: NodeTexts, children: dict[str, list[str]], moment: Moment) -> Question:
    """Asks to add to the summary of a node the nodes below it that grew since, or all of them if there is no valid summary."""
    node, text = nodes[key], texts.text_of(key, nodes[key])
    since = 0 if text is None else text["place"]
    grown = sorted((nodes[each]["place"], each) for each in children.get(key, ()) if nodes[each]["place"] > since)
    own = [[days_of([event]), event["text"]] for event in node["events"] if event["text"]] if text is None else []
    added = [*own, *(added for _, each in grown for added in _added_by(nodes, each, texts, children))][-_MAX_ADDED:]
    return Question(
        {
            "before": "" if text is None else text["text"],
            "added": added,
            "limit": MAX_EXTRACT,
            "since": node["since"],
            "count": node["count"],
            "place": node["place"],
            "known": last_positions(moment.sources),
        },
        part=key,
    )


def _added_by(nodes: Nodes, key: str, texts: NodeTexts, children: dict[str, list[str]]) -> list[list[str]]:
    """The summary of a node and the events that it lacks, each as days and text."""
    text, leaves = texts.text_of(key, nodes[key]), [each for each in below(key, children) if not nodes[each]["inner"]]
    if text is None or not text["text"]:
        events = events_below(nodes, key, children)
        return [[days_of(events), extract(events, _MAX_NEWER)]]
    newer = [event for each in leaves if nodes[each]["place"] > text["place"] for event in nodes[each]["events"]]
    summary = [days_of([each for each in events_below(nodes, key, children) if each not in newer]), str(text["text"])]
    return [summary, [days_of(newer), extract(newer, _MAX_NEWER)]] if newer else [summary]
