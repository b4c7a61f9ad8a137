"""VikingDB's filters, against a second reading of them in plain Python."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from varve_client import Memory

from api.viking.errors import FilterError
from api.viking.filters import (
    ALL_FIELDS,
    DELETE_FIELDS,
    EVENT_TYPES,
    MAX_VALUES,
    PROFILE_FIELDS,
    PROFILE_TYPES,
    SEARCH_FIELDS,
    Selection,
    parse_filter,
    parse_primary_key,
)
from api.viking.owners import Owner

NAMES = ("ann", "bob", "cy/1", "d&e", "100%")
names = st.sampled_from(NAMES)
optional_names = st.one_of(st.none(), names)
texts = st.text(min_size=1, max_size=10)


def a_memory(
    user: str | None, assistant: str | None, group: str | None, session: str | None, properties: dict[str, Any] | None = None
) -> Memory:
    owner = Owner(user_id=user or "x", assistant_id=assistant, group_id=group)
    return Memory(
        id="m",
        kind="event",
        type="fact",
        content="x",
        event_time=datetime(2024, 5, 6, tzinfo=UTC),
        user=user,
        session=session,
        evidence=["m1", owner.message_id("1")],
        properties=properties or {},
    )


one_or_more = st.one_of(names, st.lists(names, min_size=1, max_size=3))


@given(
    st.fixed_dictionaries({"user_id": one_or_more}, optional=dict.fromkeys(("assistant_id", "group_id", "session_id"), one_or_more)),
    names,
    optional_names,
    optional_names,
    optional_names,
)
def test_every_field_must_have_one_of_its_values(
    fields: dict[str, Any], user: str, assistant: str | None, group: str | None, session: str | None
) -> None:
    found = {"user_id": user, "assistant_id": assistant, "group_id": group, "session_id": session}
    expected = all(found[field] in (value if isinstance(value, list) else [value]) for field, value in fields.items())
    chosen = parse_filter(fields, allowed=ALL_FIELDS)
    assert chosen.accepts(a_memory(user, assistant, group, session)) is expected
    if expected:
        assert user in chosen.asked_users


@given(st.dictionaries(texts.filter(lambda each: not {"&", "="} & {*each}), texts.filter(lambda each: "&" not in each), min_size=1))
def test_a_primary_key_is_read_as_it_was_written(key: dict[str, str]) -> None:
    assert parse_primary_key("&".join(f"{name}={value}" for name, value in key.items())) == key


@given(st.text(max_size=20))
def test_any_text_is_a_primary_key_or_refused(text: str) -> None:
    key = None
    with suppress(FilterError):
        key = parse_primary_key(text)
    assert key is None or "&".join(f"{name}={value}" for name, value in key.items()) == text


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)


@given(st.one_of(values, st.dictionaries(st.one_of(st.sampled_from([*ALL_FIELDS, "event_type"]), st.text(max_size=5)), values)))
def test_any_value_is_a_filter_with_owner_or_refused(fields: Any) -> None:
    chosen = None
    with suppress(FilterError):
        chosen = parse_filter(fields, allowed=ALL_FIELDS)
    assert chosen is None or chosen.users or chosen.assistants


@pytest.mark.parametrize("allowed", [SEARCH_FIELDS, PROFILE_FIELDS, ALL_FIELDS, DELETE_FIELDS])
@pytest.mark.parametrize(
    ("fields", "named"),
    [
        (None, "expected an object"),
        ({}, "user_id or assistant_id is required"),
        ({"group_id": "club"}, "user_id or assistant_id is required"),
        ({"user_id": None}, "user_id or assistant_id is required"),
        ({"user_id": []}, "filter.user_id"),
        ({"user_id": ""}, "filter.user_id"),
        ({"user_id": 7}, "filter.user_id"),
        ({"user_id": ["ann", None]}, "filter.user_id"),
        ({"user_id": [str(each) for each in range(MAX_VALUES + 1)]}, "values"),
        ({"user_id": "ann", "colour": "red"}, "filter.colour"),
        ({"user_id": "ann", "start_time": "yesterday"}, "filter.start_time"),
        ({"user_id": "ann", "end_time": True}, "filter.end_time"),
        ({"user_id": "ann", "end_time": 10**18}, "filter.end_time"),
        ({"user_id": "ann", "start_time": 2, "end_time": 1}, "start_time is after end_time"),
        ({"user_id": "ann", "profile_date": "2025/12/01"}, "as_of"),
    ],
)
def test_a_wrong_filter_is_refused_by_name(fields: Any, named: str, allowed: tuple[str, ...]) -> None:
    with pytest.raises(FilterError, match=named):
        parse_filter(fields, allowed=allowed)


@pytest.mark.parametrize(
    ("key", "expected"),
    [("user=ann", True), ("user=bob", False), ("who=Eve&user=ann", True), ("who=Tom&user=ann", False), (["user=bob", "who=Eve"], True)],
)
def test_a_primary_key_chooses_profiles(key: Any, expected: bool) -> None:
    chosen = parse_filter({"user_id": "ann", "primary_key": key}, allowed=PROFILE_FIELDS)
    assert chosen.accepts(a_memory("ann", None, None, None, {"user": "ann", "who": "Eve"})) is expected


def test_the_end_of_a_time_is_included() -> None:
    chosen = parse_filter({"user_id": "ann", "start_time": 1_700_000_000_000, "end_time": 1_700_000_000_000}, allowed=SEARCH_FIELDS)
    assert chosen.since is not None
    assert chosen.until is not None
    assert chosen.since < chosen.until


@pytest.mark.parametrize(
    ("types", "kinds", "expected"),
    [
        (None, ("event", "entity"), [Selection(kinds=("event", "entity"))]),
        (["sys_event_v1"], ("event", "entity"), [Selection(kinds=("event",))]),
        (["event_v1", "profile_v1"], ("event", "entity"), [Selection(kinds=("event", "entity"))]),
        (["mood"], ("event",), [Selection(kinds=("event",), types=("mood",))]),
        (["event_v1", "mood"], ("event",), [Selection(kinds=("event",))]),
        (
            ["event_v1", "user_profile"],
            ("event", "entity"),
            [Selection(kinds=("event",)), Selection(kinds=("entity",), types=("user_profile",))],
        ),
    ],
)
def test_types_select_the_requested_kinds(types: Any, kinds: tuple[str, ...], expected: list[Selection]) -> None:
    chosen = parse_filter({"user_id": "ann", "memory_type": types}, allowed=ALL_FIELDS)
    assert [*chosen.selections(kinds)] == expected


@pytest.mark.parametrize(
    ("name", "kind", "call"),
    [
        *((each, "event", "search_profile_memory") for each in sorted(PROFILE_TYPES)),
        *((each, "entity", "search_event_memory") for each in sorted(EVENT_TYPES)),
    ],
)
def test_a_built_in_type_of_another_call_is_refused(name: str, kind: str, call: str) -> None:
    with pytest.raises(FilterError, match=call):
        parse_filter({"user_id": "ann", "memory_type": name}, allowed=ALL_FIELDS).selections((kind,))
