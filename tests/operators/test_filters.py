"""The WHERE clause: every operator, and what a missing or foreign value does."""

from typing import Any

import pytest

from memory.schema.model import Filter
from operators.filters import matches
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
def test_an_event_meets_a_filter_or_not(name: str, op: Any, value: Any, expected: bool) -> None:
    assert matches(RUN, Filter(property=name, op=op, value=value)) is expected
