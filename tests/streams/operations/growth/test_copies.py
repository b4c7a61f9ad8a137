"""Copies of records: their places, partitions and seals."""

import pytest

from memory.headers import COMMAND, GENERATION_DROP, KIND, PLACE, place_of
from memory.keys import encode_key, marked_key, partition_of
from memory.positions import LogPosition
from memory.records import SessionCommand
from memory.topics import CONTRIBUTIONS, DEAD_LETTERS, EXTRACTIONS, MESSAGES
from runtime.kafka import OutgoingRecord
from runtime.seals import Keyring
from runtime.tracing import Headers
from streams.engine.records import ConsumedRecord
from streams.operations.growth.copies import Copies
from streams.operations.growth.layout import Layout

OLD, NEW = Layout("varve.", 6), Layout("varve24.", 24)
KEYS = Keyring(["a secret of the tests"])
FLUSH = SessionCommand(command="flush", tenant="acme", session="s").to_json()
COPIES = Copies(old=OLD, new=NEW, keyring=None)
SEALING = Copies(old=OLD, new=NEW, keyring=KEYS)


def _record(topic: str, key: bytes | None, *, value: bytes | None = b"{}", headers: Headers = (), partition: int = 2) -> ConsumedRecord:
    return ConsumedRecord(f"varve.{topic}", partition, 41, key, value, headers, 1_700_000_000.5)


def test_a_copy_always_names_its_first_position() -> None:
    record = _record("extractions", marked_key(encode_key("acme", "ann"), "x"))
    (copy,) = COPIES.of(record, EXTRACTIONS)
    assert copy.topic == "varve24.extractions"
    assert copy.partition == partition_of(encode_key("acme", "ann"), 24)
    assert place_of(copy.headers) == LogPosition("varve.extractions", 2, 41)
    copied = ConsumedRecord(copy.topic, copy.partition or 0, 7, copy.key, copy.value, copy.headers, 1.0)
    assert copied.origin == LogPosition("varve.extractions", 2, 41)
    (again,) = Copies(old=NEW, new=Layout("varve48.", 48), keyring=None).of(copied, EXTRACTIONS)
    assert place_of(again.headers) == LogPosition("varve.extractions", 2, 41)
    assert len([name for name, _ in again.headers if name == PLACE]) == 1


def test_drops_and_commands_without_session_reach_all_partitions() -> None:
    drop = _record("extractions", encode_key("acme"), headers=((KIND, GENERATION_DROP),))
    command = SessionCommand(command="flush", tenant="acme").to_json()
    flush = _record("messages", encode_key("acme"), value=command, headers=((KIND, COMMAND),))
    assert [each.partition for each in COPIES.of(drop, EXTRACTIONS)] == [2, 8, 14, 20]
    assert [each.partition for each in COPIES.of(flush, MESSAGES)] == [2, 8, 14, 20]
    timer = SessionCommand(command="timer", tenant="acme", session="s", window_sequence=0, last_offset=3).to_json()
    key = encode_key("acme", "s")
    (copy,) = COPIES.of(_record("messages", key, value=timer, headers=((KIND, COMMAND),)), MESSAGES)
    assert copy.partition == partition_of(key, 24)


@pytest.mark.parametrize("basis", ["own", "redriven", "unproven"])
def test_seals_keep_their_scope_and_time(basis: str) -> None:
    key = encode_key("acme", "s")
    sent = OutgoingRecord("varve.messages", key, FLUSH, ((KIND, COMMAND),), 2)
    sealed = KEYS.sealed(sent, now_ms=1_700_000_000_000, basis=basis)  # type: ignore[arg-type]
    (copy,) = SEALING.of(_record("messages", key, value=FLUSH, headers=sealed.headers), MESSAGES)
    seal = KEYS.read_seal(key=copy.key, value=copy.value, headers=copy.headers, partition=copy.partition or 0)
    assert seal is not None
    assert (seal.basis, seal.sealed_ms) == (basis, 1_700_000_000_000)


def test_a_forged_header_stays_forged() -> None:
    key = encode_key("acme", "s")
    (copy,) = SEALING.of(_record("messages", key, value=FLUSH, headers=((KIND, COMMAND),)), MESSAGES)
    assert copy.headers == ((KIND, COMMAND),)


def test_a_message_of_an_application_is_sealed_as_unproven() -> None:
    key = encode_key("acme", "s")
    (copy,) = SEALING.of(_record("messages", key, headers=(("app", b"1"),)), MESSAGES)
    seal = KEYS.read_seal(key=copy.key, value=copy.value, headers=copy.headers, partition=copy.partition or 0)
    assert seal is not None
    assert (seal.basis, seal.sealed_ms) == ("unproven", 1_700_000_000_500)


def test_late_records_get_new_positions_except_messages() -> None:
    key = encode_key("acme", "ann")
    (extraction,) = COPIES.late(_record("extractions", key), EXTRACTIONS)
    (message,) = COPIES.late(_record("messages", key), MESSAGES)
    assert extraction.headers == ()
    assert place_of(message.headers) == LogPosition("varve.messages", 2, 41)


def test_a_copied_dead_letter_names_the_new_topics() -> None:
    key = encode_key("acme", "score", "ann")
    headers = ((f"varve-dlq-{name}", value) for name, value in (("topic", b"varve.contributions"), ("partition", b"2"), ("offset", b"9")))
    letter = COPIES.of_letter(_record(DEAD_LETTERS.name, key, headers=tuple(headers)), {})
    found = dict(letter.headers)
    assert (letter.topic, letter.partition) == ("varve24.dead-letters", 2)
    assert found["varve-dlq-topic"] == b"varve24.contributions"
    assert found["varve-dlq-partition"] == b"%d" % partition_of(key, 24)
    assert found["varve-dlq-offset"] == b"9"
    part = COPIES.of_letter(_record(DEAD_LETTERS.name, key, headers=(("varve-dlq-part-of", b"varve.contributions/2/9 x"),)), {})
    assert part.headers == (("varve-dlq-part-of", b"varve24.contributions/2/9 x"),)
    settled = COPIES.of_letter(_record(DEAD_LETTERS.name, key, headers=(("varve-settles", b"30"),)), {30: 12})
    assert settled.headers == (("varve-settles", b"12"),)


def test_headers_of_no_dead_letter_are_copied() -> None:
    headers = (("varve-dlq-topic", b"\xff"), ("varve-dlq-partition", b"2"), ("varve-settles", b"9" * 5_000))
    letter = COPIES.of_letter(_record(DEAD_LETTERS.name, b"key", headers=headers), {})
    assert letter.headers == headers


def test_contributions_follow_their_entity() -> None:
    key = encode_key("acme", "topic", "cats")
    (copy,) = COPIES.of(_record("contributions", key), CONTRIBUTIONS)
    assert copy.partition == partition_of(key, 24)
