"""Hints for unknown names: other services' names, other spellings and typing errors."""

import pytest

from memory.errors import MalformedRecordError
from memory.messages.message_preparation import MESSAGE_FIELDS
from memory.name_hints import meant_name, with_meant_name
from memory.records import Message

RECALL = ("query", "user", "session", "since", "until", "limit", "as_of", "min_confidence", "deadline_ms", "tokens")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("user_id", "user"),
        ("userId", "user"),
        ("session_id", "session"),
        ("thread_id", "session"),
        ("timestamp", "event_time"),
        ("eventTime", "event_time"),
        ("message", "text"),
        ("sender", "speaker"),
        ("colour", None),
        ("x" * 5_000, None),
    ],
)
def test_the_meant_field_of_a_message_is_found(given: str, meant: str | None) -> None:
    assert meant_name(given, MESSAGE_FIELDS) == meant


@pytest.mark.parametrize(
    ("given", "meant"),
    [("top_k", "limit"), ("maxTokens", "tokens"), ("question", "query"), ("asOf", "as_of"), ("usr", "user"), ("zzz", None)],
)
def test_the_meant_option_of_a_recall_is_found(given: str, meant: str | None) -> None:
    assert meant_name(given, RECALL) == meant


def test_a_name_without_a_hint_stays_alone() -> None:
    assert with_meant_name("user_id", ["user"]) == "user_id (did you mean 'user'?)"
    assert with_meant_name("colour", ["user"]) == "colour"


def test_a_field_that_was_given_was_not_meant() -> None:
    assert meant_name("user_id", MESSAGE_FIELDS, {"user": "ann", "user_id": "ann"}) is None
    assert meant_name("timestamp", MESSAGE_FIELDS, {"event_time"}) is None


def test_a_record_points_at_a_misnamed_field() -> None:
    fields = {"tenant": "acme", "user_id": "ann", "session": "s", "text": "x", "event_time": "2024-05-06T18:00:00Z", "colour": "red"}
    with pytest.raises(MalformedRecordError) as refused:
        Message.from_fields(fields)
    assert str(refused.value) == "Message: user: Field required; user_id (did you mean 'user'?): unknown name"
