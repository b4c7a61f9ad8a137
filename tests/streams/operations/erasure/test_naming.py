"""Whether a record names a user: as a whole text, together with the tenant, in its key or in its value."""

import zlib

import orjson
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memory.keys import distinct_key, encode_key, entity_key, marked_key
from memory.records import Message
from streams.operations.erasure.remnants import Naming
from streams.stages.entities.codec import EntityCodec, TimerRow
from streams.stages.events.ledger import PackedEntry, PublishedWindow
from streams.stages.sessions.known_ids import mark_key, page_key
from tests.streams.agent_extractions import START, TENANT, extraction
from tests.streams.stages.entities.team import Team

ANN = Naming("acme", "ann")
NAME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)

LETTERS = st.text(st.characters(categories=["Ll", "Lu", "Nd"]), min_size=1, max_size=6)


def value(**fields: object) -> bytes:
    return orjson.dumps(fields)


@pytest.mark.parametrize(
    "key",
    [
        encode_key("acme", "ann"),
        marked_key(encode_key("acme", "ann"), "w"),
        encode_key("acme", "ann", "-"),
        encode_key("acme", "person", entity_key("ann"), "-"),
        encode_key("acme", "training", entity_key("ann", "run"), "-", "story", "-"),
        encode_key("timer", "acme", "training", entity_key("run", "ann"), "-"),
        mark_key(encode_key("acme", "ann")),
        page_key(encode_key("acme", "ann"), 3),
    ],
)
def test_a_key_names_the_user(key: bytes) -> None:
    assert ANN.is_in(key, b"")
    assert ANN.is_in(key, value(text="nobody"))
    assert not Naming("umbrella", "ann").is_in(key, b""), "another tenant's user of the same name"
    assert not Naming("acme", "bob").is_in(key, b"")


@pytest.mark.parametrize("key", [encode_key("acme", "anna"), encode_key("acme-2", "ann"), encode_key("acme"), encode_key("acme-ann")])
def test_a_key_of_another_does_not_name_the_user(key: bytes) -> None:
    assert not ANN.is_in(key, b"")


def test_a_value_names_the_user() -> None:
    assert ANN.is_in(b"", value(tenant="acme", user="ann"))
    assert not ANN.is_in(b"", value(tenant="umbrella", user="ann"))
    assert not ANN.is_in(b"", value(tenant="acme", user="anna"))


def test_key_and_value_name_the_user_together() -> None:
    assert ANN.is_in(encode_key("acme", "s-1"), value(user="ann"))
    assert ANN.is_in(encode_key("person", "ann"), value(tenant="acme"))
    assert not ANN.is_in(encode_key("umbrella", "s-1"), value(user="ann"))


def test_it_errs_on_the_safe_side() -> None:
    """Whatever a text stands for, and be it a key that happens to look like two parts."""
    assert ANN.is_in(b"", value(tenant="acme", user="bob", topics=["ann"]))
    assert ANN.is_in(encode_key("acme", "ann/b"), b"")


def test_a_name_within_a_text_is_no_name() -> None:
    assert not ANN.is_in(b"", value(tenant="acme", user="bob", text="I met ann today."))


@pytest.mark.parametrize("user", ['a"b', "zoë", "a/b", "back\\slash", "日本", "a b", "100%", "a#b"])
def test_a_name_is_found_however_it_is_written(user: str) -> None:
    naming = Naming("acme", user)
    message = Message(tenant="acme", user=user, session="s", text="hello", event_time=START)
    assert naming.is_in(b"", message.to_json())
    assert naming.is_in(distinct_key("acme", user), b"")
    assert naming.is_in(encode_key("acme", "person", entity_key(user, "x")), b"")


def test_a_ledgers_row_is_read_as_it_is_packed() -> None:
    what = extraction(0, [("grep", 0)])
    packed = PackedEntry.of(PublishedWindow(4, what, ())).raw
    key = encode_key(what.window_id, "-")
    assert b"agent" not in packed
    assert Naming(TENANT, "agent").is_in(key, packed)
    assert not Naming("umbrella", "agent").is_in(key, packed)
    assert not Naming(TENANT, "age").is_in(key, packed)


async def test_rows_of_an_entity_name_their_user() -> None:
    team = Team()
    await team.say("ann", 0, ("tea", "oolong at dawn", 3))
    await team.settle()
    named = {key for key, row in team.rows().items() if Naming("acme", "ann").is_in(key, EntityCodec().encode(row))}
    assert {key for key in team.rows() if b"person/ann" in key} <= named
    timers = {key for key, row in team.rows().items() if isinstance(row, TimerRow)}
    assert {b"/subject/" in key for key in timers - named} == {True}, "a timer of what others share names nobody"


@pytest.mark.parametrize("key", [b"", b"\xff", b"a b", b"acme/ann/", b"%ff"])
def test_an_unreadable_key_names_no_user(key: bytes) -> None:
    assert not ANN.is_in(key, b"")
    assert ANN.is_in(key, value(tenant="acme", user="ann")), "its value is read all the same"


@example(",", "0", "0")
@example(":", "0", "0")
@given(NAME, LETTERS, LETTERS)
def test_a_part_of_a_longer_word_is_no_name(user: str, before: str, behind: str) -> None:
    naming = Naming("acme", user)
    assume(user not in ("acme", "tenant", "user", "s-1"))
    for longer in (before + user, user + behind, before + user + behind):
        assume(user != longer and "/" not in longer)
        packed = value(tenant="acme", user=longer)
        assert not naming.is_in(encode_key("acme", "s-1"), packed)
        assert not naming.is_in(encode_key("acme", "s-1"), zlib.compress(packed))
        assert not naming.is_in(encode_key("acme", longer), b"")


@given(NAME, NAME)
def test_every_named_user_is_found(tenant: str, user: str) -> None:
    naming = Naming(tenant, user)
    packed = value(tenant=tenant, user=user)
    assert naming.is_in(encode_key(tenant, user), b"")
    assert naming.is_in(b"", packed)
    assert naming.is_in(b"", zlib.compress(packed))


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_any_record_is_judged(key: bytes, content: bytes) -> None:
    assert ANN.is_in(key, content) in (True, False)
