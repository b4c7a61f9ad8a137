"""Filters of a store."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from varve_integrations.store_queries import has_prefix, has_suffix, listed, matches

VALUE = {"name": "Ann", "age": 30, "score": "4.5", "tags": ["a", {"b": 1}], "home": {"city": "Bergen", "zip": 5003}}

labels = st.sampled_from(["a", "b", "*"])
paths = st.lists(labels, max_size=4).map(tuple)


@pytest.mark.parametrize(
    "conditions",
    [
        None,
        {},
        {"name": "Ann", "age": 30},
        {"age": {"$eq": 30, "$gt": 29, "$gte": 30, "$lt": 31, "$lte": 30, "$ne": 29}},
        {"score": {"$gt": 4}},
        {"tags": ["a", {"b": 1}]},
        {"tags": ("a", {"b": {"$lt": 2}})},
        {"home": {"city": "Bergen"}},
        {"home": {"zip": {"$gte": 5000}}},
        {"missing": None},
        {"missing": {"$ne": 1}},
    ],
)
def test_fulfilled_conditions(conditions: dict[str, Any] | None) -> None:
    assert matches(VALUE, conditions)


@pytest.mark.parametrize(
    "conditions",
    [
        {"name": "Ann", "age": 31},
        {"age": {"$gt": 29, "$lt": 30}},
        {"name": {"$gt": 0}},
        {"missing": {"$lt": 1}},
        {"age": {"$lt": "old"}},
        {"tags": ["a"]},
        {"tags": "a"},
        {"home": {"city": "Oslo"}},
        {"name": {"city": "Bergen"}},
        {"missing": 1},
    ],
)
def test_conditions_that_are_not_fulfilled(conditions: dict[str, Any]) -> None:
    assert not matches(VALUE, conditions)


def test_an_unknown_comparison_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"\$in: unknown comparison; expected one of \$eq, \$ne, \$gt"):
        matches(VALUE, {"age": {"$in": [30]}})


@given(paths, paths)
def test_a_suffix_is_a_prefix_of_the_reverse(namespace: tuple[str, ...], path: tuple[str, ...]) -> None:
    assert has_suffix(namespace, path) == has_prefix(namespace[::-1], path[::-1])
    assert has_prefix((*path, *namespace), path)
    assert has_suffix((*namespace, *path), path)
    assert has_prefix(namespace, ("*",) * len(namespace))
    assert not has_prefix(namespace, (*namespace, "*"))


@given(st.lists(paths, max_size=6), st.integers(1, 3), st.integers(0, 3), st.integers(1, 3))
def test_pages_of_namespaces(namespaces: list[tuple[str, ...]], depth: int, offset: int, limit: int) -> None:
    everything = listed(namespaces, max_depth=depth, limit=100, offset=0)
    assert everything == sorted({each[:depth] for each in namespaces})
    assert listed(namespaces, max_depth=depth, limit=limit, offset=offset) == everything[offset : offset + limit]
    assert listed(namespaces, max_depth=None, limit=100, offset=0) == sorted(set(namespaces))
