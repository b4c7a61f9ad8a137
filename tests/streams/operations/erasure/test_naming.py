"""Whether a record names a user: as the one whose record it is, or in the key of its entity; never by a name that it happens to contain."""

import zlib
from datetime import timedelta
from typing import Any

import orjson
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memory.keys import distinct_key, encode_key, entity_key, marked_key
from memory.records import Contribution, Correction, EntityCorrection, Memory, MemoryChange, Message
from memory.topics import CONTRIBUTIONS, EXTRACTIONS, MEMORIES, MERGED, MESSAGES, RECALLS, WINDOWS, TopicSpec
from streams.engine.failures.deferred_rows import record_row
from streams.engine.state.partition_state import pack
from streams.operations.erasure.naming import Naming
from streams.stages.entities.codec import EntityCodec, TimerRow
from streams.stages.events.ledger import PackedEntry, since_erasure_key
from streams.stages.events.ledger_entries import CorrectedEntity, PublishedWindow, WindowsSinceErasure
from streams.stages.sessions.closed_windows import WindowOfUser
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.known_ids import page_key
from streams.stages.sessions.partition_rows import mark_key
from streams.stages.sessions.windows import SessionState
from tests.streams.agent_extractions import START, TENANT, extraction
from tests.streams.harness import delivered
from tests.streams.stages.entities.team import Team

ANN = Naming("acme", "ann")
NAME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
LETTERS = st.text(st.characters(categories=["Ll", "Lu", "Nd"]), min_size=1, max_size=6)
ALIKE = ("ann/1", "1/ann", "ann#1", "anna", "Ann", "ann ", "ann*", "acme/ann")


def value(**fields: object) -> bytes:
    return orjson.dumps(fields)


@pytest.mark.parametrize(
    ("spec", "key"),
    [
        (WINDOWS, marked_key(encode_key("acme", "ann"), "w")),
        (EXTRACTIONS, distinct_key("acme", "ann")),
        (RECALLS, encode_key("acme", "ann")),
        (CONTRIBUTIONS, encode_key("acme", "person", entity_key("ann"))),
        (MERGED, encode_key("acme", "training", entity_key("run", "ann"), "-", "story", "-")),
    ],
    # One key is random, and every process of a test run must give a test the same name.
    ids=["windows", "extractions", "recalls", "contributions", "merged"],
)
def test_a_key_names_the_user(spec: TopicSpec, key: bytes) -> None:
    for content in (b"", value(text="nobody"), b"no JSON"):
        assert ANN.in_record(spec, key, content) == {"ann"}
        assert Naming("umbrella", "ann").in_record(spec, key, content) == set(), "another tenant's user of the same name"
        assert Naming("acme", "bob").in_record(spec, key, content) == set()


@pytest.mark.parametrize("other", [*ALIKE, "bob"])
@pytest.mark.parametrize("spec", [WINDOWS, EXTRACTIONS, RECALLS, MESSAGES])
def test_records_of_others_do_not_name_the_user(spec: TopicSpec, other: str) -> None:
    for key in (distinct_key("acme", other), encode_key("acme", "ann", "shared"), encode_key("acme-2", "ann")):
        content = value(
            tenant="acme-2" if b"acme-2" in key else "acme", user=other, session="ann", topics=["ann"], properties={"user": "ann"}
        )
        assert ANN.in_record(spec, key, content) == set()
    said = Message(tenant="acme", user=other, session="ann", id="ann", text="ann", speaker="ann", event_time=START)
    assert ANN.in_record(MESSAGES, encode_key("acme", "ann"), said.to_json()) == set(), "the session is called so"


@pytest.mark.parametrize("user", ["user", "tenant", "acme", "messages", "1.0", "agent", "tool_use", "-", "s1", "correct"])
def test_a_user_may_be_called_anything(user: str) -> None:
    naming, what = Naming(TENANT, user), extraction(0, [("grep", 0)])
    what = what.model_copy(update={"user": "bob", "events": [each.model_copy(update={"user": "bob"}) for each in what.events]})
    assert naming.in_record(EXTRACTIONS, distinct_key(TENANT, "bob"), what.to_json()) == set()
    assert naming.in_row("events", encode_key(what.window_id, "-"), pack(4, PackedEntry.of(PublishedWindow(4, what, ())).raw)) == set()
    assert naming.in_record(EXTRACTIONS, distinct_key(TENANT, user), b"{}") == {user}


def test_a_value_names_the_user() -> None:
    for spec in (MESSAGES, MEMORIES, EXTRACTIONS):
        assert ANN.in_record(spec, b"", value(tenant="acme", user="ann")) == {"ann"}
        assert ANN.in_record(spec, b"", value(tenant="acme", users=["bob", "ann"])) == {"ann"}
        assert ANN.in_record(spec, b"", value(tenant="acme", memory={"entity_key": "ann"})) == {"ann"}
        assert ANN.in_record(spec, b"", value(tenant="umbrella", user="ann")) == set()
        assert ANN.in_record(spec, encode_key("acme", "s-1"), value(user="ann")) == {"ann"}
        assert ANN.in_record(spec, encode_key("umbrella", "s-1"), value(user="ann", text="acme")) == set()


def test_what_cannot_be_read_may_name_the_user() -> None:
    assert ANN.in_record(WINDOWS, encode_key("acme", "x"), b'{"tenant":"acme","user":"ann"') == {"ann"}
    assert ANN.in_record(WINDOWS, b"\xff", b'{"tenant":"acme","user":"ann"') == {"ann"}
    assert ANN.in_record(WINDOWS, b"\xff", b'{"tenant":"acme","user":"bob"') == set()


@pytest.mark.parametrize("user", ['a"b', "zoë", "a/b", "back\\slash", "日本", "a b", "100%", "a#b", ":", ","])
def test_a_name_is_found_however_it_is_written(user: str) -> None:
    naming = Naming("acme", user)
    message = Message(tenant="acme", user=user, session="s", text="hello", event_time=START)
    assert naming.in_record(MESSAGES, b"", message.to_json()) == {user}
    assert naming.in_record(EXTRACTIONS, distinct_key("acme", user), b"") == {user}
    assert naming.in_record(CONTRIBUTIONS, encode_key("acme", "person", entity_key(user, "x")), b"") == {user}
    tea = Memory(id="m", tenant="acme", kind="entity", type="person", content="x", event_time=START, entity_key=entity_key("tea", user))
    change = MemoryChange(op="upsert", memory_id="m", tenant="acme", memory=tea.model_copy(update={"user": user}))
    assert naming.in_record(MEMORIES, encode_key("acme", "m"), change.to_json()) == {user}


def test_rows_of_the_ledger_name_their_user() -> None:
    what = extraction(0, [("grep", 0)])
    agent = Naming(TENANT, "agent")
    packed = PackedEntry.of(PublishedWindow(4, what, ())).raw
    assert b"agent" not in packed
    assert agent.in_row("events", encode_key(what.window_id, "-"), pack(4, packed)) == {"agent"}
    assert Naming("umbrella", "agent").in_row("events", encode_key(what.window_id, "-"), pack(4, packed)) == set()
    corrected = PackedEntry.of(CorrectedEntity()).raw
    key = encode_key("corrected", "acme", "person", entity_key("ann"), "-")
    assert ANN.in_row("events", key, pack(1, corrected)) == {"ann"}
    since = PackedEntry.of(WindowsSinceErasure(windows=[("w", "")])).raw
    assert ANN.in_row("events", since_erasure_key("acme", "ann"), pack(1, since)) == {"ann"}
    assert ANN.in_row("events", since_erasure_key("acme", "ann/1"), pack(1, since)) == set()


async def test_rows_of_an_entity_name_their_user() -> None:
    team = Team()
    await team.say("ann", 0, ("tea", "oolong at dawn", 3))
    await team.say("ann/1", 0, ("ann", "sencha at noon", 3))
    await team.settle()
    named = {key for key, row in team.rows().items() if ANN.in_row("entities", key, pack(1, EntityCodec().encode(row)))}
    assert {key for key in team.rows() if b"person/ann/" in key} <= named
    timers = {key for key, row in team.rows().items() if isinstance(row, TimerRow)}
    assert {b"/subject/tea/" in key or b"ann%25" in key for key in timers - named} == {True}
    assert not any(b"ann%25" in key for key in named), "of ann/1"


def test_rows_of_sessions_name_their_users() -> None:
    codec = SessionCodec()

    def row(state: Any) -> bytes:
        return pack(3, codec.encode(state))

    def session(name: str, *users: str) -> SessionState:
        said = [Message(tenant="acme", user=each, session=name, text="ann", event_time=START).to_json() for each in users]
        return SessionState(tenant="acme", session=name, raw_messages=said, ids=["ann"] * len(said), authors=[*users])

    assert ANN.in_row("sessions", encode_key("acme", "s"), row(session("s", "bob", "ann"))) == {"ann"}
    assert ANN.in_row("sessions", encode_key("acme", "ann"), row(session("ann", "bob", "ann/1"))) == set()
    of_user = row(WindowOfUser(encode_key("acme", "s"), 3))
    assert ANN.in_row("sessions", b"#of/acme/ann/s#3", of_user) == {"ann"}
    assert ANN.in_row("sessions", b"#of/acme/ann%2F1/s#3", of_user) == set()
    for key in (mark_key(encode_key("acme", "ann")), page_key(encode_key("acme", "ann"), 3)):
        assert ANN.in_row("sessions", key, pack(1, b"\x03")) == set(), "a session"


def test_parked_records_name_their_user() -> None:
    for user, session in (("ann", "s"), ("bob", "ann")):
        said = value(tenant="acme", user=user, session=session)
        row = record_row("acme", delivered("windows", 7, distinct_key("acme", user), said))
        assert ANN.in_row("extraction", row.key, row.value or b"") == ({"ann"} if user == "ann" else set())


def test_corrections_and_ticks_name_the_user_of_their_entity() -> None:
    by_hand = Correction(
        id="c", tenant="acme", action="revert", memory_id="m", by="k", time=START,
        entity=EntityCorrection(entity_type="person", entity_key=entity_key("ann")),
    )  # fmt: skip
    tick = Contribution(
        tenant="acme", entity_type="person", entity_key=entity_key("ann"), kind="tick", source="x", position=0,
        time=START + timedelta(days=1),
    )  # fmt: skip
    for record in (by_hand, tick):
        assert ANN.in_record(EXTRACTIONS, encode_key("acme", "m"), record.to_json()) == {"ann"}


@pytest.mark.parametrize("key", [b"", b"\xff", b"a b", b"acme/ann/", b"%ff"])
def test_an_unreadable_key_names_no_user(key: bytes) -> None:
    assert ANN.in_record(EXTRACTIONS, key, b"") == set()
    assert ANN.in_record(EXTRACTIONS, key, value(tenant="acme", user="ann")) == {"ann"}, "its value is read nevertheless"


@example(",", "0", "0")
@example(":", "0", "0")
@given(NAME, LETTERS, LETTERS)
def test_a_part_of_a_longer_word_is_no_name(user: str, before: str, after: str) -> None:
    naming = Naming("acme", user)
    for longer in (before + user, user + after, before + user + after):
        assume(user != longer)
        packed = value(tenant="acme", user=longer)
        assert naming.in_record(MESSAGES, encode_key("acme", "s-1"), packed) == set()
        assert naming.in_record(MESSAGES, encode_key("acme", "s-1"), zlib.compress(packed)) == set()
        assert naming.in_record(EXTRACTIONS, encode_key("acme", longer), b"") == set()


@given(NAME, NAME)
def test_every_named_user_is_found(tenant: str, user: str) -> None:
    naming = Naming(tenant, user)
    packed = value(tenant=tenant, user=user)
    assert naming.in_record(EXTRACTIONS, encode_key(tenant, user), b"") == {user}
    assert naming.in_record(MESSAGES, b"", packed) == {user}
    assert naming.in_record(MESSAGES, b"", zlib.compress(packed)) == {user}


@given(
    st.binary(max_size=40), st.binary(max_size=40), st.sampled_from(["sessions", "extraction", "events", "entities", "merging", "recalls"])
)
def test_any_record_is_judged(key: bytes, content: bytes, stage: str) -> None:
    assert isinstance(ANN.in_record(EXTRACTIONS, key, content), set)
    assert isinstance(ANN.in_row(stage, key, content), set)
