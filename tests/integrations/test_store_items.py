"""Items of a store as messages and events."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from varve_integrations.store_items import (
    ITEM_TYPE,
    LONGEST_VALUE,
    SCHEMA,
    Address,
    ItemTooLargeError,
    StoredItem,
    expiry,
    new_version,
    newest,
    time_of_version,
)

from extraction.bounds import bounded_value
from memory.messages.binary_data import message_without_binary
from memory.records import Message
from memory.schema import coerce_properties, parse_schema
from tests.letter_flow import NOON

texts = st.text(max_size=30)
binary = st.builds(
    lambda start, data, count: start + data * count,
    st.sampled_from(["", "data:image/png;base64,", "DATA:text/plain,", "\\data:,", "see data:;base64,"]),
    st.sampled_from(["iVBORw0KGgoAAAANSUhEUgAAAAUA", "0123456789abcdef", "x", " ", "ä", "\n", "\t", "\\"]),
    st.integers(0, 300),
)
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts, binary),
    lambda children: st.one_of(st.lists(children, max_size=3), st.dictionaries(texts, children, max_size=3)),
    max_leaves=8,
)
addresses = st.builds(Address, st.lists(texts, max_size=3).map(tuple), texts)
moments = st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC))


def item(value: Mapping[str, Any] | None = None, *, version: str = "", **fields: Any) -> StoredItem:
    known = {"address": Address(("a",), "k"), "user": "ann", "created_at": NOON, "updated_at": NOON}
    return StoredItem(**{**known, "value": value or {}, "version": version or new_version(NOON, []), **fields})


def properties_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The properties of the event that the service makes of a message."""
    fields = {**message, "schema_version": "1.0", "tenant": "acme"}
    seen = message_without_binary(Message.model_validate(fields))
    assert seen.tool_call is not None
    assert isinstance(seen.tool_call.arguments, dict)
    event_type = parse_schema(SCHEMA).event_type(ITEM_TYPE)
    assert event_type is not None
    coerced = coerce_properties(event_type, {name: bounded_value(value) for name, value in seen.tool_call.arguments.items()})
    assert coerced.dropped == ()
    return coerced.properties


@given(
    addresses,
    st.dictionaries(texts, json_values, max_size=4),
    moments,
    st.one_of(st.none(), st.floats(0.001, 1e6)),
    st.one_of(st.none(), st.lists(texts, max_size=2).map(tuple)),
)
def test_an_item_survives_the_service(
    address: Address, value: dict[str, Any], now: datetime, ttl: float | None, index: tuple[str, ...] | None
) -> None:
    stored = item(
        value,
        address=address,
        version=new_version(now, []),
        created_at=now,
        updated_at=now,
        ttl_minutes=ttl,
        expires_at=expiry(now, ttl),
        index=index,
    )
    message = stored.message("text")
    assert StoredItem.of_message(message) == stored
    assert StoredItem.of_properties(properties_of(message), "ann") == stored


@given(st.lists(st.tuples(addresses, texts), min_size=2, max_size=2, unique=True))
def test_every_item_has_its_own_session(pairs: list[tuple[Address, str]]) -> None:
    sessions = {address.session(user) for address, user in pairs}
    assert len(sessions) == 2
    assert all(len(each) <= 256 for each in sessions)


@given(st.lists(moments, min_size=1, max_size=5))
def test_later_versions_sort_after_earlier_ones(clock: list[datetime]) -> None:
    versions: list[str] = []
    for now in clock:
        versions.append(new_version(now, versions))
    assert versions == sorted(versions)
    assert len(set(versions)) == len(versions)
    assert all(time_of_version(version) >= now for version, now in zip(versions, clock, strict=True))


def test_the_newest_version_counts() -> None:
    first = item({"n": 1})
    second = item({"n": 2}, version=new_version(NOON, [first.version]))
    other = item({"n": 3}, address=Address(("b",), "k"))
    assert newest([second, first, other]) == {first.address: second, other.address: other}


def test_a_lifetime_ends() -> None:
    stored = item(expires_at=expiry(NOON, 10.0))
    assert stored.is_alive(NOON + timedelta(minutes=9))
    assert not stored.is_alive(NOON + timedelta(minutes=10))
    assert item(expires_at=expiry(NOON, None)).is_alive(NOON + timedelta(days=10_000))


@pytest.mark.parametrize(
    ("stored", "field"),
    [
        (item({"text": "x" * LONGEST_VALUE}), "value: "),
        (item(address=Address(("a" * 1000, "b" * 1000), "k")), "namespace and key: "),
        (item(index=("path" * 600,)), "index: "),
    ],
)
def test_oversized_values_are_refused(stored: StoredItem, field: str) -> None:
    with pytest.raises(ItemTooLargeError, match=field):
        stored.message("text")


@pytest.mark.parametrize(("value", "error"), [({"n": float("nan")}, ValueError), ({"n": {1}}, TypeError)])
def test_values_that_are_not_json_are_refused(value: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        item(value).message("text")


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"address": "[]", "version": "1", "value": ["{}"]},
        {"address": '["a", "k"]', "version": "1", "value": ["{"], "created_at": NOON.isoformat(), "updated_at": NOON.isoformat()},
        {"address": '["a", "k"]', "version": "1", "value": ["{}"], "created_at": "noon", "updated_at": NOON.isoformat()},
    ],
)
def test_other_events_are_no_items(properties: dict[str, Any]) -> None:
    assert StoredItem.of_properties(properties, "ann") is None


def test_other_messages_are_no_items() -> None:
    stored = item().message("text")
    assert StoredItem.of_message({**stored, "tool_call": {**stored["tool_call"], "name": "weather"}}) is None
    assert StoredItem.of_message({**stored, "tool_call": None}) is None
    assert StoredItem.of_message({"user": "ann", "text": json.dumps(stored)}) is None
