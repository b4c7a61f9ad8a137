"""mem0's filter grammar, against a second reading of it in plain Python."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.mem0.filters import FilterError, MemoryFilters, parse_query_filters

ANN: dict[str, Any] = {
    "id": "m1",
    "memory": "I moved to Bergen",
    "user_id": "ann",
    "agent_id": "coach",
    "app_id": None,
    "run_id": None,
    "categories": ["life_event"],
    "created_at": "2024-05-06T12:00:00+00:00",
    "updated_at": "2024-05-06T12:00:00+00:00",
    "expiration_date": None,
}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (None, True),
        ({"user_id": "ann"}, True),
        ({"user_id": "bob"}, False),
        ({"user_id": "ann", "agent_id": "coach"}, True),
        ({"user_id": "*"}, True),
        ({"app_id": "*"}, False),
        ({"run_id": {"ne": "r1"}}, True),
        ({"user_id": {"in": ["bob", "ann"]}}, True),
        ({"user_id": ["bob", "ann"]}, True),
        ({"AND": [{"user_id": "ann"}, {"NOT": {"agent_id": "coach"}}]}, False),
        ({"OR": [{"user_id": "bob"}, {"agent_id": "coach"}]}, True),
        ({"created_at": {"gte": "2024-05-06", "lt": "2024-05-07"}}, True),
        ({"created_at": {"gt": "2024-05-07T00:00:00Z"}}, False),
        ({"timestamp": {"gte": 1714996800}}, True),
        ({"expiration_date": {"gte": "2020-01-01"}}, False),
        ({"categories": {"contains": "life_event"}}, True),
        ({"categories": {"in": ["work"]}}, False),
        ({"keywords": {"icontains": "bergen"}}, True),
        ({"keywords": {"contains": "bergen"}}, False),
        ({"memory_ids": ["m1", "m2"]}, True),
    ],
)
def test_a_filter_accepts_the_documented_grammar(fields: Any, expected: bool) -> None:
    assert MemoryFilters(fields).accepts(ANN) is expected


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"colour": "red"}, "filters.colour"),
        ({"user_id": {"nin": ["ann"]}}, "filters.user_id"),
        ({"user_id": 7}, "filters.user_id"),
        ({"created_at": {"gt": "yesterday"}}, "filters.created_at.gt"),
        ({"created_at": {"gt": True}}, "filters.created_at.gt"),
        ({"OR": []}, "filters.OR"),
        ({"AND": ["ann"]}, "object"),
        ({"metadata": {"team": "red"}}, "filters.metadata"),
        ("ann", "object"),
    ],
)
def test_a_wrong_filter_is_refused_by_name(fields: Any, named: str) -> None:
    with pytest.raises(FilterError, match=named):
        MemoryFilters(fields)


def test_deep_and_wide_filters_are_refused() -> None:
    deep: dict[str, Any] = {"user_id": "ann"}
    for _ in range(20):
        deep = {"NOT": deep}
    with pytest.raises(FilterError, match="nested"):
        MemoryFilters(deep)
    with pytest.raises(FilterError, match="conditions"):
        MemoryFilters({"OR": [{"user_id": str(each)} for each in range(200)]})


@pytest.mark.parametrize(
    ("fields", "users"),
    [
        ({"user_id": "ann"}, {"ann"}),
        ({"AND": [{"user_id": "ann"}, {"agent_id": "coach"}]}, {"ann"}),
        ({"OR": [{"user_id": "ann"}, {"user_id": "bob"}]}, {"ann", "bob"}),
        ({"OR": [{"user_id": "ann"}, {"agent_id": "coach"}]}, None),
        ({"NOT": {"user_id": "ann"}}, None),
        ({"user_id": "*"}, None),
        ({"user_id": {"ne": "ann"}}, None),
    ],
)
def test_a_filter_names_the_users_to_search(fields: Any, users: set[str] | None) -> None:
    found = MemoryFilters(fields).users
    assert (None if found is None else set(found)) == users


leaves = st.sampled_from(
    [{"user_id": "ann"}, {"user_id": "bob"}, {"agent_id": "coach"}, {"user_id": {"in": ["ann", "cy"]}}, {"categories": {"in": ["work"]}}]
)
filters = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda parts: {"AND": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"OR": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda part: {"NOT": part}, inner),
    ),
    max_leaves=8,
)


@given(filters, st.sampled_from(["ann", "bob", "cy"]), st.sampled_from(["coach", None]))
def test_no_accepted_memory_is_outside_the_users(fields: Any, user: str, agent: str | None) -> None:
    chosen = MemoryFilters(fields)
    item = {**ANN, "user_id": user, "agent_id": agent}
    if chosen.accepts(item) and chosen.users is not None:
        assert user in chosen.users


@pytest.mark.parametrize("text", ['{"user_id": "ann"}', "{'user_id': 'ann'}"])
def test_a_python_repr_is_read_as_a_filter(text: str) -> None:
    assert parse_query_filters(text) == {"user_id": "ann"}


@pytest.mark.parametrize("text", ["", "ann", "{'user_id'", "__import__('os')", "(" * 10_000])
def test_an_unreadable_filter_is_never_no_filter(text: str) -> None:
    with pytest.raises(FilterError, match="filters"):
        MemoryFilters(parse_query_filters(text))
