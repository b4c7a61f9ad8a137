"""Growth, bound and retraction of a tree."""

import math
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import Change
from memory.vectors import encode_vector, unit
from operators.entities.apply import apply_contribution
from operators.errors import RefusedChangeError
from operators.operator import Operand
from operators.tree.growth import Shape, Tree
from operators.tree.nodes import children_of, cosines, read_vector, vector_of, written_vector
from tests.operators.tree.trees import applied, contribution, nodes_of, operator, shape_of, tree_type, turn

TALK = tree_type()
SMALL = tree_type(Nodes=16, Depth=4)
EAST, NEAR_EAST, NORTH = (1.0, 0.0, 0.0), (0.9, 0.1, 0.0), (0.0, 1.0, 0.0)

vectors = st.tuples(*[st.integers(-5, 5)] * 3).filter(any)


def test_the_threshold_grows_with_depth() -> None:
    shape = Shape(base=0.4, rate=0.5, max_depth=8, max_nodes=256)
    # 0.4 * e^0, 0.4 * e^0.25 and 0.4 * e^0.5, computed by hand.
    assert [round(shape.threshold(depth), 4) for depth in (0, 4, 8)] == [0.4, 0.5136, 0.6595]


def test_a_similar_event_joins_a_leaf() -> None:
    state = applied(None, TALK, turn("apply", "a", EAST), turn("apply", "b", NORTH), turn("apply", "c", NEAR_EAST))
    assert shape_of(state) == {"c+": "", "a": "c+", "c": "c+", "b": ""}
    inner = nodes_of(state)["c+"]
    assert inner["count"] == 2
    total = vector_of(encode_vector(unit(np.array(EAST, np.float32)))) + vector_of(encode_vector(unit(np.array(NEAR_EAST, np.float32))))
    assert read_vector(inner["vector"]).tolist() == total.tolist()


@pytest.mark.parametrize(("degrees", "joins"), [(66, True), (67, False)])
def test_the_base_decides_at_the_top(degrees: int, joins: bool) -> None:
    angle = math.radians(degrees)
    state = applied(None, TALK, turn("apply", "a", (1, 0)), turn("apply", "b", (math.cos(angle), math.sin(angle))))
    # cos 66 degrees is 0.407, and cos 67 degrees is 0.391; the base is 0.4.
    assert (shape_of(state)["a"] == "b+") is joins


@pytest.mark.parametrize(("degrees", "joins"), [(59, True), (64, False)])
def test_the_second_level_is_stricter(degrees: int, joins: bool) -> None:
    strict = tree_type(Base=400, Rate=1000, Depth=8)
    angle = math.radians(degrees)
    state = applied(
        None, strict, turn("apply", "a", (1, 0)), turn("apply", "b", (1, 0)), turn("apply", "c", (math.cos(angle), math.sin(angle)))
    )
    # At depth 1: 0.4 * e^(1/8) = 0.4533. cos 59 degrees is 0.515, and cos 64 degrees is 0.438.
    assert (shape_of(state)["c"] == "c+") is joins
    assert (shape_of(state)["c"] == "b+") is not joins


def test_no_leaf_is_below_the_greatest_depth() -> None:
    flat = tree_type(Depth=2)
    state = applied(None, flat, *(turn("apply", name, EAST) for name in "abcde"))
    assert shape_of(state) == {"b+": "", **dict.fromkeys("abcde", "b+")}


def test_an_immediate_retraction_leaves_no_trace() -> None:
    before = applied(None, TALK, *(turn("apply", name, vector) for name, vector in (("a", EAST), ("b", NORTH), ("c", NEAR_EAST))))
    for vector in (EAST, NORTH, NEAR_EAST, (0.0, 0.0, 1.0)):
        after = applied(before, TALK, turn("apply", "x", vector), turn("retract", "x", vector), first=3)
        assert nodes_without_positions(after) == nodes_without_positions(before)


def nodes_without_positions(state: Any) -> dict[str, Any]:
    return {key: {**node, "since": ""} for key, node in nodes_of(state).items()}


def test_a_retracted_leaf_removes_its_node() -> None:
    state = applied(None, TALK, turn("apply", "a", EAST), turn("apply", "b", NEAR_EAST), turn("retract", "a", EAST))
    assert shape_of(state) == {"b": ""}
    empty = applied(state, TALK, turn("retract", "b", NEAR_EAST), first=3)
    assert empty.properties == {}
    assert empty.empty


def test_the_oldest_leaf_leaves_a_full_tree() -> None:
    state = applied(None, SMALL, *(turn("apply", f"e{each:02}", _axis(each)) for each in range(17)))
    assert len(nodes_of(state)) == 16
    assert "e00" not in nodes_of(state)
    state = applied(state, SMALL, turn("retract", "e00", _axis(0)), first=17)
    assert state.live == 16
    result = apply_contribution(state, contribution(turn("retract", "e00", _axis(0)), position=18), SMALL)
    assert [each.reason for each in result.refused] == ["not_applied"]


def test_a_merged_leaf_can_still_be_retracted() -> None:
    pair = [turn("apply", "e00", _axis(0)), turn("apply", "e01", _axis(0))]
    state = applied(None, SMALL, *pair, *(turn("apply", f"e{each:02}", _axis(each)) for each in range(2, 16)))
    inner = nodes_of(state)["e01+"]
    assert [each["id"] for each in inner["events"]] == ["e00"]
    assert inner["count"] == 2
    state = applied(state, SMALL, turn("retract", "e00", _axis(0)), first=16)
    assert nodes_of(state)["e01"]["parent"] == "", "the remaining leaf takes the place of the inner node"


def _axis(number: int) -> list[float]:
    return [float(each == number) for each in range(20)]


@pytest.mark.parametrize(("change", "reason"), [("vector", "no_vector"), ("dimension", "other_dimension"), ("again", "already_applied")])
def test_an_unusable_event_is_refused(change: str, reason: str) -> None:
    state = applied(None, TALK, turn("apply", "a", EAST))
    added = turn("apply", "b", EAST)
    if change == "vector":
        added = added.model_copy(update={"value": {**added.value, "vector": None}})  # type: ignore[dict-item]
    elif change == "dimension":
        added = turn("apply", "b", (1, 0, 0, 0))
    else:
        added = turn("apply", "a", EAST)
    result = apply_contribution(state, contribution(added, position=1), TALK)
    assert [each.reason for each in result.refused] == [reason]
    assert nodes_of(result.state) == nodes_of(state)


@given(st.lists(st.tuples(st.booleans(), vectors, st.integers(0, 40)), max_size=60))
def test_every_tree_is_consistent_and_repeatable(steps: list[tuple[bool, tuple[int, ...], int]]) -> None:
    changes, present = _changes(steps)
    state = _run(changes)
    assert orjson.dumps(state, option=orjson.OPT_SORT_KEYS) == orjson.dumps(_run(changes), option=orjson.OPT_SORT_KEYS)
    nodes = {} if state is None else state.get("nodes", {})
    assert len(nodes) <= 16
    children = children_of(nodes)
    named = [each["id"] for node in nodes.values() for each in node["events"]]
    assert len(named) == len(set(named))
    unnamed = (0 if state is None else state.get("unnamed", 0)) + sum(node["unnamed"] for node in nodes.values())
    assert len(named) + unnamed == len(present)
    for key, node in nodes.items():
        assert node["parent"] == "" or nodes[node["parent"]]["inner"]
        below = [nodes[each] for each in children.get(key, ())]
        assert node["count"] == sum(each["count"] for each in below) + len(node["events"]) + node["unnamed"]
        assert _depth(nodes, key) <= 4
        if below and not node["events"] and not node["unnamed"]:
            total = np.sum([read_vector(each["vector"]).astype(np.int64) for each in below], axis=0)
            assert read_vector(node["vector"]).tolist() == total.tolist()
            assert len(below) > 1


def _changes(steps: list[tuple[bool, tuple[int, ...], int]]) -> tuple[list[Change], dict[str, tuple[int, ...]]]:
    present: dict[str, tuple[int, ...]] = {}
    changes: list[Change] = []
    for number, (is_retraction, vector, which) in enumerate(steps):
        if is_retraction and present:
            name = sorted(present)[which % len(present)]
            changes.append(turn("retract", name, present.pop(name)))
        else:
            present[f"e{number:02}"] = vector
            changes.append(turn("apply", f"e{number:02}", vector))
    return changes, present


def _run(changes: list[Change]) -> Any:
    tree = operator(SMALL)
    state = None
    for position, each in enumerate(changes):
        operand = Operand(each.value, 0, each.source_id, 0, "extractions/0", position)
        before = orjson.dumps(state)
        after = tree.apply(state, operand) if each.op == "apply" else tree.retract(state, operand)
        assert orjson.dumps(state) == before, "a state is never changed in place"
        state = orjson.loads(orjson.dumps(after, option=orjson.OPT_SORT_KEYS))
    return state


def _depth(nodes: dict[str, Any], key: str) -> int:
    parent = nodes[key]["parent"]
    return 1 if parent == "" else 1 + _depth(nodes, parent)


@given(st.lists(st.integers(-(2**31) + 1, 2**31 - 1), min_size=1, max_size=8).filter(any))
def test_vectors_survive_their_text(numbers: list[int]) -> None:
    assert read_vector(written_vector(np.array(numbers, dtype=np.float64))).tolist() == numbers


def test_cosines_equal_those_of_floats() -> None:
    random = np.random.default_rng(7)
    raw = [unit(random.normal(size=256).astype(np.float32)) for _ in range(5)]
    whole = [vector_of(encode_vector(each)) for each in raw]
    nodes = [{"vector": written_vector(each)} for each in whole]
    expected = [float(raw[0] @ each) for each in raw]
    assert cosines(whole[0], nodes).tolist() == pytest.approx(expected, abs=0.01)  # type: ignore[arg-type]
    with pytest.raises(RefusedChangeError, match="other_dimension"):
        cosines(whole[0][:4], nodes)  # type: ignore[arg-type]


def test_an_empty_tree_is_empty() -> None:
    assert Tree({}).is_empty
    assert not Tree({}, 1).is_empty
