from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.headers import ORIGIN
from memory.keys import encode_key
from memory.records import DeadLetter
from runtime.dead_letters import Letter, Opened, Place, Selection, read_metadata, without_metadata
from runtime.dead_letters.letters import removable, settled
from runtime.dead_letters.metadata import Note, headers_to_redrive, note_headers, read_note, tenant_of

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
STORY = DeadLetter(
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


FIRST = Place(0, 0)


def letter(place: Place = FIRST, **story: object) -> Letter:
    return Letter(place, STORY.model_copy(update=story), b"acme/s", 10)


@pytest.mark.parametrize(
    ("selection", "meant"),
    [
        (Selection(), True),
        (Selection(tenant="acme", stage="sessions", reason="malformed"), True),
        (Selection(tenant="other"), False),
        (Selection(stage="index"), False),
        (Selection(reason="too_large"), False),
        (Selection(since=NOON), True),
        (Selection(since=NOON + timedelta(seconds=1)), False),
        (Selection(until=NOON), False),
        (Selection(until=NOON + timedelta(seconds=1)), True),
        (Selection(places=frozenset({Place(0, 0), Place(1, 1)})), True),
        (Selection(places=frozenset({Place(1, 0)})), False),
        (Selection(states=frozenset({"redriven"})), False),
    ],
)
def test_a_selection_means_the_letters_that_meet_all_of_it(selection: Selection, meant: bool) -> None:
    assert selection.matches(letter()) is meant


def test_a_letter_of_an_unknown_tenant_is_nobodys() -> None:
    assert not Selection(tenant="acme").matches(letter(tenant=None))
    assert Selection().matches(letter(tenant=None))


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
def test_the_value_says_whose_letter_it_is_before_the_key_does(key: bytes | None, value: bytes | None, tenant: str | None) -> None:
    assert tenant_of(key, value) == tenant


def test_times_without_a_zone_and_odd_places_are_refused() -> None:
    with pytest.raises(ValueError, match="needs a time zone"):
        Selection(since=NOON.replace(tzinfo=None))
    assert Place.parse("3/17") == Place(3, 17)
    assert str(Place(3, 17)) == "3/17"
    for odd in ("3", "3/", "/3", "-1/3", "3/x"):
        with pytest.raises(ValueError, match="partition/offset"):
            Place.parse(odd)


@given(st.integers(min_value=0), st.sampled_from(["redriven", "superseded", "purged"]), st.datetimes(timezones=st.just(UTC)))
def test_a_note_is_read_as_it_was_written_and_is_no_letter(offset: int, how: str, time: datetime) -> None:
    note = Note(offset, how, time)  # type: ignore[arg-type]
    headers = note_headers(note)
    assert read_note(headers) == note
    assert read_metadata(headers) is None
    assert read_note([(name, value) for name, value in headers if name != "varve-settled"]) is None


def test_the_headers_of_a_redriven_record_are_its_own_and_its_first_place() -> None:
    own = [("traceparent", b"00-1"), ("app", b"x"), ("app", b"y")]
    story = [("varve-dlq-reason", b"malformed"), ("varve-dlq-answer", b"{")]
    first = headers_to_redrive([*own, *story], STORY)
    assert first == [*own, (ORIGIN, b"varve.messages/3/17")]
    assert without_metadata([*own, *story]) == tuple(own)
    elsewhere = STORY.model_copy(update={"offset": 99})
    assert headers_to_redrive([*first, *story], elsewhere) == first, "a second redrive must not change the identity"


def test_the_newest_note_counts_but_nothing_brings_back_what_was_purged() -> None:
    one, other = letter(Place(0, 5)), letter(Place(1, 5))
    known = settled([one, other], [(0, Note(5, "redriven", NOON)), (0, Note(6, "purged", NOON))])
    assert known == {one.place: replace(one, state="redriven", settled_at=NOON), other.place: other}
    known = settled([one], [(0, Note(5, "purged", NOON)), (0, Note(5, "redriven", NOON))])
    assert known[one.place].state == "purged"


def test_only_what_lies_before_every_unpurged_letter_can_be_removed() -> None:
    states: Callable[[int, int, str], Letter] = lambda partition, offset, state: replace(  # noqa: E731
        letter(Place(partition, offset)),
        state=state,  # type: ignore[arg-type]
    )
    letters = [
        states(0, 0, "purged"),
        states(0, 1, "redriven"),
        states(0, 2, "purged"),
        states(1, 0, "open"),
        states(1, 4, "purged"),
        states(2, 3, "purged"),
        states(3, 3, "open"),
    ]
    assert removable(letters, {0: 9, 1: 9, 2: 9, 3: 9}) == {0: 1, 2: 9}


def test_content_that_is_no_text_is_shown_as_base64() -> None:
    assert Opened(letter(), b"\xff\x00", (("h", b"\xff"),), None).as_json()["value_base64"] == "/wA="
    shown = Opened(letter(), "né".encode(), (("h", b"\xff"),), "raw").as_json()
    assert shown["value"] == "né"
    assert shown["headers"] == [["h", "\\xff"]]
    assert (shown["place"], shown["tenant"], shown["answer"]) == ("0/0", "acme", "raw")
