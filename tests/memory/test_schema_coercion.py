"""Coercion: a value is converted if that is safe; otherwise it alone is left out and counted."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.schema import EventType, Property, coerce_properties, coerce_value
from memory.schema.model import ValueType

TYPES: list[ValueType] = ["int64", "float32", "string", "bool", "list<int64>", "list<float32>", "list<string>", "list<bool>"]
PYTHON: dict[str, type] = {"int64": int, "float32": float, "string": str, "bool": bool}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)


def is_of(value: Any, value_type: str) -> bool:
    if value_type.startswith("list<"):
        return isinstance(value, list) and all(is_of(each, value_type[5:-1]) for each in value)
    return type(value) is PYTHON[value_type]


@pytest.mark.parametrize(
    ("value", "value_type", "expected"),
    [
        ("3", "int64", 3),
        (" -12 ", "int64", -12),
        ("3.0", "int64", 3),
        (4.0, "int64", 4),
        ("0.5", "float32", 0.5),
        ("1e3", "float32", 1000.0),
        (2, "float32", 2.0),
        (7, "string", "7"),
        (-(2**70), "string", str(-(2**70))),
        (True, "string", "true"),
        ("Yes", "bool", True),
        (0, "bool", False),
        ("run", "list<string>", ["run"]),
        (["1", 2], "list<int64>", [1, 2]),
    ],
)
def test_safe_values_are_converted_to_their_type(value: object, value_type: ValueType, expected: object) -> None:
    assert coerce_value(value, value_type) == expected


@pytest.mark.parametrize(
    ("value", "value_type"),
    [
        ("3.5", "int64"),
        ("three", "int64"),
        (2**63, "int64"),
        (True, "int64"),
        (float("nan"), "float32"),
        (float("inf"), "float32"),
        (1e39, "float32"),
        ("1,5", "float32"),
        ("٣", "int64"),
        (2, "bool"),
        ("maybe", "bool"),
        ({"a": 1}, "string"),
        (10**400, "string"),
        ([10**5000], "list<string>"),
        (-(10**400), "float32"),
        ("\ud800", "string"),
        ([1, "x"], "list<int64>"),
    ],
)
def test_guesses_are_not_made(value: object, value_type: ValueType) -> None:
    assert coerce_value(value, value_type) is None


@given(ANYTHING, st.sampled_from(TYPES))
def test_a_coerced_value_has_the_type_and_is_stable(value: object, value_type: ValueType) -> None:
    coerced = coerce_value(value, value_type)
    if coerced is None:
        return
    assert is_of(coerced, value_type)
    assert orjson.loads(orjson.dumps(coerced)) == coerced
    assert coerce_value(coerced, value_type) == coerced


EVENT = EventType(
    name="workout",
    description="",
    properties=(
        Property(name="kind", value_type="string"),
        Property(name="minutes", value_type="int64"),
        Property(name="laps", value_type="list<int64>"),
    ),
)


def test_only_the_bad_property_is_dropped() -> None:
    coerced = coerce_properties(EVENT, {"minutes": "half an hour", "laps": ["1", "x", 3, None], "kind": "run", "mood": "good", "pace": 5})
    assert coerced.properties == {"kind": "run", "laps": [1, 3]}
    assert {(each.reason, each.count) for each in coerced.dropped} == {("not_int64", 1), ("bad_list_item", 2), ("unknown_property", 2)}
    assert {each.what for each in coerced.dropped} == {"property"}


def test_missing_and_null_values_are_no_fault() -> None:
    assert coerce_properties(EVENT, {"minutes": None}).properties == {}
    assert coerce_properties(EVENT, {"minutes": None}).dropped == ()


@given(st.dictionaries(st.sampled_from(["kind", "minutes", "laps", "else"]), ANYTHING))
def test_any_properties_are_coerced_to_the_event_type(properties: dict[str, object]) -> None:
    coerced = coerce_properties(EVENT, properties)
    assert list(coerced.properties) == [each.name for each in EVENT.properties if each.name in coerced.properties]
    assert all(is_of(coerced.properties[each.name], each.value_type) for each in EVENT.properties if each.name in coerced.properties)
