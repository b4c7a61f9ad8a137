"""Who holds a partition: the oldest record that it has not acknowledged, and what that waits for."""

from dataclasses import dataclass
from typing import Any, Literal, Self

from streams.engine.keyed.pending_record import PendingRecord, Status
from streams.engine.records import ConsumedRecord

State = Literal["taking_over", "waiting", "handling", "retrying", "paused", "writing"]
"""``waiting`` for its turn, ``retrying`` behind a failure, ``paused`` with all of its tenant's records: a budget is used up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OldestPending:
    """The oldest record of a partition that was delivered and is not acknowledged."""

    offset: int
    tenant: str
    """Empty where its key names none."""
    state: State
    attempts: int
    """How often it was begun."""

    @classmethod
    def of_entry(cls, entry: PendingRecord[Any], *, is_paused: bool) -> Self:
        """The holder of a partition whose records are handled by key.

        Args:
            entry: Its oldest one.
            is_paused: Whether the records of its tenant have to wait.
        """
        state: State = "writing"
        if entry.status is Status.RUNNING:
            state = "handling"
        elif entry.status is Status.WAITING:
            is_deferred = entry.attempts > 0 and not entry.is_queued
            state = "paused" if is_paused else "retrying" if is_deferred else "waiting"
        return cls(offset=entry.offset, tenant=entry.tenant, state=state, attempts=entry.attempts)

    @classmethod
    def of_record(cls, record: ConsumedRecord, *, attempts: int) -> Self:
        """The holder of a partition whose records are handled in order.

        Args:
            record: Its oldest one.
            attempts: How often the batch was begun that it is in.
        """
        state: State = "retrying" if attempts > 1 else "handling" if attempts else "waiting"
        return cls(offset=record.offset, tenant=record.tenant, state=state, attempts=attempts)
