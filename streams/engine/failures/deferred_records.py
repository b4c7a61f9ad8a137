"""Parked records of one partition, by tenant: stored, being stored, or back in the scheduler.

The transaction that acknowledges a record's place in the log also writes its row to the partition's table; the transaction of its results
deletes the row. While a tenant has any parked record, its later records are parked too, so order per key stays the order of the log. They
come back in that order, a few at a time; the others take no memory beyond a counter.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from runtime.kafka import TopicPartition
from runtime.kafka.parked_note import ParkedNote
from streams.engine.failures.deferred_rows import count_row, counts, read_record, record_key, record_row, records_from
from streams.engine.keyed.pending_record import PendingRecord, Status
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import NullStore, RowStore, StateChange
from streams.errors import StreamError

_FIRST_VIEW: Final = 2
"""Number of a tenant's records that come back to test whether its time has come."""
_LARGEST_VIEW: Final = 512
"""Upper limit of that number; it doubles with each record that succeeds. Enough keys for all slots, even if each has many records."""


@dataclass(slots=True)
class _Tenant:
    """State of a tenant that has parked records."""

    count: int = 0
    """Rows in the table."""
    arriving: set[int] = field(default_factory=set)
    """Offsets of records that are not in the table yet."""
    view: dict[int, PendingRecord[Any]] = field(default_factory=dict)
    """Records that have come back, by offset. Their rows stay until they are done."""
    view_limit: int = _FIRST_VIEW
    next_offset: int = 0
    """Below it there are only rows of records in view."""

    @property
    def is_empty(self) -> bool:
        return not (self.count or self.arriving or self.view)


@dataclass(frozen=True, slots=True)
class ParkingChanges:
    """Changes that a transaction makes to the parked records."""

    rows: list[StateChange]
    counts: dict[str, int]
    """New counts of the tenants whose count changes."""
    stage_metadata: str
    """The new metadata of the group's offset."""
    empties_table: bool
    """Whether no row is left. The table's files still have what was parked, also of users who were erased in the meantime."""


class DeferredRecords:
    """The parked records of one partition, for one assignment.

    Args:
        source: The partition.
    """

    def __init__(self, source: TopicPartition) -> None:
        self._source = source
        self._rows: RowStore = NullStore()
        self._is_recovered = False
        self._tenants: dict[str, _Tenant] = {}

    @property
    def count(self) -> int:
        """Number of parked records."""
        return sum(tenant.count for tenant in self._tenants.values())

    @property
    def is_known_empty(self) -> bool:
        """Whether there are no parked records, stored or being stored. False before :meth:`recover`."""
        return self._is_recovered and not self._tenants

    @property
    def tenants(self) -> list[str]:
        """Tenants with parked records, stored or being stored."""
        return list(self._tenants)

    @property
    def oldest(self) -> float | None:
        """Append time of the oldest parked record in view, in seconds since the epoch. None: no record is in view."""
        firsts = (tenant.view[min(tenant.view)].record.record.timestamp for tenant in self._tenants.values() if tenant.view)
        return min(firsts, default=None)

    @property
    def stage_metadata(self) -> str:
        """The metadata of the group's offset."""
        return ParkedNote.of({name: tenant.count for name, tenant in self._tenants.items()}).text

    def recover(self, rows: RowStore) -> None:
        """Reads the counts from the table, after each restore: the table shows whether the last commit succeeded."""
        self._rows = rows
        self._is_recovered = True
        for tenant in self._tenants.values():
            tenant.count = tenant.next_offset = 0
        for name, count in counts(rows).items():
            self._tenants.setdefault(name, _Tenant()).count = count
        self._tenants = {name: tenant for name, tenant in self._tenants.items() if not tenant.is_empty}

    def holds(self, tenant: str) -> bool:
        """Whether a tenant has parked records, so that its later ones must be parked too."""
        return tenant in self._tenants

    def admit(self, entry: PendingRecord[Any]) -> list[PendingRecord[Any]]:
        """Adds a record of the log that is not in the table before :meth:`commit`.

        Returns:
            Later records of its key that came back too early: the caller must drop them again.
        """
        tenant = self._tenants.setdefault(entry.tenant, _Tenant())
        tenant.arriving.add(entry.offset)
        early = [each for each in tenant.view.values() if each.offset > entry.offset and each.key == entry.key]
        for record in early:
            del tenant.view[record.offset]
            tenant.next_offset = min(tenant.next_offset, record.offset)
        return early

    def read(self, entry: PendingRecord[Any]) -> ConsumedRecord:
        """A record that has come back, with its payload.

        Raises:
            StreamError: It is not stored, which is a defect.
        """
        record = read_record(self._rows, self._source, entry.tenant, entry.offset)
        if record is None:
            raise StreamError(f"{entry.partition.topic}/{entry.partition.partition}/{entry.offset} is not parked any more")
        return record

    def coming_back(self, name: str) -> list[ConsumedRecord]:
        """The records of a tenant that should come back now, in log order. The caller calls :meth:`show` for each."""
        tenant = self._tenants.get(name)
        if tenant is None or 2 * len(tenant.view) > tenant.view_limit or tenant.count <= len(tenant.view):
            return []
        # A record being stored may precede those in the table: then it goes first.
        end = min(tenant.arriving, default=None)
        records: list[ConsumedRecord] = []
        for record in records_from(self._rows, self._source, name, tenant.next_offset):
            if len(tenant.view) + len(records) >= tenant.view_limit or (end is not None and record.offset >= end):
                break
            tenant.next_offset = record.offset + 1
            if record.offset not in tenant.view:
                records.append(record)
        return records

    def stored(self, name: str, offset: int, *, limit: int) -> list[ConsumedRecord]:
        """A tenant's next stored records from an offset on, in log order, whether or not they have come back."""
        return list(islice(records_from(self._rows, self._source, name, offset), limit))

    def is_stored(self, name: str, offset: int) -> bool:
        """Whether a tenant's record is stored."""
        return self._rows.read(record_key(name, offset)) is not None

    def shown(self, name: str, offset: int) -> PendingRecord[Any] | None:
        """The entry of a tenant's record that has come back."""
        tenant = self._tenants.get(name)
        return None if tenant is None else tenant.view.get(offset)

    def show(self, entry: PendingRecord[Any]) -> None:
        """Marks a record as back in the scheduler."""
        self._tenants[entry.tenant].view[entry.offset] = entry

    def on_refused(self, name: str) -> None:
        """Limits the records that come back next: the tenant's time has not come."""
        tenant = self._tenants.get(name)
        if tenant is not None:
            tenant.view_limit = _FIRST_VIEW

    def size_of(self, entry: PendingRecord[Any]) -> int:
        """Approximate number of bytes that parking a record adds to a transaction; 0 if it is not to be parked."""
        return len(entry.record.record.value or b"") if entry.status is Status.PARKING else 0

    def changes(self, entries: Iterable[PendingRecord[Any]]) -> ParkingChanges:
        """Rows to write and delete when these entries are committed."""
        rows: dict[bytes, StateChange] = {}
        changed: dict[str, int] = {}
        for entry in entries:
            is_arriving = entry.status is Status.PARKING
            if not is_arriving and not entry.is_parked:
                continue
            key = record_key(entry.tenant, entry.offset)
            stored = rows[key].value if key in rows else self._rows.read(key)
            before = changed.get(entry.tenant, self._tenants[entry.tenant].count)
            changed[entry.tenant] = before + is_arriving - (stored is not None)
            rows[key] = record_row(entry.tenant, entry.record.record) if is_arriving else StateChange(key, None)
        after = {name: tenant.count for name, tenant in self._tenants.items()} | changed
        return ParkingChanges(
            rows=[*rows.values(), *(count_row(*each) for each in changed.items())],
            counts=changed,
            stage_metadata=ParkedNote.of(after).text if changed else self.stage_metadata,
            empties_table=bool(changed) and not any(after.values()),
        )

    def commit(self, changes: ParkingChanges, changelog_offset: int) -> None:
        """Applies changes that are durable in the changelog up to that offset. :meth:`end` follows for each entry."""
        if changes.rows:
            self._rows.write(changes.rows, changelog_offset)
        for name, count in changes.counts.items():
            self._tenants[name].count = count

    def has(self, entry: PendingRecord[Any]) -> bool:
        """Whether a record that has come back is still stored."""
        return self._rows.read(record_key(entry.tenant, entry.offset)) is not None

    def end(self, entry: PendingRecord[Any]) -> None:
        """Updates the tenant after the commit of an entry."""
        tenant = self._tenants.get(entry.tenant)
        if tenant is None:
            return
        if entry.is_parked:
            tenant.view.pop(entry.offset, None)
            tenant.view_limit = min(2 * tenant.view_limit, _LARGEST_VIEW)
        elif entry.offset in tenant.arriving:
            tenant.arriving.remove(entry.offset)
            tenant.next_offset = min(tenant.next_offset, entry.offset)
        if tenant.is_empty:
            del self._tenants[entry.tenant]
