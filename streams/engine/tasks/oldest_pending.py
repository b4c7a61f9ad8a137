"""Oldest unacknowledged record of a partition, and what it waits for."""

from dataclasses import dataclass
from typing import Any, Literal, Self

from streams.engine.keyed.pending_record import PendingRecord, Status
from streams.engine.records import ConsumedRecord

State = Literal["restoring", "waiting", "handling", "retrying", "paused", "writing"]
"""``waiting`` for its turn, ``retrying`` after a failure, ``paused`` with all records of its tenant because a budget is used up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OldestPending:
    """The oldest record of a partition that was delivered and is not acknowledged."""

    offset: int
    tenant: str
    """Empty where its key names none."""
    state: State
    attempts: int
    """Number of attempts."""

    @classmethod
    def of_entry(cls, entry: PendingRecord[Any], *, is_paused: bool) -> Self:
        """Creates it from the oldest entry of a partition whose records are handled by key.

        Args:
            entry: The entry.
            is_paused: Whether its tenant is paused.
        """
        state: State = "writing"
        if entry.status is Status.RUNNING:
            state = "handling"
        elif entry.status is Status.WAITING:
            waits_for_retry = entry.attempts > 0 and not entry.is_queued
            state = "paused" if is_paused else "retrying" if waits_for_retry else "waiting"
        return cls(offset=entry.offset, tenant=entry.tenant, state=state, attempts=entry.attempts)

    @classmethod
    def of_record(cls, record: ConsumedRecord, *, attempts: int) -> Self:
        """Creates it from the oldest record of a partition whose records are handled in order.

        Args:
            record: The record.
            attempts: Number of attempts at its batch.
        """
        state: State = "retrying" if attempts > 1 else "handling" if attempts else "waiting"
        return cls(offset=record.offset, tenant=record.tenant, state=state, attempts=attempts)
