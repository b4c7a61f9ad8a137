"""Topics of the control log and its audit: reading, and the chain of digests that reveals changed or missing audit records.

The first record of a change contains the digest of all records of the topic before an offset, including records of other kinds (such as
accepted data losses). Its further records contain the hash of the previous one. The control log stores the head of the chain
(:class:`~control.documents.AuditHead`), so that a truncated end is detected.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeVar

from pydantic import AwareDatetime, Field, JsonValue

from control.documents import AuditHead
from control.draft import DocumentChange
from control.state import GENESIS, ControlState
from memory.errors import RecordError
from memory.records.base import Record
from memory.topics import AUDIT, CONTROL
from runtime.kafka import TopicPartition, read_topic
from runtime.settings import Settings

PARTITION: Final = 0
"""The only partition of both topics."""


class AuditRecord(Record):
    """Audit record of one changed document."""

    change: str
    """The id of the change; all its documents changed atomically."""
    number: int = Field(ge=0)
    """Number of the document within the change, from 0."""
    action: str
    """Name of the requested action."""
    by: str
    """The actor."""
    at: AwareDatetime
    subject: str
    """The document's key."""
    before: dict[str, JsonValue] | None = None
    """Previous content; None: the document is new."""
    after: dict[str, JsonValue]
    previous: str
    """Digest of the previous records; see the module."""
    until: int = Field(ge=0)
    """End offset of the records that the digest in the change's first record covers."""


class AcceptedLoss(Record):
    """Audit record of lost records of a partition that an operator has accepted. It belongs to no change."""

    action: Literal["accept_loss"] = "accept_loss"
    by: str
    """The operator."""
    at: AwareDatetime
    subject: str
    """``loss/STAGE/TOPIC/PARTITION``."""
    generation: str = ""
    """For ``extraction``: the generation of a group next to the live one."""
    first: int
    """The first lost offset."""
    next: int
    """The offset after the last lost one."""
    log_begin: int
    log_end: int
    """The ends of the log when the loss was found."""
    committed: int
    """The next offset that the group had to read."""


AuditEntry = AuditRecord | AcceptedLoss


@dataclass(slots=True)
class AuditTrail:
    """Running digest of the topic's records."""

    digest: str = GENESIS
    next_offset: int = 0

    def add(self, value: bytes, offset: int) -> None:
        """Adds the next record."""
        self.digest = _hash(self.digest.encode() + value)
        self.next_offset = offset + 1


@dataclass(frozen=True, slots=True)
class AuditedChange:
    """Audit records of a change, with the new head of the chain."""

    records: tuple[bytes, ...]
    head: AuditHead


def audit(
    changes: Sequence[DocumentChange], trail: AuditTrail, head: AuditHead, *, change: str, action: str, by: str, at: datetime
) -> AuditedChange:
    """The audit records of a change."""
    values: list[bytes] = []
    for number, each in enumerate(changes):
        record = AuditRecord(
            change=change,
            number=number,
            action=action,
            by=by,
            at=at,
            subject=each.after.key.decode("ascii"),
            before=None if each.before is None else each.before.audited(),
            after=each.after.audited(),
            previous=_hash(values[-1]) if values else trail.digest,
            until=trail.next_offset,
        )
        values.append(record.to_json())
    new_head = AuditHead(change=change, until=trail.next_offset, before=trail.digest, last=_hash(values[-1]), revision=head.revision + 1)
    return AuditedChange(tuple(values), new_head)


@dataclass(slots=True)
class AuditCheck:
    """Verifies the chain; reads the topic from its beginning."""

    problems: list[str] = field(default_factory=list)
    """Errors in the chain, in log order."""
    changes: int = 0
    """Number of changes read."""
    digests: set[str] = field(default_factory=lambda: {GENESIS})
    """The digest after each record."""
    _trail: AuditTrail = field(default_factory=AuditTrail)
    _digests: list[tuple[int, str]] = field(default_factory=lambda: [(0, GENESIS)])
    """Offsets with the digest before them, since the start of the last change."""
    _seen: set[str] = field(default_factory=set)
    """Ids of the changes read."""
    _last: tuple[AuditRecord, bytes] | None = None
    """The last record of a change."""

    @property
    def digest(self) -> str:
        """Digest of all records read. Store it elsewhere to prove later that these records were not modified."""
        return self._trail.digest

    def add(self, value: bytes, offset: int) -> AuditRecord | None:
        """Reads the next record; returns it if it belongs to a change."""
        record = _read(value, AuditRecord)
        if record is not None:
            self._check(record, offset)
            self._last = (record, value)
        self._trail.add(value, offset)
        self.digests.add(self._trail.digest)
        self._digests.append((self._trail.next_offset, self._trail.digest))
        return record

    def finish(self, head: AuditHead) -> None:
        """Compares the end of the chain with the head in the control log."""
        if not head.change:
            return
        if self._digest_before(head.until) != head.before or self._last is None or _hash(self._last[1]) != head.last:
            self.problems.append(
                f"the end does not match the control log's last change ({head.change}): records are missing or were replaced"
            )

    def problems_with(self, expected: str | None) -> list[str]:
        """Errors in the chain, and an error if the digest of an earlier reading is missing; None: no digest is expected."""
        if expected is None or expected in self.digests:
            return self.problems
        return [*self.problems, f"the digest {expected} was not found: earlier records were modified"]

    def _check(self, record: AuditRecord, offset: int) -> None:
        if record.number:
            before = None if self._last is None else (self._last[0].change, self._last[0].number + 1, _hash(self._last[1]))
            good = before == (record.change, record.number, record.previous)
        else:
            self.changes += 1
            good = record.change not in self._seen and self._digest_before(record.until) == record.previous
            self._seen.add(record.change)
            self._digests = [each for each in self._digests if each[0] >= record.until] or self._digests[-1:]
        if not good:
            self.problems.append(
                f"offset {offset} ({record.action} of {record.subject} by {record.by}): the records before it do not match its digest"
            )

    def _digest_before(self, offset: int) -> str:
        return next((digest for at, digest in reversed(self._digests) if at <= offset), "")


def change_of(value: bytes) -> str | None:
    """The id of the change that a record of the topic belongs to; None for other records."""
    record = _read(value, AuditRecord)
    return None if record is None else record.change


_R = TypeVar("_R", bound=Record)


def _read(value: bytes, kind: type[_R]) -> _R | None:
    try:
        return kind.from_json(value)
    except RecordError:
        return None


def _hash(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()


def control_partition(settings: Settings) -> TopicPartition:
    """The partition of the control log."""
    return TopicPartition(settings.topic(CONTROL.name), PARTITION)


def audit_partition(settings: Settings) -> TopicPartition:
    """The partition of the audit log."""
    return TopicPartition(settings.topic(AUDIT.name), PARTITION)


async def read_control(settings: Settings) -> ControlState:
    """The current state of the log, read from its beginning."""
    partition = control_partition(settings)
    state = ControlState()
    async for record in read_topic(partition.topic, settings.kafka, start={partition: 0}):
        state.take(record.key, record.value, offset=record.offset)
    return state


async def read_audit(settings: Settings) -> tuple[AuditCheck, list[AuditEntry]]:
    """The audit records of all changes and accepted losses, oldest first, and the check of their chain."""
    head = (await read_control(settings)).audit_head
    check = AuditCheck()
    records: list[AuditEntry] = []
    partition = audit_partition(settings)
    async for record in read_topic(partition.topic, settings.kafka, start={partition: 0}):
        value = record.value or b""
        entry = check.add(value, record.offset) or _read(value, AcceptedLoss)
        if entry is not None:
            records.append(entry)
    check.finish(head)
    return check, records
