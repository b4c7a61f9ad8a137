"""The parked records of one partition: whose they are, which of them are on their way in, and which have come back to be tried.

A record is parked by a row of the partition's table, in the transaction that acknowledges its place in the log, and leaves by that row's
deletion, in the transaction of what came of it. While a tenant has anything here, all its later records come here as well, so that order
inside a key is that of the log. They come back in that order, a few at a time: the rest takes no memory but a number.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from runtime.kafka import TopicPartition
from runtime.kafka.parked_note import ParkedNote
from streams.engine.failures.deferred_rows import count_row, counts, read_record, record_key, record_row, records_from
from streams.engine.keyed.pending_record import PendingRecord, Status
from streams.engine.records import ConsumedRecord
from streams.engine.state.null_store import NullStore
from streams.engine.state.partition_state import RowStore, StateChange
from streams.errors import StreamError

_FIRST_VIEW: Final = 2
"""How many of a tenant's records come back to find out whether its time has come."""
_LARGEST_VIEW: Final = 128
"""How many are back at once where they get done: the number doubles with each."""


@dataclass(slots=True)
class _Tenant:
    """What is known of a tenant that has records here."""

    count: int = 0
    """Its rows in the table."""
    arriving: set[int] = field(default_factory=set)
    """The offsets of those that are not in the table yet."""
    view: dict[int, PendingRecord[Any]] = field(default_factory=dict)
    """Those that have come back, by their offsets. Their rows stay until they are done."""
    view_limit: int = _FIRST_VIEW
    next_offset: int = 0
    """Below it, no row but those in view."""

    @property
    def is_empty(self) -> bool:
        return not (self.count or self.arriving or self.view)


@dataclass(frozen=True, slots=True)
class ParkingChanges:
    """What a transaction does to the parked records."""

    rows: list[StateChange]
    counts: dict[str, int]
    """How many each tenant then has, of those whose number changes."""
    note: str
    """What then stands beside the group's offset."""


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
        """How many records are parked."""
        return sum(tenant.count for tenant in self._tenants.values())

    @property
    def is_known_empty(self) -> bool:
        """Whether nothing is here, or on its way; not before :meth:`recover`."""
        return self._is_recovered and not self._tenants

    @property
    def tenants(self) -> list[str]:
        """Who has any here, or on their way."""
        return list(self._tenants)

    @property
    def oldest(self) -> float | None:
        """When the oldest parked record was appended to its log, in seconds since the epoch; None where none is known."""
        firsts = (tenant.view[min(tenant.view)].record.record.timestamp for tenant in self._tenants.values() if tenant.view)
        return min(firsts, default=None)

    @property
    def note(self) -> str:
        """What stands beside the group's offset."""
        return ParkedNote.of({name: tenant.count for name, tenant in self._tenants.items()}).text

    def recover(self, rows: RowStore) -> None:
        """Reads who has how many here, at every take-over: whether the commit before it was one, the table says."""
        self._rows = rows
        self._is_recovered = True
        for tenant in self._tenants.values():
            tenant.count = tenant.next_offset = 0
        for name, count in counts(rows).items():
            self._tenants.setdefault(name, _Tenant()).count = count
        self._tenants = {name: tenant for name, tenant in self._tenants.items() if not tenant.is_empty}

    def holds(self, tenant: str) -> bool:
        """Whether a tenant has any record here, or on its way: its later ones have to come behind."""
        return tenant in self._tenants

    def admit(self, entry: PendingRecord[Any]) -> list[PendingRecord[Any]]:
        """Takes a record of the log in, which is not in the table before :meth:`commit`.

        Returns:
            Records of its key that lie behind it, and have come back before it: they have to go again.
        """
        tenant = self._tenants.setdefault(entry.tenant, _Tenant())
        tenant.arriving.add(entry.offset)
        early = [each for each in tenant.view.values() if each.offset > entry.offset and each.key == entry.key]
        for each in early:
            del tenant.view[each.offset]
            tenant.next_offset = min(tenant.next_offset, each.offset)
        return early

    def read(self, entry: PendingRecord[Any]) -> ConsumedRecord:
        """A record that has come back, with its payload.

        Raises:
            StreamError: It is not here: a defect.
        """
        record = read_record(self._rows, self._source, entry.tenant, entry.offset)
        if record is None:
            raise StreamError(f"{entry.partition.topic}/{entry.partition.partition}/{entry.offset} is not parked any more")
        return record

    def coming_back(self, name: str) -> list[ConsumedRecord]:
        """The records of a tenant that are to come back now, in the order of the log; each has then to be in view (:meth:`show`)."""
        tenant = self._tenants.get(name)
        if tenant is None or 2 * len(tenant.view) > tenant.view_limit or tenant.count <= len(tenant.view):
            return []
        # What is on its way in may lie before what is in the table: then it goes first.
        end = min(tenant.arriving, default=None)
        records: list[ConsumedRecord] = []
        for record in records_from(self._rows, self._source, name, tenant.next_offset):
            if len(tenant.view) + len(records) >= tenant.view_limit or (end is not None and record.offset >= end):
                break
            tenant.next_offset = record.offset + 1
            if record.offset not in tenant.view:
                records.append(record)
        return records

    def show(self, entry: PendingRecord[Any]) -> None:
        """A record has come back."""
        self._tenants[entry.tenant].view[entry.offset] = entry

    def on_refused(self, name: str) -> None:
        """A tenant's time has not come: its records come back a few at a time."""
        tenant = self._tenants.get(name)
        if tenant is not None:
            tenant.view_limit = _FIRST_VIEW

    def size_of(self, entry: PendingRecord[Any]) -> int:
        """What parking a record adds to a transaction, in bytes, or nearly so; 0 for one that is not to be parked."""
        return len(entry.record.record.value or b"") if entry.status is Status.PARKING else 0

    def changes(self, entries: Iterable[PendingRecord[Any]]) -> ParkingChanges:
        """What committing these entries does to the parked records: puts them here, or takes them out."""
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
            [*rows.values(), *(count_row(*each) for each in changed.items())], changed, ParkedNote.of(after).text if changed else self.note
        )

    def commit(self, changes: ParkingChanges, changelog_offset: int) -> None:
        """The changes are durable in the changelog, up to that offset; :meth:`end` follows for each entry."""
        if changes.rows:
            self._rows.write(changes.rows, changelog_offset)
        for name, count in changes.counts.items():
            self._tenants[name].count = count

    def has(self, entry: PendingRecord[Any]) -> bool:
        """Whether a record that has come back is still here."""
        return self._rows.read(record_key(entry.tenant, entry.offset)) is not None

    def end(self, entry: PendingRecord[Any]) -> None:
        """An entry is committed: a record is in the table, or out of it, or has nothing to do with it."""
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
