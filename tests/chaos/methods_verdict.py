"""Compares the memories that the operators of the memory methods made in a run with the events in force: each event counts once."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from memory.ids import entity_id
from memory.keys import entity_key
from memory.records import Memory
from operators.links.link import MAX_UPDATES
from tests.chaos.correction_oracle import CorrectionOracle
from tests.chaos.memory_oracle import StatedEvent, stated_events
from tests.chaos.methods_schema import BLOCK, COMMUNITY, FADING, HOT, METHOD_TYPES, NODE, NOTE, TIERS, TREE, VALUE
from tests.chaos.window_oracle import ExpectedWindow

if TYPE_CHECKING:
    from tests.chaos.verdict import Verdict

_FORMER = "formerly: "
_NUMBER = re.compile(r"\d+")

Events = Mapping[str, list[StatedEvent]]
"""The events in force, by event type."""


def judge_methods(
    verdict: "Verdict",
    tenant: str,
    windows: Iterable[ExpectedWindow],
    corrections: CorrectionOracle,
    observed: Sequence[Memory],
    edits: Mapping[str, Sequence[str]],
) -> None:
    """Checks the memories of all operators.

    Args:
        verdict: Gets the damage.
        tenant: The tenant.
        windows: The extracted windows.
        corrections: The corrections in force.
        observed: The memories of the operators' entity types.
        edits: The lines that agents added to each user's block.
    """
    events: dict[str, dict[str, list[StatedEvent]]] = defaultdict(lambda: defaultdict(list))
    for window in windows:
        for stated in stated_events(window):
            if corrections.is_valid(stated.event.id):
                events[stated.event.user][stated.event.type].append(stated)
    by_user: dict[str, list[Memory]] = defaultdict(list)
    for each in observed:
        by_user[each.user or ""].append(each)
    verdict.method_memories, verdict.edits = len(observed), sum(map(len, edits.values()))
    users = events.keys() | edits.keys()
    unowned = [f"{each.type} of {user}" for user in by_user.keys() - users for each in by_user[user]]
    wrong = [
        problem
        for user in sorted(users)
        for problem in _problems_of(tenant, user, events.get(user, {}), by_user[user], edits.get(user, ()))
    ]
    verdict.wrong_values += verdict.record("memories of methods that differ", [*unowned, *wrong])
    waiting = [f"{each.type} {each.id} {each.written}" for each in observed if any(_waits(text) for text in (each.written or {}).values())]
    verdict.wrong_values += verdict.record("texts of methods that still wait for a model", waiting)


def _waits(text: Any) -> bool:
    return bool(text.pending or text.stale)


def _problems_of(tenant: str, user: str, events: Events, observed: Sequence[Memory], edits: Sequence[str]) -> Iterator[str]:
    """The differences between a user's events and edits, and the memories."""
    made: dict[str, list[Memory]] = {name: [each for each in observed if each.type == name] for name in METHOD_TYPES}
    entities = {name: [each for each in of_type if each.kind == "entity"] for name, of_type in made.items()}
    summaries = {name: [each for each in of_type if each.kind == "summary"] for name, of_type in made.items()}
    for name, problems in (
        (TREE, _tree_problems(events.get("exercise", ()), entities[TREE], summaries[TREE])),
        (TIERS, _once(events.get("exercise", ()), summaries[TIERS])),
        (HOT, _once(events.get("exercise", ()), summaries[HOT])),
        (FADING, _count_problems(len(events.get("breakthrough", ())), entities[FADING])),
        (BLOCK, _block_problems(events.get("breakthrough", ()), edits, entities[BLOCK])),
        (NODE, _node_problems(events.get("relation", ()), entities[NODE])),
        (COMMUNITY, _count_problems(len(_nodes(events.get("relation", ()))), entities[COMMUNITY])),
        (NOTE, _note_problems(tenant, user, events.get("misconception", ()), entities[NOTE])),
    ):
        yield from (f"{name} of {user}: {each}" for each in problems)


def _tree_problems(events: Sequence[StatedEvent], entities: Sequence[Memory], nodes: Sequence[Memory]) -> Iterator[str]:
    yield from _count_problems(len(events), entities)
    names = {each.event.id for each in events}
    by_id = {each.id: each for each in nodes}
    named = Counter(leaf for each in nodes for leaf in cast(list[str], each.properties["leaves"]))
    yield from (f"{leaf} is in {times} nodes" for leaf, times in named.items() if times > 1)
    yield from (f"{leaf} is no event in force" for leaf in named if leaf not in names)
    for node in nodes:
        parent = None if node.parent is None else by_id.get(node.parent)
        if (node.parent is None) != (parent is None) or node.depth != (0 if parent is None else (parent.depth or 0) + 1):
            yield f"the node {node.id} of depth {node.depth} has the parent {node.parent}"
    tops = sum(cast(int, each.properties["event_count"]) for each in nodes if each.parent is None)
    if tops > len(events):
        yield f"the nodes at the top have {tops} events, not {len(events)}"


def _once(events: Sequence[StatedEvent], published: Sequence[Memory]) -> Iterator[str]:
    """Checks that each published event is in force, and in one memory."""
    names = {each.event.id for each in events}
    named = Counter(name for each in published for name in cast(list[str], each.properties["events"]))
    yield from (f"{name} is in {times} memories" for name, times in named.items() if times > 1)
    yield from (f"{name} is no event in force" for name in named if name not in names)


def _count_problems(count: int, entities: Sequence[Memory]) -> Iterator[str]:
    """Checks the first number of an operator's value."""
    values = [str(each.properties.get(VALUE, "")) for each in entities]
    counted = [int(found[0]) for each in values if (found := _NUMBER.search(each))]
    if sum(counted) != count or len(counted) != (count > 0):
        yield f"{values} and not {count}"


def _block_problems(events: Sequence[StatedEvent], edits: Sequence[str], entities: Sequence[Memory]) -> Iterator[str]:
    lines = Counter(line for each in entities for line in str(each.properties.get(VALUE, "")).splitlines())
    expected = Counter([*(each.event.content or "" for each in events), *edits])
    if lines != expected:
        yield f"lacks {sorted((expected - lines).elements())}, has too many {sorted((lines - expected).elements())}"


def _nodes(events: Sequence[StatedEvent]) -> set[str]:
    return {str(each.fact.properties[end]) for each in events for end in ("subject", "object")}


def _node_problems(events: Sequence[StatedEvent], entities: Sequence[Memory]) -> Iterator[str]:
    observed = {str(each.properties["nodes"]): str(each.properties.get(VALUE, "")).splitlines() for each in entities}
    if observed.keys() != _nodes(events):
        yield f"has the nodes {sorted(observed)} and not {sorted(_nodes(events))}"
    for name, lines in observed.items():
        edges = {tuple(line.removeprefix(_FORMER).split()[:3]) for line in lines}
        stated = (tuple(str(each.fact.properties[part]) for part in ("subject", "relation", "object")) for each in events)
        expected = {each for each in stated if name in (each[0], each[2])}
        if edges != expected:
            yield f"the node {name} has {sorted(edges)} and not {sorted(expected)}"


def _note_problems(tenant: str, user: str, events: Sequence[StatedEvent], entities: Sequence[Memory]) -> Iterator[str]:
    texts = {entity_id(tenant, NOTE, entity_key(user, each.event.id)): each.event.content or "" for each in events}
    observed = {each.id: each for each in entities}
    yield from (f"lacks the note {text}" for name, text in texts.items() if name not in observed)
    for entity in entities:
        if entity.id not in texts:
            yield f"has the note {entity.content}, of no event in force"
        elif not entity.content.startswith(texts[entity.id]):
            yield f"a note says {entity.content} and not {texts[entity.id]}"
        for link in entity.links or ():
            other = observed.get(link.id)
            if other is None:
                yield f"the note {entity.id} has a link to {link.id}"
            elif entity.id not in {each.id for each in other.links or ()} and len(other.links or ()) < MAX_UPDATES:
                yield f"the note {entity.id} has a link to {link.id}, which has none back"
