"""A dead letter has its metadata, and returns the record unchanged."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.headers import ORIGIN
from runtime.dead_letters import read_metadata, without_metadata
from runtime.dead_letters.metadata import Content, dead_letter_name, headers_to_redrive, pack, part_count, part_of, unpack
from runtime.errors import DeadLetterMissingError
from streams.engine.failures.dead_letters import SMALLEST_LIMIT as LIMIT
from streams.engine.failures.dead_letters import dead_letter
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Rejection

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = st.text("abcdefghij-", min_size=1, max_size=10).filter(lambda name: not name.startswith("varve-"))
RECORDS = st.builds(
    ConsumedRecord,
    topic=st.sampled_from(["varve.messages", "varve.windows"]),
    partition=st.integers(0, 7),
    offset=st.integers(0, 2**50),
    key=st.none() | st.binary(max_size=20),
    value=st.none() | st.binary(max_size=50),
    headers=st.lists(st.tuples(NAMES, st.binary(max_size=10)), max_size=4).map(tuple),
    timestamp=st.just(0.0),
)


def letter_of(record: ConsumedRecord, *, detail: str = "why", answer: str | None = None) -> ConsumedRecord:
    (letter,) = dead_letter(
        "varve.dead-letters",
        Rejection(record, "malformed", detail, answer),
        limit=4_065_536,
        stage="sessions",
        attempts=3,
        first_attempt_at=FIRST,
        last_attempt_at=FIRST + timedelta(seconds=9),
    )
    return ConsumedRecord(letter.topic, 0, 0, letter.key, letter.value, letter.headers, 0.0)


@given(record=RECORDS, detail=st.text(st.characters(exclude_categories=["Cs"]), max_size=100), answer=st.none() | st.text(max_size=20))
def test_dead_letter_keeps_the_record_and_its_metadata(record: ConsumedRecord, detail: str, answer: str | None) -> None:
    letter = letter_of(record, detail=detail, answer=answer)
    assert (letter.key, letter.value, without_metadata(letter.headers)) == (record.key, record.value, record.headers)
    metadata = read_metadata(letter.headers)
    assert metadata is not None
    assert (metadata.topic, metadata.partition, metadata.offset) == (record.topic, record.partition, record.offset)
    assert (metadata.stage, metadata.reason, metadata.detail, metadata.tries) == ("sessions", "malformed", detail, 3)
    assert (metadata.first_time, metadata.last_time) == (FIRST, FIRST + timedelta(seconds=9))


@given(record=RECORDS, rounds=st.integers(1, 4))
def test_redriven_record_keeps_its_first_origin(record: ConsumedRecord, rounds: int) -> None:
    driven = record
    for count in range(rounds):
        letter = letter_of(driven)
        metadata = read_metadata(letter.headers)
        assert metadata is not None
        headers = tuple(headers_to_redrive(letter.headers, metadata))
        driven = ConsumedRecord(metadata.topic, metadata.partition, record.offset + 1 + count, letter.key, letter.value, headers, 0.0)
        assert (driven.origin, driven.key, driven.value) == (record.origin, record.key, record.value)
        assert without_metadata(driven.headers) == (*record.headers, (ORIGIN, str(record.origin).encode()))


SIZES = st.integers(0, 20) | st.integers(60_000, 300_000)
BYTES = st.builds(lambda size, seed: random.Random(seed).randbytes(size), SIZES, st.integers(0, 9))
TEXTS = st.builds(lambda text, times: text * times, st.text(max_size=5), SIZES)
GIANTS = st.builds(
    ConsumedRecord,
    topic=st.just("varve.messages"),
    partition=st.integers(0, 2**31 - 1),
    offset=st.integers(0, 2**63 - 1),
    key=st.none() | BYTES,
    value=st.none() | BYTES | BYTES.map(lambda text: b'{"tenant": "' + text.hex().encode() + b'"}'),
    headers=st.lists(st.tuples(NAMES | st.just("n" * 70_000), BYTES), max_size=4).map(tuple),
    timestamp=st.just(0.0),
)


@settings(max_examples=60, deadline=None)
@given(record=GIANTS, limit=st.integers(LIMIT, 400_000), reason=TEXTS, detail=TEXTS, answer=st.none() | TEXTS)
def test_a_dead_letter_and_its_parts_always_fit(record: ConsumedRecord, limit: int, reason: str, detail: str, answer: str | None) -> None:
    letter, *parts = dead_letter(
        "varve.dead-letters",
        Rejection(record, reason, detail, answer),
        limit=limit,
        stage="sessions",
        attempts=2**31,
        first_attempt_at=FIRST,
        last_attempt_at=FIRST,
    )
    assert all(each.size <= limit for each in (letter, *parts))
    assert {each.key for each in parts} <= {letter.key}, "otherwise they would be in another partition"
    metadata = read_metadata(letter.headers)
    assert metadata is not None
    assert (metadata.partition, metadata.offset, metadata.tries) == (record.partition, record.offset, 2**31)
    assert part_count(letter.headers) == len(parts)
    assert [part_of(each.headers) for each in parts] == [dead_letter_name(metadata)] * len(parts)
    held = unpack([each.value or b"" for each in parts]) if parts else Content(letter.key, letter.value, without_metadata(letter.headers))
    assert held == Content(record.key, record.value, record.headers)


def test_damaged_parts_are_reported() -> None:
    record = ConsumedRecord("varve.messages", 0, 0, b"k", random.Random(1).randbytes(200_000), (), 0.0)
    (first, *others) = pack(Content(record.key, record.value, ()), part_bytes=60_000)
    for damaged in ([first], [first[:-1] + b"?", *others], others):
        with pytest.raises(DeadLetterMissingError, match="purge it"):
            unpack(damaged)


def test_foreign_header_without_value_is_kept() -> None:
    headers: Any = (("traceparent", None), (ORIGIN, None))
    record = ConsumedRecord("varve.messages", 0, 3, b"k", b"v", headers, 0.0)
    assert (record.trace_id, str(record.origin)) == (None, "varve.messages/0/3")
    assert without_metadata(letter_of(record).headers) == headers


def test_long_answer_is_truncated() -> None:
    record = ConsumedRecord("varve.windows", 0, 0, b"k", b"v", (), 0.0)
    letter = letter_of(record, detail="d" * 100_000, answer="\N{GRINNING FACE}" * 100_000)
    size = sum(len(value) for _, value in letter.headers)
    assert size < 65_536, "the dead-letter topic allows so much in addition to the largest record"
