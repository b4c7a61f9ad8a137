"""Dead letters on the real broker: listed, opened, driven again, purged."""

from collections.abc import Sequence
from typing import Final

import pytest

from memory.headers import ORIGIN
from memory.keys import distinct_key, encode_key, marked_key, partition_of
from memory.positions import LogPosition
from memory.records import Memory, MemoryChange
from runtime.clocks import ManualClock
from runtime.dead_letters import DeadLetterBox, DeadLetterSelection, DeadLetterState, RedriveResult
from runtime.errors import DeadLetterMissingError
from runtime.kafka import KafkaOffsets, OutgoingRecord, Producer, TopicPartition, read_topic
from tests.letter_flow import NOON, LetterFlow

pytestmark = pytest.mark.integration

EVERYTHING: Final[frozenset[DeadLetterState]] = frozenset({"open", "redriven", "superseded"})


async def _of(letters: LetterFlow, topic: str, key: bytes) -> list[tuple[bytes | None, dict[str, bytes]]]:
    settings = letters.settings
    return [(record.value, dict(record.headers)) async for record in read_topic(settings.topic(topic), settings.kafka) if record.key == key]


async def test_a_redriven_dead_letter_keeps_its_partition_and_identity(letters: LetterFlow) -> None:
    key = encode_key("acme", "s-1")
    position = await letters.record("messages", key, b'{"tenant": "acme"')
    lies_at = await letters.refused("messages", "sessions", key, b'{"tenant": "acme"', position)
    (letter,) = await letters.box.letters(DeadLetterSelection(tenant="acme", stage="sessions", reason="malformed"))
    assert (letter.position, letter.metadata.offset, letter.state) == (lies_at, position.offset, "open")
    opened = await letters.box.open(lies_at)
    assert (opened.value, opened.headers, opened.answer) == (b'{"tenant": "acme"', (("app", b"1"),), "{")

    assert await letters.box.redrive(DeadLetterSelection(tenant="acme")) == RedriveResult(redriven=1)
    assert await letters.box.redrive(DeadLetterSelection(tenant="acme")) == RedriveResult(), "what was driven is not driven again unasked"
    assert await letters.box.letters(DeadLetterSelection()) == []
    (settled,) = await letters.box.letters(DeadLetterSelection(states=EVERYTHING))
    assert (settled.state, settled.settled_at) == ("redriven", NOON)
    assert await letters.box.redrive(DeadLetterSelection(states=EVERYTHING)) == RedriveResult(redriven=1)
    origin = str(position).encode()
    again = (b'{"tenant": "acme"', {"app": b"1", ORIGIN: origin})
    assert await _of(letters, "messages", key) == [(b'{"tenant": "acme"', {}), again, again]


async def test_only_selected_dead_letters_are_redriven(letters: LetterFlow) -> None:
    for tenant in ("acme", "umbrella"):
        for reason in ("malformed", "unknown_tenant"):
            key = encode_key(tenant, "s")
            await letters.refused("windows", "extraction", key, b"{}", await letters.record("windows", key, b"{}"), reason=reason)
    assert await letters.box.redrive(DeadLetterSelection(tenant="acme", reason="malformed")) == RedriveResult(redriven=1)
    left = await letters.box.letters(DeadLetterSelection())
    assert {(letter.metadata.tenant, letter.metadata.reason) for letter in left} == {
        ("acme", "unknown_tenant"),
        ("umbrella", "malformed"),
        ("umbrella", "unknown_tenant"),
    }


async def test_a_dead_letter_refused_by_kafka_stays_open(letters: LetterFlow) -> None:
    key = encode_key("acme", "s")
    await letters.refused("messages", "sessions", key, b"x" * 3000, LogPosition("varve.messages", 0, 0), reason="too_large")
    await letters.refused("messages", "sessions", key, b"{}", LogPosition("varve.messages", 0, 1))
    driven = await letters.box.redrive(DeadLetterSelection(tenant="acme"))
    assert driven.redriven == 1
    assert len(driven.refused) == 1
    assert "3000 bytes" in driven.refused[0]
    assert [letter.metadata.reason for letter in await letters.box.letters(DeadLetterSelection())] == ["too_large"]


async def test_a_superseded_memory_change_is_not_redriven(letters: LetterFlow) -> None:
    def value(version: int) -> bytes:
        memory = Memory(id="m", tenant="acme", kind="event", type="t", content="c", event_time=NOON, version=version)
        return MemoryChange(op="upsert", memory_id="m", tenant="acme", memory=memory).to_json()

    stale, gone, newest = (encode_key("acme", name) for name in ("stale", "gone", "newest"))
    await letters.refused("memories", "index", stale, value(1), await letters.record("memories", stale, value(1)))
    await letters.record("memories", stale, value(2))
    await letters.refused("memories", "index", gone, value(1), await letters.record("memories", gone, value(1)))
    await letters.record("memories", gone, None)
    await letters.record("memories", newest, value(1))
    await letters.refused("memories", "index", newest, value(2), await letters.record("memories", newest, value(2)))

    assert await letters.box.redrive(DeadLetterSelection(stage="index")) == RedriveResult(redriven=1, superseded=2)

    async def last(key: bytes) -> bytes | None:
        return (await _of(letters, "memories", key))[-1][0]

    assert await last(stale) == value(2)
    assert await last(gone) is None
    assert await last(newest) == value(2)
    assert len(await _of(letters, "memories", newest)) == 3
    states = {letter.key: letter.state for letter in await letters.box.letters(DeadLetterSelection(states=EVERYTHING))}
    assert states == {stale: "superseded", gone: "superseded", newest: "redriven"}


async def test_a_value_written_during_a_redrive_wins(letters: LetterFlow) -> None:
    key = encode_key("acme", "raced")
    position = await letters.record("memories", key, b"1")
    await letters.refused("memories", "index", key, b"1", position)

    class RacedProducer(Producer):
        """Lets another producer be first with the next record of the feed."""

        async def send_many(self, records: Sequence[OutgoingRecord]) -> list[LogPosition]:
            if records[0].value == b"1":
                await letters.record("memories", key, b"2")
            return await super().send_many(records)

    async with RacedProducer(kafka=letters.settings.kafka) as raced:
        raced_box = DeadLetterBox(settings=letters.settings, producer=raced, clock=ManualClock(NOON))
        assert await raced_box.redrive(DeadLetterSelection()) == RedriveResult(redriven=1)
    assert [value for value, _ in await _of(letters, "memories", key)] == [b"1", b"2", b"1", b"2"]


async def test_purged_dead_letters_are_hidden_and_deleted(letters: LetterFlow) -> None:
    key = encode_key("acme", "s")
    sources = [LogPosition(letters.settings.topic("messages"), 0, offset) for offset in range(3)]
    positions = [await letters.refused("messages", "sessions", key, b"{}", source) for source in sources]
    assert await letters.box.purge(DeadLetterSelection(positions=frozenset({positions[0], positions[2]}))) == 2
    assert [letter.position for letter in await letters.box.letters(DeadLetterSelection(states=EVERYTHING))] == [positions[1]]
    with pytest.raises(DeadLetterMissingError, match="varve dlq list"):
        await letters.box.open(positions[2])
    topic = letters.settings.topic("dead-letters")
    left = [(record.offset, record.value) async for record in read_topic(topic, letters.settings.kafka)]
    assert left[:2] == [(1, b"{}"), (2, b"{}")], "the first is deleted, the third after an open one is not"
    assert await letters.box.purge(DeadLetterSelection(tenant="acme")) == 1
    async with KafkaOffsets(kafka=letters.settings.kafka) as offsets:
        beginnings = await offsets.beginning_offsets([topic])
        ends = await offsets.end_offsets([topic])
    partition = TopicPartition(topic, partition_of(key, 2))
    assert beginnings[partition] == ends[partition] > 0
    assert await letters.box.letters(DeadLetterSelection(states=EVERYTHING)) == []


async def _of_user(letters: LetterFlow, user: str = "ann", *, tenant: str = "acme") -> set[LogPosition]:
    found = await letters.box.of_users(tenant, [user])
    return {each.letter.position for each in found[user]}


async def _refused(letters: LetterFlow, topic: str, key: bytes, value: bytes | None) -> LogPosition:
    return await letters.refused(topic, "a stage", key, value, await letters.record(topic, key, value))


async def test_dead_letters_of_a_user_are_found_by_content(letters: LetterFlow) -> None:
    by_session, by_user = encode_key("acme", "s-1"), distinct_key("acme", "ann")
    named = [
        await _refused(letters, "messages", by_session, b'{"tenant": "acme", "user": "ann"}'),
        await _refused(letters, "windows", marked_key(encode_key("acme", "ann"), "w"), b"{"),
        await _refused(letters, "extractions", by_user, b'"nothing"'),
        await _refused(letters, "recalls", encode_key("acme", "ann"), None),
        await _refused(letters, "contributions", encode_key("acme", "tool", "grep"), b'{"user": "ann", "changes": []}'),
    ]
    for key, value in (
        (by_session, b'{"tenant": "acme", "user": "bob", "text": "ann"}'),
        (by_session, b'{"tenant": "acme", "user": "bob", "tool_call": {"arguments": {"user": "ann"}}}'),
        (encode_key("acme", "ann"), b'{"tenant": "acme", "user": "bob", "session": "ann"}'),
        (by_session, b'{"tenant": "acme", "user": "ann'),
        (distinct_key("acme", "anna"), b"{}"),
        (encode_key("umbrella", "ann"), b'{"tenant": "umbrella", "user": "ann"}'),
        (encode_key("acme", "tool", "ann"), b"[]"),
    ):
        await _refused(letters, "messages", key, value)
    assert await _of_user(letters) == set(named)
    assert len(await _of_user(letters, tenant="umbrella")) == 1
    assert await _of_user(letters, "nobody") == set()


async def test_dead_letters_of_a_user_are_found_until_purged(letters: LetterFlow) -> None:
    open_letter, driven = [
        await _refused(letters, "messages", encode_key("acme", "s-1"), b'{"user": "ann", "number": %d}' % number) for number in (0, 1)
    ]
    await letters.box.redrive(DeadLetterSelection(positions=frozenset({driven})))
    assert await _of_user(letters) == {open_letter, driven}
    await letters.box.purge(DeadLetterSelection(positions=frozenset({open_letter, driven}), states=EVERYTHING))
    assert await _of_user(letters) == set()


async def test_dead_letters_of_memories_belong_to_their_user(letters: LetterFlow) -> None:
    memory = Memory(id="m", tenant="acme", user="ann", kind="event", type="t", content="c", event_time=NOON, version=1)
    change = MemoryChange(op="upsert", memory_id="m", tenant="acme", memory=memory)
    position = await _refused(letters, "memories", encode_key("acme", "m"), change.to_json())
    assert await _of_user(letters) == {position}


async def test_an_unreadable_record_belongs_to_the_users_it_names(letters: LetterFlow) -> None:
    position = await _refused(letters, "messages", b"no key of ours", b'{"tenant": "acme", "user" : "ann", "text": "half a mes')
    other = await _refused(letters, "messages", b"no key of ours", b'{"tenant": "umbrella", "user": "ann", "text": "half a mes')
    assert await _of_user(letters) == {position}
    assert await _of_user(letters, tenant="umbrella") == {other}
