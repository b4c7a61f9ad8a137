from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.headers import ORIGIN
from memory.keys import encode_key
from memory.positions import LogPosition
from memory.records import DeadLetterMetadata
from runtime.dead_letters import DeadLetter, DeadLetterSelection, DeadLetterWithContent, read_metadata, without_metadata
from runtime.dead_letters.metadata import Outcome, Resolution, headers_to_redrive, read_resolution, resolution_headers, tenant_of
from runtime.dead_letters.records import DeadLetterState, apply_resolutions, deletable_before

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
METADATA = DeadLetterMetadata(
    topic="varve.messages",
    partition=3,
    offset=17,
    stage="sessions",
    reason="malformed",
    detail="no JSON",
    tries=1,
    tenant="acme",
    first_time=NOON,
    last_time=NOON,
)


def at(partition: int, offset: int) -> LogPosition:
    return LogPosition("varve.dead-letters", partition, offset)


FIRST = at(0, 0)


def letter(position: LogPosition = FIRST, *, state: DeadLetterState = "open", **metadata: object) -> DeadLetter:
    return DeadLetter(position, METADATA.model_copy(update=metadata), b"acme/s", 10, state)


@pytest.mark.parametrize(
    ("selection", "matches"),
    [
        (DeadLetterSelection(), True),
        (DeadLetterSelection(tenant="acme", stage="sessions", reason="malformed"), True),
        (DeadLetterSelection(tenant="other"), False),
        (DeadLetterSelection(stage="index"), False),
        (DeadLetterSelection(reason="too_large"), False),
        (DeadLetterSelection(since=NOON), True),
        (DeadLetterSelection(since=NOON + timedelta(seconds=1)), False),
        (DeadLetterSelection(until=NOON), False),
        (DeadLetterSelection(until=NOON + timedelta(seconds=1)), True),
        (DeadLetterSelection(positions=frozenset({at(0, 0), at(1, 1)})), True),
        (DeadLetterSelection(positions=frozenset({at(1, 0)})), False),
        (DeadLetterSelection(states=frozenset({"redriven"})), False),
    ],
)
def test_a_selection_requires_all_its_conditions(selection: DeadLetterSelection, matches: bool) -> None:
    assert selection.matches(letter()) is matches


def test_a_dead_letter_of_an_unknown_tenant_is_hidden() -> None:
    assert not DeadLetterSelection(tenant="acme").matches(letter(tenant=None))
    assert DeadLetterSelection().matches(letter(tenant=None))


@pytest.mark.parametrize(
    ("key", "value", "tenant"),
    [
        (encode_key("acme", "s"), b'{"tenant": "umbrella"}', "umbrella"),
        (encode_key("acme", "s"), b"\xff", "acme"),
        (encode_key("acme", "s"), b'["tenant"]', "acme"),
        (encode_key("acme", "s"), b'{"tenant": 7}', "acme"),
        (encode_key("acme", "s"), None, "acme"),
        (b"\xff", b"", None),
        (None, None, None),
    ],
)
def test_the_value_names_the_tenant_before_the_key(key: bytes | None, value: bytes | None, tenant: str | None) -> None:
    assert tenant_of(key, value) == tenant


def test_a_selection_refuses_times_without_a_zone() -> None:
    with pytest.raises(ValueError, match="needs a time zone"):
        DeadLetterSelection(since=NOON.replace(tzinfo=None))


@given(st.integers(min_value=0), st.sampled_from(get_args(Outcome)), st.datetimes(timezones=st.just(UTC)))
def test_a_resolution_is_read_back_and_is_no_letter(offset: int, outcome: Outcome, time: datetime) -> None:
    resolution = Resolution(offset, outcome, time)
    headers = resolution_headers(resolution)
    assert read_resolution(headers) == resolution
    assert read_metadata(headers) is None
    assert read_resolution([(name, value) for name, value in headers if name != "varve-settled"]) is None


def test_a_redriven_record_has_its_headers_and_origin() -> None:
    own = (("traceparent", b"00-1"), ("app", b"x"), ("app", b"y"))
    metadata = [("varve-dlq-reason", b"malformed"), ("varve-dlq-answer", b"{")]
    first = headers_to_redrive([*own, *metadata], METADATA)
    assert first == (*own, (ORIGIN, b"varve.messages/3/17"))
    assert without_metadata([*own, *metadata]) == own
    elsewhere = METADATA.model_copy(update={"offset": 99})
    assert headers_to_redrive([*first, *metadata], elsewhere) == first, "a second redrive must not change the identity"


def test_the_newest_resolution_counts_unless_purged_before() -> None:
    one, other = letter(at(0, 5)), letter(at(1, 5))
    resolved = apply_resolutions([one, other], [(0, Resolution(5, "redriven", NOON)), (0, Resolution(6, "purged", NOON))])
    assert resolved == [replace(one, state="redriven", settled_at=NOON), other]
    (purged,) = apply_resolutions([one], [(0, Resolution(5, "purged", NOON)), (0, Resolution(5, "redriven", NOON))])
    assert purged.state == "purged"


def test_only_records_before_unpurged_dead_letters_are_deletable() -> None:
    letters = [
        letter(at(0, 0), state="purged"),
        letter(at(0, 1), state="redriven"),
        letter(at(0, 2), state="purged"),
        letter(at(1, 0), state="open"),
        letter(at(1, 4), state="purged"),
        letter(at(2, 3), state="purged"),
        letter(at(3, 3), state="open"),
    ]
    assert deletable_before(letters, {0: 9, 1: 9, 2: 9, 3: 9}) == {0: 1, 2: 9}


def test_binary_content_is_shown_as_base64() -> None:
    assert DeadLetterWithContent(letter(), b"k", b"\xff\x00", (("h", b"\xff"),), None).as_json()["value_base64"] == "/wA="
    shown = DeadLetterWithContent(letter(), b"k", "né".encode(), (("h", b"\xff"),), "raw").as_json()
    assert shown["value"] == "né"
    assert shown["headers"] == [["h", "\\xff"]]
    assert (shown["place"], shown["tenant"], shown["answer"]) == ("0/0", "acme", "raw")


def test_a_redriven_copy_has_its_first_place_as_origin() -> None:
    place = ("varve-place", b"varve.extractions/3/41")
    assert dict(headers_to_redrive([("app", b"1"), place], METADATA)) == {"app": b"1", ORIGIN: b"varve.extractions/3/41"}
