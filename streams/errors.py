"""Errors of the stages, by the engine's reaction to them."""

import asyncio
import os

from memory.errors import VarveError
from models.errors import NotProcessedError, TransientModelError


class StreamError(VarveError):
    """Base of this package's errors."""


class TransientError(StreamError):
    """A failure that may end without intervention (timeouts, 429, 5xx, an unavailable dependency): the record is retried.

    Args:
        message: The failure and its reason.
        dependency: The dependency that failed; the worker's partitions share its circuit breaker.
        retry_after_s: The dependency's own waiting time, in seconds.
        counts_as_attempt: False if the record's tenant has to wait (a budget is used up): the breaker stays closed, the record is never
            given up, and the tenant's other records are not attempted in the meantime.
        concerns_record: False if the dependency has not looked at the record (429, a rate limit): the record is never given up for it.
    """

    def __init__(
        self,
        message: str,
        *,
        dependency: str,
        retry_after_s: float | None = None,
        counts_as_attempt: bool = True,
        concerns_record: bool = True,
    ) -> None:
        super().__init__(message)
        self.dependency = dependency
        self.retry_after_s = retry_after_s
        self.counts_as_attempt = counts_as_attempt
        self.concerns_record = concerns_record and counts_as_attempt


class NotReadyError(StreamError):
    """The record has to wait for the work of others. It is handled again afterwards, and holds no slot until then; this is no failure.

    Args:
        message: What the record waits for.
        ready: Done when the record may be handled again. No caller may cancel it.
    """

    def __init__(self, message: str, *, ready: "asyncio.Future[None]") -> None:
        super().__init__(message)
        self.ready = ready


def transient(error: TransientModelError, *, dependency: str | None = None) -> TransientError:
    """The record's failure for a model's transient failure, for the given dependency or the one that the model names."""
    return TransientError(
        str(error),
        dependency=dependency or error.dependency,
        retry_after_s=error.retry_after_s,
        concerns_record=not isinstance(error, NotProcessedError),
    )


class PoisonRecordError(StreamError):
    """The record can never be processed: it goes to the dead letters, unchanged.

    Args:
        reason: A stable word for counters.
        message: The problem with the record.
        raw_answer: A model's answer that could not be parsed.
    """

    def __init__(self, reason: str, message: str, *, raw_answer: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.raw_answer = raw_answer


class WaitedTooLongError(PoisonRecordError):
    """The record may be processed later, but has blocked its partition for too long.

    A stage that handles records in order writes a dead letter. A stage that handles them by key keeps the record waiting: there it delays
    only records of its tenant.
    """


class FencedError(StreamError):
    """The worker slept through its session: other workers own its partitions, and it must not write."""

    exit_code = os.EX_TEMPFAIL


class LocalTableError(StreamError):
    """The local table cannot be read or written (a full disk, a damaged file). No record is at fault; the worker exits."""


class WorkersRunningError(StreamError):
    """The operation needs a stage's workers stopped; the message names the running ones."""


class ReplayRefusedError(StreamError):
    """A replay from there would not reproduce the log's state; the message names a command that does."""


class LossRefusedError(StreamError):
    """The accepted loss differs from the actual one, or continuing would lose more; the message names the loss and the remedy."""


class StageBehindError(StreamError):
    """A stage has not handled in time what an operation has sent to it; running the operation again continues it."""


class ErasureUnfinishedError(StreamError):
    """An erasure could not be completed; running it again continues it."""


class GrowthRefusedError(StreamError):
    """The topics cannot grow now; the message has the reason and the remedy."""


class GrowthFaultyError(StreamError):
    """The copied records or rows differ from the present ones. Nothing was switched; run the command again."""
