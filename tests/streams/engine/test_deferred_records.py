"""Parked records of a partition: unchanged, in the order of the log, and resumed a few at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.kafka import TopicPartition
from runtime.kafka.parked_note import ParkedNote
from streams.engine.failures.deferred_records import DeferredRecords
from streams.engine.failures.deferred_rows import counts, read_record, record_row, records_from
from streams.engine.keyed.pending_record import PendingRecord, Status
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.driver import InFlightRecord
from streams.errors import StreamError
from tests.streams.harness import InMemoryRows

SOURCE = TopicPartition("windows", 3)


def parking(offset: int, *, tenant: str = "acme", key: bytes = b"k") -> PendingRecord[InFlightRecord]:
    record = ConsumedRecord("windows", 3, offset, key, b"%d" % offset, (), float(offset))
    return PendingRecord(SOURCE, offset, (3, key), tenant, InFlightRecord(record), 1, status=Status.PARKING)


def back(record: ConsumedRecord, *, tenant: str = "acme") -> PendingRecord[InFlightRecord]:
    return PendingRecord(SOURCE, record.offset, (3, record.key), tenant, InFlightRecord(record), 1, is_parked=True)


class LotHarness:
    """Deferred records of a partition whose transactions succeed."""

    def __init__(self) -> None:
        self.rows = InMemoryRows()
        self.deferred = self.recovered()
        self.stage_metadata = ""

    def recovered(self) -> DeferredRecords:
        deferred = DeferredRecords(SOURCE)
        deferred.recover(self.rows)
        return deferred

    def commit(self, *entries: PendingRecord[InFlightRecord]) -> None:
        changes = self.deferred.changes(entries)
        self.deferred.commit(changes, 0)
        self.stage_metadata = changes.stage_metadata
        for entry in entries:
            self.deferred.end(entry)

    def park(self, *entries: PendingRecord[InFlightRecord]) -> None:
        for entry in entries:
            self.deferred.admit(entry)
        self.commit(*entries)

    def come_back(self, tenant: str = "acme") -> list[PendingRecord[InFlightRecord]]:
        entries = [back(record, tenant=tenant) for record in self.deferred.coming_back(tenant)]
        for entry in entries:
            self.deferred.show(entry)
        return entries


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@given(
    tenants=st.lists(NAMES, min_size=2, max_size=4, unique=True),
    key=st.none() | st.binary(max_size=9),
    value=st.none() | st.binary(max_size=50),
    headers=st.lists(st.tuples(NAMES, st.binary(max_size=5)), max_size=3),
    offsets=st.lists(st.integers(0, 2**40), min_size=1, max_size=5, unique=True),
)
def test_parked_records_read_back_in_log_order(
    tenants: list[str], key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes]], offsets: list[int]
) -> None:
    rows = InMemoryRows()
    records = [ConsumedRecord("windows", 3, offset, key, value, tuple(headers), 1.25) for offset in offsets]
    rows.write([record_row(tenant, record) for tenant in tenants for record in records], 0)
    for tenant in tenants:
        in_order = sorted(records, key=lambda each: each.offset)
        assert list(records_from(rows, SOURCE, tenant, 0)) == in_order
        assert list(records_from(rows, SOURCE, tenant, in_order[-1].offset)) == in_order[-1:]
        assert read_record(rows, SOURCE, tenant, offsets[0]) == records[0]
        assert read_record(rows, SOURCE, tenant, 2**41) is None


def test_a_successor_knows_the_parked_records_by_tenant() -> None:
    harness = LotHarness()
    harness.park(*(parking(offset) for offset in range(7)), parking(9, tenant="globex"))
    assert counts(harness.rows) == {"acme": 7, "globex": 1}
    assert ParkedNote.read(harness.stage_metadata) == ParkedNote(8, {"acme": 7, "globex": 1})
    successor = harness.recovered()
    assert (successor.count, successor.stage_metadata) == (8, harness.stage_metadata)
    assert [successor.holds(tenant) for tenant in ("acme", "globex", "initech")] == [True, True, False]


def test_tenant_leaves_with_its_last_record() -> None:
    harness = LotHarness()
    harness.park(parking(4))
    (entry,) = harness.come_back()
    assert harness.deferred.holds("acme")
    assert harness.deferred.oldest == 4.0
    harness.commit(entry)
    assert not harness.deferred.holds("acme")
    assert (harness.stage_metadata, harness.deferred.count) == ("", 0)
    assert harness.recovered().oldest is None
    assert harness.rows.rows == {}


def test_few_records_return_until_some_succeed() -> None:
    harness = LotHarness()
    harness.park(*(parking(offset) for offset in range(1000)))
    first = harness.come_back()
    assert [entry.offset for entry in first] == [0, 1]
    assert harness.come_back() == []
    done, seen = 0, [*first]
    while harness.deferred.count:
        harness.commit(seen[done])
        done += 1
        seen += harness.come_back()
        assert len(seen) - done <= 512
    assert [entry.offset for entry in seen] == list(range(1000))


def test_a_refusal_lets_fewer_records_return() -> None:
    harness = LotHarness()
    harness.park(*(parking(offset) for offset in range(100)))
    entries = harness.come_back()
    for _ in range(4):
        harness.commit(entries.pop(0))
        entries += harness.come_back()
    assert len(entries) > 10
    harness.deferred.on_refused("acme")
    while len(entries) > 1:
        assert harness.come_back() == []
        harness.commit(entries.pop(0))
        harness.deferred.on_refused("acme")
    assert len(harness.come_back()) == 1


def test_earlier_records_being_parked_return_first() -> None:
    harness = LotHarness()
    harness.park(parking(5), parking(6))
    late = parking(3)
    harness.deferred.admit(late)
    assert harness.come_back() == [], "3 is not in the table yet, and precedes them"
    harness.commit(late)
    assert [entry.offset for entry in harness.come_back()] == [3, 5]


def test_later_records_of_its_key_go_again() -> None:
    harness = LotHarness()
    harness.park(parking(5, key=b"a"), parking(6, key=b"b"))
    five, _ = harness.come_back()
    late = parking(3, key=b"a")
    assert harness.deferred.admit(late) == [five]
    harness.commit(late)
    assert [entry.offset for entry in harness.come_back()] == [3]
    harness.deferred.on_refused("acme")


def test_record_parked_twice_counts_once() -> None:
    harness = LotHarness()
    harness.park(parking(5))
    harness.park(parking(5), parking(6))
    assert counts(harness.rows) == {"acme": 2}
    assert harness.deferred.count == 2


def test_repeated_commit_counts_once() -> None:
    """A commit with a lost response is repeated if the log's offset does not show that it succeeded."""
    harness = LotHarness()
    entry = parking(5)
    harness.deferred.admit(entry)
    harness.deferred.commit(harness.deferred.changes([entry]), 0)
    harness.deferred.recover(harness.rows)
    harness.commit(entry)
    assert counts(harness.rows) == {"acme": 1}


def test_record_that_is_not_parked_cannot_be_read() -> None:
    harness = LotHarness()
    harness.park(parking(5))
    (entry,) = harness.come_back()
    assert harness.deferred.read(entry) == entry.record.record
    harness.commit(entry)
    with pytest.raises(StreamError, match="windows/3/5 is not parked"):
        harness.deferred.read(entry)


@pytest.mark.parametrize("text", ["", None, "log cut at 7", "7", "[]", "null"])
def test_notes_of_another_kind_say_nothing_parked(text: str | None) -> None:
    assert ParkedNote.read(text) == ParkedNote()


def test_note_names_the_tenants_with_most() -> None:
    note = ParkedNote.of({f"tenant {number}": number for number in range(1, 10)})
    assert note == ParkedNote(45, {"tenant 9": 9, "tenant 8": 8, "tenant 7": 7, "tenant 6": 6, "tenant 5": 5})
    assert ParkedNote.read(note.text) == note
    assert ParkedNote.sum([note, note, ParkedNote()]) == ParkedNote(90, {f"tenant {each}": 2 * each for each in (9, 8, 7, 6, 5)})


def test_a_note_fits_into_the_offset_metadata() -> None:
    note = ParkedNote.of({f"{'long ' * 200}{number}": 1 for number in range(5)})
    assert ParkedNote.read(note.text) == ParkedNote(5)
