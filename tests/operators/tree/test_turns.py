"""The newest turns of a tree, and their segments."""

from typing import cast

import numpy as np
import pytest

from operators.entities.render import published_memories
from operators.llm.merging import plan_questions
from operators.tree.turns import MAX_SEGMENT, segments, shortened_events, turn_of
from tests.operators.tree.trees import ANN, applied, nodes_of, tree_type, turn

TALK = tree_type(Fifo=4)
EAST, NORTH = (1, 0, 0), (0, 1, 0)


def turns_of(state: object) -> list[str]:
    return [each["event"]["id"] for each in state.properties["topics"][1].get("turns", [])]  # type: ignore[attr-defined]


def test_the_oldest_half_becomes_leaves() -> None:
    state = applied(None, TALK, *(turn("apply", name, EAST) for name in "abcd"))
    assert (turns_of(state), nodes_of(state)) == (["a", "b", "c", "d"], {})
    state = applied(state, TALK, turn("apply", "e", NORTH), first=4)
    assert turns_of(state) == ["d", "e"]
    (leaf,) = nodes_of(state).values()
    assert [each["id"] for each in leaf["events"]] == ["a", "b", "c"]
    assert (leaf["count"], leaf["inner"]) == (3, False)


def test_a_different_turn_starts_a_segment() -> None:
    state = applied(
        None, TALK, *(turn("apply", name, vector) for name, vector in zip("abcde", (EAST, EAST, NORTH, EAST, EAST), strict=True))
    )
    assert {key: node["count"] for key, node in nodes_of(state).items()} == {"a": 2, "c": 1}


def test_a_retracted_turn_leaves_queue_or_segment() -> None:
    state = applied(None, TALK, *(turn("apply", name, EAST) for name in "abcde"))
    state = applied(state, TALK, turn("retract", "e", EAST), turn("retract", "b", EAST), first=5)
    assert turns_of(state) == ["d"]
    assert [each["id"] for each in nodes_of(state)["a"]["events"]] == ["a", "c"]
    state = applied(state, TALK, *(turn("retract", name, EAST) for name in "acd"), first=7)
    assert state.properties == {}


@pytest.mark.parametrize("number", [MAX_SEGMENT, MAX_SEGMENT + 1])
def test_segments_are_bounded(number: int) -> None:
    vector = np.array([1.0, 2.0])
    events = [
        {"id": f"e{each}", "time": each, "offset": 0, "rank": 500, "text": "long " * 200, "messages": [f"m{each}"]}
        for each in range(number)
    ]
    found = segments([turn_of(each, vector) for each in events], 0.5)  # type: ignore[arg-type]
    assert [len(events) for events, _ in found] == ([MAX_SEGMENT] if number == MAX_SEGMENT else [MAX_SEGMENT, 1])
    assert sum(len(each["text"]) for each in found[0][0]) <= 2400
    assert found[0][1].tolist() == [MAX_SEGMENT, 2 * MAX_SEGMENT]


def test_only_the_longest_turns_are_shortened() -> None:
    texts = ["short", "x" * 1000, "y" * 400, "z" * 1800]
    events = [{"id": f"e{each}", "time": each, "offset": 0, "rank": 500, "text": text, "messages": []} for each, text in enumerate(texts)]
    shown = [each["text"] for each in shortened_events(events)]  # type: ignore[arg-type]
    assert (shown[0], shown[2]) == ("short", "y" * 400)
    assert len(shown[1]) == len(shown[3]) == (2400 - 405) // 2
    assert shown[3].endswith("…")


def test_an_extract_shortens_long_turns() -> None:
    long = [turn("apply", name, EAST, minute=minute, text=f"{name} " + "word " * 300) for minute, name in enumerate("abcde")]
    (leaf,) = published_memories(applied(None, TALK, *long), TALK, "acme", ANN).values()
    assert [piece[0] for piece in leaf.content.split("; ")] == ["c"], "a turn of a segment of three has at most 400 characters"
    (question,) = plan_questions(applied(None, TALK, *long), TALK, has_llm=True).questions
    assert sum(len(text) for _, text in cast(list[list[str]], question[1].content["added"])) > 2000, "a model reads more"
