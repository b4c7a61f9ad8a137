"""A dead letter bears its metadata and gives the record back as it came in."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from memory.headers import ORIGIN
from runtime.dead_letters import read_metadata, without_metadata
from runtime.dead_letters.metadata import headers_to_redrive
from streams.delivery.dead_letters import dead_letter
from streams.delivery.records import ConsumedRecord

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
    letter = dead_letter(
        "varve.dead-letters",
        record,
        stage="sessions",
        reason="malformed",
        detail=detail,
        attempts=3,
        first_attempt_at=FIRST,
        last_attempt_at=FIRST + timedelta(seconds=9),
        raw_answer=answer,
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


def test_long_answer_is_truncated() -> None:
    record = ConsumedRecord("varve.windows", 0, 0, b"k", b"v", (), 0.0)
    letter = letter_of(record, detail="d" * 100_000, answer="\N{GRINNING FACE}" * 100_000)
    size = sum(len(value) for _, value in letter.headers)
    assert size < 65_536, "the dead-letter topic leaves so much room beside the largest record"
