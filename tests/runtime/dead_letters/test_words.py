"""The words of any record: fields at any depth, in JSON that may be broken."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.dead_letters.log import owners_in, texts_in_field

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["user", "tenant", "memory", "a"]), inner, max_size=3),
    max_leaves=12,
)


def held(parsed: object, name: str) -> set[str]:
    if isinstance(parsed, dict):
        own = {parsed[name]} if isinstance(parsed.get(name), str) else set()
        return own.union(*(held(each, name) for each in parsed.values()))
    return set().union(*(held(each, name) for each in parsed)) if isinstance(parsed, list) else set()


def test_fields_are_found_at_any_depth() -> None:
    value = orjson.dumps({"user": "ann", "memory": {"user": "bob", "events": [{"user": "eve"}, {"user": 3}, "user"]}})
    assert texts_in_field(value, "user") == {"ann", "bob", "eve"}
    assert texts_in_field(value, "tenant") == set()


@given(PLAIN)
def test_words_are_found_in_the_fields_of_json(parsed: object) -> None:
    assert texts_in_field(orjson.dumps(parsed), "user") == held(parsed, "user")


@given(st.lists(TEXT, max_size=3), st.booleans(), st.sampled_from(["", " ", "\n"]))
def test_words_are_found_in_broken_json(users: list[str], escapes: bool, space: str) -> None:
    written = ", ".join(f'"user"{space}:{space}{json.dumps(each, ensure_ascii=escapes)}' for each in users)
    assert texts_in_field(f'{{{written}, "text": "half a mes'.encode(), "user") == set(users)


@pytest.mark.parametrize(
    "value", [b'{"user": "ann', b'{"user": "\\x"', b'{"user": "\xff"', b'{"users": "ann"', b'{"text": "user: ann', b"\xff"]
)
def test_half_a_name_is_no_name(value: bytes) -> None:
    assert texts_in_field(value, "user") == set()


def test_json_may_be_nested_deeper_than_calls() -> None:
    depth = 1000
    value = b'{"a":' * depth + b'{"user":"ann"}' + b"}" * depth
    assert texts_in_field(value, "user") == {"ann"}


@pytest.mark.parametrize(
    ("value", "owners"),
    [
        ({"user": "ann", "metadata": {"user": "bob"}}, {"ann"}),
        ({"memory": {"user": "ann", "properties": {"user": "bob"}}}, {"ann"}),
        ({"user": None, "changes": [{"user": "ann"}]}, {"ann"}),
        ({"payload": {"user": "ann"}}, {"ann"}),
        ([{"user": "ann"}], {"ann"}),
        ("ann", set()),
    ],
)
def test_a_record_belongs_to_the_first_user_it_names(value: object, owners: set[str]) -> None:
    assert owners_in(orjson.dumps(value)) == owners


def test_broken_json_belongs_to_every_user_it_names() -> None:
    assert owners_in(b'{"user": "ann", "metadata": {"user": "bob"') == {"ann", "bob"}


@given(st.binary(max_size=60))
def test_any_bytes_are_read(value: bytes) -> None:
    assert isinstance(texts_in_field(value, "user"), set)
