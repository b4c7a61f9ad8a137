"""The audit of changes: who changed what, when, from what to what; each record bears the hash of all before it. Pure.

The first record of a change bears the digest of every record of the topic before an offset, those of others included (the losses of a log
that were accepted are noted here, too). Its further records bear the hash of the one before. The control log keeps where the chain stands
(:class:`~control.documents.AuditHead`), so that an end that was cut off is noticed.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import AwareDatetime, Field, JsonValue

from control.documents import AuditHead
from control.draft import DocumentChange
from control.state import GENESIS
from memory.errors import RecordError
from memory.records.base import Record


class AuditRecord(Record):
    """One document that was changed."""

    change: str
    """The id of the change; all its documents became another at once."""
    number: int = Field(ge=0)
    """Counts the documents of the change from 0."""
    action: str
    """What was asked for."""
    by: str
    """Who asked."""
    at: AwareDatetime
    subject: str
    """The document's key."""
    before: dict[str, JsonValue] | None = None
    """None: there was none."""
    after: dict[str, JsonValue]
    previous: str
    """The digest of what lies before: see the module."""
    until: int = Field(ge=0)
    """The offset before which all that the change's first record attests lies."""


@dataclass(slots=True)
class AuditTrail:
    """The digest of the topic's records, one after the other."""

    digest: str = GENESIS
    next_offset: int = 0

    def add(self, value: bytes, offset: int) -> None:
        """Adds the next record."""
        self.digest = _hash(self.digest.encode() + value)
        self.next_offset = offset + 1


@dataclass(frozen=True, slots=True)
class AuditedChange:
    """What a change adds to the audit."""

    records: tuple[bytes, ...]
    head: AuditHead


def audit(
    changes: Sequence[DocumentChange], trail: AuditTrail, head: AuditHead, *, change: str, action: str, by: str, at: datetime
) -> AuditedChange:
    """The records of a change.

    Args:
        changes: What became another.
        trail: The digest of all that lies in the topic.
        head: Where the chain stood.
        change: The change's id.
        action: What was asked for.
        by: Who asked.
        at: When, aware.
    """
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
    """Reads the topic from its beginning and notices where the chain is broken."""

    problems: list[str] = field(default_factory=list)
    """What is broken, in the order of the log."""
    changes: int = 0
    """How many changes were read."""
    digests: set[str] = field(default_factory=lambda: {GENESIS})
    """The digest behind each record."""
    _trail: AuditTrail = field(default_factory=AuditTrail)
    _digests: list[tuple[int, str]] = field(default_factory=lambda: [(0, GENESIS)])
    """The digest before an offset, since the last change began."""
    _seen: set[str] = field(default_factory=set)
    """The changes that were read."""
    _last: tuple[AuditRecord, bytes] | None = None
    """The last record of a change."""

    @property
    def digest(self) -> str:
        """The digest of all that was read: noted elsewhere, it shows later that nothing before was made another."""
        return self._trail.digest

    def add(self, value: bytes, offset: int) -> AuditRecord | None:
        """Reads the next record; gives it back if it is a change's."""
        record = _read(value)
        if record is not None:
            self._check(record, offset)
            self._last = (record, value)
        self._trail.add(value, offset)
        self.digests.add(self._trail.digest)
        self._digests.append((self._trail.next_offset, self._trail.digest))
        return record

    def finish(self, head: AuditHead) -> None:
        """Compares what was read with where the control log says that the chain stands."""
        if not head.change:
            return
        if self._digest_before(head.until) != head.before or self._last is None or _hash(self._last[1]) != head.last:
            self.problems.append(
                f"the end is not that of the last change of the control log ({head.change}): records are missing or another's"
            )

    def problems_with(self, expected: str | None) -> list[str]:
        """What is broken, and whether a digest that an earlier reading gave is not met any more; None: no digest is expected."""
        if expected is None or expected in self.digests:
            return self.problems
        return [*self.problems, f"the digest {expected} is never met: what lay there is another"]

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
                f"offset {offset} ({record.action} of {record.subject} by {record.by}): what lies before it is not what it attests"
            )

    def _digest_before(self, offset: int) -> str:
        return next((digest for at, digest in reversed(self._digests) if at <= offset), "")


def change_of(value: bytes) -> str | None:
    """The id of the change that a record of the topic belongs to; None for what is no change's."""
    record = _read(value)
    return None if record is None else record.change


def _read(value: bytes) -> AuditRecord | None:
    try:
        return AuditRecord.from_json(value)
    except RecordError:
        return None


def _hash(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()
