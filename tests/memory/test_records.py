"""Records on the wire: read as written; unknown fields are kept, newer major versions and broken records are refused."""

from contextlib import nullcontext, suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import MalformedRecordError, RecordError, RecordTooLargeError, UnsupportedVersionError
from memory.records import Contribution, Event, Extraction, Memory, Message, SessionCommand, Window
from memory.records.limits import MAX_NESTING, WINDOW_HEAD_BYTES, check_parsed_size
from memory.texts.text import problem_of_id
from tests.made_records import made_window

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
IDS = NAMES.filter(lambda text: problem_of_id(text) is None)
TIMES = st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.builds(
    Message,
    tenant=IDS,
    user=IDS,
    session=IDS,
    id=IDS | st.none(),
    role=st.sampled_from(["user", "assistant", "system", "tool"]),
    speaker=TEXT | st.none(),
    text=TEXT,
    event_time=TIMES,
    metadata=st.dictionaries(TEXT, JSON, max_size=3),
    from_recall=st.booleans(),
)
MESSAGE: dict[str, Any] = {"tenant": "acme", "user": "ann", "session": "s1", "text": "hi", "event_time": "2024-01-02T03:04:05Z"}


@given(MESSAGES)
def test_a_message_is_read_as_it_was_written(message: Message) -> None:
    read = Message.from_json(message.to_json())
    assert read == message
    assert read.to_json() == message.to_json()


@given(st.lists(MESSAGES, min_size=1, max_size=3))
def test_a_window_contains_its_complete_messages(messages: list[Message]) -> None:
    window = made_window(messages)
    assert Window.from_json(window.to_json()).messages == messages


@given(
    st.dictionaries(
        st.text("abcdefgh_", min_size=1).map(lambda name: f"new_{name}"), JSON.filter(lambda value: value is not None), max_size=4
    )
)
def test_unknown_fields_of_a_newer_minor_version_are_kept(unknown: dict[str, Any]) -> None:
    raw = orjson.dumps({**MESSAGE, "schema_version": "1.7", **unknown})
    written = orjson.loads(Message.from_json(raw).to_json())
    assert {name: written[name] for name in unknown} == unknown
    assert written["schema_version"] == "1.7"


@pytest.mark.parametrize("record", [Message, Event, Extraction, Window, Contribution, Memory, SessionCommand])
def test_a_newer_major_version_is_refused(record: type[Message]) -> None:
    with pytest.raises(UnsupportedVersionError, match="update Varve") as caught:
        record.from_json(b'{"schema_version": "2.0", "everything": "else"}')
    assert caught.value.reason == "unsupported_version"


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b'{"tenant": "\xff"}', "not JSON"),
        (b"[1, 2]", "record"),
        (b"null", "record"),
        (orjson.dumps({**MESSAGE, "tenant": ""}), "tenant"),
        (orjson.dumps({**MESSAGE, "event_time": "2024-01-02T03:04:05"}), "event_time"),
        (orjson.dumps({**MESSAGE, "role": "robot"}), "role"),
        (orjson.dumps({**MESSAGE, "schema_version": "one"}), "schema_version"),
        (orjson.dumps({**MESSAGE, "user": "x" * 257}), "user"),
    ],
)
def test_an_invalid_message_is_refused_naming_the_fault(raw: bytes, named: str) -> None:
    with pytest.raises(MalformedRecordError, match=named) as caught:
        Message.from_json(raw)
    assert caught.value.reason == "malformed"


@given(st.binary(max_size=80) | JSON.map(orjson.dumps))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    with suppress(RecordError):
        assert isinstance(Message.from_json(raw), Message)


@pytest.mark.parametrize(
    ("metadata", "path"),
    [
        ({"order": {"numbers": [1, 2**64]}}, "metadata.order.numbers.1"),
        ({"debt": -(2**63) - 1}, "metadata.debt"),
        ({"name": "\ud800"}, "metadata.name"),
    ],
)
def test_values_that_json_cannot_carry_are_refused(metadata: dict[str, Any], path: str) -> None:
    message = Message.from_fields({**MESSAGE, "metadata": metadata})
    with pytest.raises(MalformedRecordError, match=f"Message: {path}: .*write a larger number as text"):
        message.to_json()


@given(TIMES, st.integers(-12, 12))
def test_a_time_is_the_same_in_every_zone(time: datetime, hours: int) -> None:
    elsewhere = Message.from_fields({**MESSAGE, "event_time": time.astimezone(timezone(timedelta(hours=hours))).isoformat()})
    assert elsewhere.event_time == time


@pytest.mark.parametrize(("depth", "is_taken"), [(MAX_NESTING, True), (MAX_NESTING + 1, False)])
@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_lists_and_objects_nest_to_a_bound(depth: int, is_taken: bool, brackets: str) -> None:
    opening = '{"in":' if brackets == "{}" else "["
    value = orjson.loads(opening * (depth - 1) + brackets + brackets[1] * (depth - 1))
    with nullcontext() if is_taken else pytest.raises(MalformedRecordError, match=f"nested at most {MAX_NESTING} deep"):
        message = Message.from_fields({**MESSAGE, "metadata": {"deep": value}})
        assert Message.from_json(message.to_json()) == message


@pytest.mark.parametrize(
    ("time", "is_taken"),
    [
        ("1971-01-01T00:00:00Z", True),
        ("1971-01-01T14:00:00+14:00", True),
        ("1971-01-01T13:59:59+14:00", False),
        (0, False),
        ("0", False),
        ("1000-01-01T13:59:59+14:00", False),
        ("8999-12-31T23:59:59Z", True),
        ("8999-12-31T23:59:59-14:00", False),
    ],
)
def test_message_times_are_between_1971_and_9000(time: str | int, is_taken: bool) -> None:
    with nullcontext() if is_taken else pytest.raises(MalformedRecordError, match=r"event_time: .*(between 1000|before 1971)"):
        assert Message.from_fields({**MESSAGE, "event_time": time}).event_time.astimezone(UTC)


def test_only_the_first_problems_are_listed() -> None:
    with pytest.raises(MalformedRecordError) as refused:
        Extraction.from_fields({"segments": [{}] * 1000, "events": [0] * 500})
    detail = str(refused.value)
    assert detail.endswith("more problems")
    assert (detail.count("; "), len(detail) < 2000) == (20, True)


@given(JSON, st.integers(0, 40))
def test_a_size_is_read_before_anything_is_parsed(parsed: Any, room: int) -> None:
    """The check never refuses a text that fits. It always refuses ASCII text without escapes that does not fit."""
    size = len(orjson.dumps(parsed))
    with nullcontext() if size <= room else suppress(RecordTooLargeError):
        check_parsed_size(parsed, WINDOW_HEAD_BYTES + room)


@pytest.mark.parametrize(
    "parsed",
    ["x" * 99, ["x"] * 25 + ["xx"], [{}] * 33 + [1], {"a" * 45: "b" * 49}, {str(n): n for n in range(10, 21)}, [[[[1] * 20]] * 4] * 2],
    ids=["text", "texts", "objects", "names", "members", "lists"],
)
def test_a_byte_over_the_limit_is_too_large(parsed: Any) -> None:
    size = len(orjson.dumps(parsed))
    check_parsed_size(parsed, WINDOW_HEAD_BYTES + size)
    with pytest.raises(RecordTooLargeError, match=f"over the limit of {size // 2}"):
        check_parsed_size(parsed, WINDOW_HEAD_BYTES + size // 2)
