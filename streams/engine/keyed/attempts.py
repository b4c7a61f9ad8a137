"""One attempt with one record in a stage that handles records by key; it ends in outputs, a dead letter or a later attempt."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Final, NamedTuple, Protocol

from memory.errors import RecordError
from runtime import tracing
from runtime.kafka import OutgoingRecord
from runtime.logs import logger
from streams.engine.context import TaskContext
from streams.engine.keyed.pending_record import PendingRecord
from streams.engine.record_spans import context_of, start_record_span
from streams.engine.records import ConsumedRecord, propagate_context
from streams.engine.tasks.batch import Rejection
from streams.engine.tasks.driver import InFlightRecord
from streams.errors import LocalTableError, NotReadyError, PoisonRecordError, TransientError, WaitedTooLongError

_log = logger(__name__)

_MAXIMUM_REFUSALS: Final = 2
"""Refusals of a record's results and of its dead letter; after that, the smallest letter is retried with waits."""

LoadEntry = Callable[[PendingRecord[InFlightRecord]], Awaitable[ConsumedRecord]]
"""Reads the payload of an evicted entry again, from the parked records or the log.

Raises:
    streams.errors.TransientError: The broker does not return it now.
    streams.errors.PoisonRecordError: It no longer exists.
"""


HealthCheck = Callable[[str, str], Awaitable[bool]]
"""Whether a dependency accepts another call, given its name and the tenant of the record that failed; never raises."""


class KeyedHandler(Protocol):
    """Processing of one record by one stage."""

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        """Handles a record. The outputs are committed before or with the record's offset.

        Raises:
            streams.errors.TransientError: The record is retried later.
            streams.errors.PoisonRecordError: The record goes to the dead letters.
            memory.errors.RecordError: The record goes to the dead letters.
            streams.errors.NotReadyError: The record is handled again when what it waits for has happened.
        """
        ...


class RetryLater(NamedTuple):
    """A record to be retried."""

    failure: TransientError
    failures: int
    """Number of failures so far."""


class Postponed(NamedTuple):
    """A record that waits for the work of others."""

    ready: "asyncio.Future[None]"
    """Done when it may be handled again."""


class KeyedAttempts:
    """Attempts records. A record whose own failures with a dependency reach the retry policy's maximum goes to the dead letters.

    Args:
        context: State shared by the worker's partitions.
        handler: Handles a record.
        load: Reads a payload that the scheduler has evicted.
        serves: Checks whether a dependency is available, to separate an outage from a faulty record. None: no check.
    """

    def __init__(self, *, context: TaskContext, handler: KeyedHandler, load: LoadEntry, serves: HealthCheck | None = None) -> None:
        self._context = context
        self._handler = handler
        self._load = load
        self._serves = serves
        self.consecutive_failures = 0
        """Failed attempts in a row, of any record, without a success."""

    async def run(self, entry: PendingRecord[InFlightRecord]) -> RetryLater | Postponed | None:
        """Attempts a record once. On success, ``entry.result`` has its outputs.

        Returns:
            None if the result is known; otherwise when to handle it again.
        """
        entry.attempts += 1
        entry.first_attempt_at = entry.first_attempt_at or datetime.now(UTC)
        later = await self.load(entry)
        if later is not None or entry.result is not None:
            return later
        return await self._compute(entry, entry.record.record)

    async def load(self, entry: PendingRecord[InFlightRecord]) -> RetryLater | None:
        """Loads an evicted payload. If it no longer exists, ``entry.result`` has the dead letter.

        Returns:
            None unless it is to be retried.
        """
        if not entry.record.is_evicted:
            return None
        try:
            loaded = await self._load(entry)
            # A rebalance may have delivered the record again in the meantime, with its payload.
            if entry.record.is_evicted:
                entry.record.restore(loaded)
        except TransientError as failure:
            # The log failed, not the record, which without its payload could not even go to the dead letters.
            self._context.dependencies.record_failure(failure)
            return RetryLater(failure, entry.attempts)
        except PoisonRecordError as error:
            entry.result = await self._dead_letter(entry, error)
        return None

    async def reject(self, entry: PendingRecord[InFlightRecord], error: RecordError) -> list[OutgoingRecord]:
        """The dead letter of an entry whose results Kafka refuses; the smallest letter if Kafka refuses that; then again after a wait."""
        entry.refusals += 1
        if entry.refusals > 1:
            self._context.dead_letters.log_refused(entry.record.record, error)
        if entry.refusals > _MAXIMUM_REFUSALS:
            raise TransientError(f"the dead letter of {entry.record.record.position} is refused", dependency="kafka")
        refusal = PoisonRecordError(error.reason, f"its outputs cannot be produced: {error}")
        return await self._dead_letter(entry, refusal, is_smallest=entry.refusals > 1)

    async def _compute(self, entry: PendingRecord[InFlightRecord], record: ConsumedRecord) -> RetryLater | Postponed | None:
        journal = self._context.journal
        try:
            journal.reject_poison(record.partition, record.offset)
            async with journal.held(record.partition, record.offset, record.offset):
                entry.result = await self._outputs(record)
            self._context.dependencies.record_success(started_at=entry.started_at)
            self.consecutive_failures = 0
        except NotReadyError as wait:
            entry.attempts -= 1
            return Postponed(wait.ready)
        except TransientError as failure:
            self._context.dependencies.record_failure(failure, record.position)
            self.consecutive_failures += failure.counts_as_attempt
            failures = await self._own_failures(entry, failure)
            if failures < self._context.dependencies.retry_policy.maximum_attempts:
                return RetryLater(failure, failures)
            entry.result = await self._dead_letter(entry, PoisonRecordError("gave_up", str(failure)))
        except (PoisonRecordError, RecordError) as error:
            entry.result = await self._dead_letter(entry, error)
        except LocalTableError:
            raise
        except Exception as error:
            trace_id = entry.record.record.trace_id
            _log.exception("record_failed_unexpectedly", stage=self._context.stage, trace_id=trace_id, error=str(error))
            entry.result = await self._dead_letter(entry, error)
        return None

    async def _outputs(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        """The outputs of a record, with its trace context. Its span is current while the handler runs, so calls become its children."""
        if not tracing.is_recording():
            outputs, context = await self._handled(record), record.context
        else:
            span = start_record_span(self._context.stage, record)
            with tracing.current(span):
                outputs = await self._handled(record)
            context = context_of(record, span)
        return [propagate_context(output, context) for output in outputs]

    async def _handled(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        try:
            return await self._handler.handle(record)
        except WaitedTooLongError as error:
            raise TransientError(str(error), dependency="control", counts_as_attempt=False) from error

    async def _own_failures(self, entry: PendingRecord[InFlightRecord], failure: TransientError) -> int:
        """Number of failures with this dependency that are the record's own."""
        if not failure.concerns_record:
            return 0
        dependency, now = failure.dependency, time.monotonic()
        is_open = not self._context.dependencies.breaker(dependency).is_closed
        is_alone = is_open and not self._context.dependencies.is_unavailable(dependency)
        is_served = is_alone and self._serves is not None and await self._serves(dependency, entry.tenant)
        return entry.failure_budget.record_failure(
            dependency,
            now=now,
            last_success_at=self._context.dependencies.last_success_at,
            is_open=is_open,
            is_unavailable=self._context.dependencies.is_unavailable(dependency),
            is_served=is_served,
        )

    async def _dead_letter(
        self, entry: PendingRecord[InFlightRecord], error: Exception, *, is_smallest: bool = False
    ) -> list[OutgoingRecord]:
        rejection = Rejection.of(entry.record.record, error)
        first_attempt_at = entry.first_attempt_at or datetime.now(UTC)
        return await self._context.dead_letters.create(
            rejection, attempts=entry.attempts, first_attempt_at=first_attempt_at, is_smallest=is_smallest
        )
