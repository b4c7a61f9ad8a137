"""The WHERE clause: every operator, and what a missing or foreign value does."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.schema.model import AllOf, AnyOf, Condition, Filter, Not
from operators.entities.filters import matches
from tests.operators.sport import event

RUN = event("e", kind="run", km=12.5, minutes=60, tags=["hills", "rain"], done=True)


@pytest.mark.parametrize(
    ("name", "op", "value", "expected"),
    [
        ("kind", "=", "run", True),
        ("kind", "=", "swim", False),
        ("kind", "!=", "swim", True),
        ("kind", "in", ["swim", "run"], True),
        ("kind", "in", [], False),
        ("kind", "contains", "ru", True),
        ("kind", "<", "sail", True),
        ("km", ">=", 12.5, True),
        ("km", ">", 12.5, False),
        ("minutes", "<=", 60.0, True),
        ("minutes", "=", 60.0, True),
        ("minutes", "<", "many", False),
        ("tags", "contains", "rain", True),
        ("tags", "contains", "snow", False),
        ("done", "=", True, True),
        ("done", "=", 1, False),
        ("done", ">", 0, False),
        ("missing", "=", "x", False),
        ("missing", "<", 3, False),
        ("missing", "contains", "x", False),
        ("missing", "!=", "x", True),
        ("importance", ">=", 0.5, True),
        ("type", "=", "workout", True),
        ("user", "=", "ann", True),
        ("session", "in", ["s1", "s2"], True),
    ],
)
def test_a_filter_accepts_or_rejects_an_event(name: str, op: Any, value: Any, expected: bool) -> None:
    assert matches(RUN, Filter(property=name, op=op, value=value)) is expected


FILTERS = st.builds(
    Filter, property=st.sampled_from(["kind", "km", "missing"]), op=st.sampled_from(["=", "!="]), value=st.sampled_from(["run", 12.5])
)
CONDITIONS: st.SearchStrategy[Condition] = st.recursive(
    FILTERS,
    lambda inner: (
        st.builds(AllOf, st.lists(inner, min_size=1, max_size=3).map(tuple))
        | st.builds(AnyOf, st.lists(inner, min_size=1, max_size=3).map(tuple))
        | st.builds(Not, inner)
    ),
    max_leaves=8,
)


@given(CONDITIONS, CONDITIONS)
def test_conditions_combine_as_in_logic(one: Condition, other: Condition) -> None:
    both, either = matches(RUN, AllOf((one, other))), matches(RUN, AnyOf((one, other)))
    assert both == (matches(RUN, one) and matches(RUN, other))
    assert either == (matches(RUN, one) or matches(RUN, other))
    assert matches(RUN, Not(AllOf((one, other)))) == matches(RUN, AnyOf((Not(one), Not(other))))


def test_not_holds_for_a_missing_property() -> None:
    assert matches(RUN, Not(Filter(property="missing", op="=", value="x")))
