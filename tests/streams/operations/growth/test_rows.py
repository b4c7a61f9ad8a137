"""Rows of the stages' tables: their partition after growth, and their form there."""

from datetime import UTC, datetime

from memory.keys import encode_key, entity_key
from memory.records import Contribution, Extraction
from operators.entities.entity_state import EntityState, from_bytes, to_bytes
from streams.operations.growth.rows import grown_row, home_of, joined_clock
from streams.stages.entities.codec import EntityCodec, TimerRow, row_key
from streams.stages.events.ledger import PackedEntry, amended_key, corrected_entity_key, expired_key, published_key, since_erasure_key
from streams.stages.events.ledger_entries import (
    AmendedWindow,
    CorrectedEntity,
    DroppedGeneration,
    ExpiredEvents,
    PublishedWindow,
    WindowsSinceErasure,
)
from streams.stages.sessions.closed_windows import WindowOfUser
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.known_ids import DedupPage, page_key
from streams.stages.sessions.partition_rows import CLOCK_KEY, LogTime, OpenWindowMark, mark_key
from streams.stages.sessions.windows import SessionState

NOW = datetime(2024, 5, 1, tzinfo=UTC)
ANN = encode_key("acme", "ann")
WINDOW = "5d0f3a52-0000-5000-8000-000000000001"


def _nothing(prefix: bytes) -> bytes | None:
    return None


def _contribution(**fields: object) -> Contribution:
    base = {"tenant": "acme", "user": "ann", "entity_type": "topic", "entity_key": entity_key("ann", "cats"), "time": NOW}
    return Contribution.model_validate(base | {"source": "extractions/3", "position": 7, "changes": []} | fields)


def _published() -> PublishedWindow:
    extraction = Extraction.model_validate(
        {"window_id": WINDOW, "tenant": "acme", "user": "ann", "session": "s", "events": [], "patches": [], "message_ids": []}
        | {"extractor": "x", "schema_name": "companion", "schema_revision": 1, "extracted_at": NOW, "sequence": 0, "window_end": NOW}
    )
    return PublishedWindow(7, extraction, (_contribution(),), ((_contribution(source="extractions/3|9"),),), (_contribution(),))


def test_rows_of_a_session_follow_it() -> None:
    codec, key = SessionCodec(), encode_key("acme", "a session#1")
    rows = {
        key: codec.encode(SessionState("acme", "a session#1")),
        mark_key(key): codec.encode(OpenWindowMark()),
        page_key(key, 3): codec.encode(DedupPage(1)),
        b"#window/" + key + b"#4": b"",
        b"#places/" + key + b"#0": b"",
        b"#of/acme/ann/a%20session%231#4": codec.encode(WindowOfUser(key, 4)),
    }
    assert {home_of("sessions", each, payload, _nothing) for each, payload in rows.items()} == {key}
    assert home_of("sessions", CLOCK_KEY, codec.encode(LogTime(3)), _nothing) is None


def test_the_clock_of_a_session_never_decreases() -> None:
    codec = SessionCodec()
    clocks = [codec.encode(each) for each in (LogTime(5, 100), LogTime(9), LogTime(2, 300))]
    joined = joined_clock(clocks)
    assert joined is not None
    assert codec.decode(joined) == LogTime(9, 300)
    assert joined_clock([]) is None


def test_rows_of_the_ledger_follow_the_user() -> None:
    published = PackedEntry.of(_published()).raw
    table = {published_key(WINDOW, ""): published}

    def find(prefix: bytes) -> bytes | None:
        return next((row for key, row in table.items() if key.startswith(prefix)), None)

    rows = {
        published_key(WINDOW, ""): published,
        expired_key(WINDOW, "v2"): PackedEntry.of(ExpiredEvents(("e",))).raw,
        amended_key("acme", WINDOW): PackedEntry.of(AmendedWindow()).raw,
        since_erasure_key("acme", "ann"): PackedEntry.of(WindowsSinceErasure()).raw,
        corrected_entity_key("acme", "topic", "ann", ""): PackedEntry.of(CorrectedEntity(standing=[_contribution()])).raw,
    }
    assert {home_of("events", key, payload, find) for key, payload in rows.items()} == {ANN}
    drops = PackedEntry.of(DroppedGeneration(2)).raw
    assert home_of("events", encode_key("drops", "acme", "v2"), drops, find) is None
    assert home_of("events", amended_key("acme", WINDOW), rows[amended_key("acme", WINDOW)], _nothing) is None


def test_published_contributions_come_from_the_copy() -> None:
    after = PackedEntry(grown_row("events", PackedEntry.of(_published()).raw, 21)).entry()
    assert isinstance(after, PublishedWindow)
    every = [*after.contributions, *after.former, *(each for step in after.corrections for each in step)]
    assert {each.source for each in every} == {"extractions/3|21"}
    assert [each.position for each in every] == [7, 7, 7]


def test_rows_of_entities_follow_the_entity() -> None:
    contribution, codec = _contribution(generation="v2"), EntityCodec()
    home = encode_key("acme", "topic", contribution.entity_key)
    state = EntityState(sources={"extractions/3": [30, [7]]}, version=4)
    assert home_of("entities", row_key(contribution), codec.encode(state), _nothing) == home
    timer = TimerRow(contribution.model_copy(update={"kind": "tick"}), 1, 2)
    assert home_of("entities", encode_key("timer", "acme", "topic", contribution.entity_key, "v2"), codec.encode(timer), _nothing) == home
    assert grown_row("entities", codec.encode(timer), 5) == codec.encode(timer)
    grown = from_bytes(grown_row("entities", to_bytes(state), 5))
    assert grown.sources == {"extractions/3|*": [30, [7]]}
    assert grown.version == 4


def test_touched_days_follow_the_user() -> None:
    assert home_of("recalls", encode_key("acme", "ann", "-"), b"[1,[]]", _nothing) == ANN
