"""What goes wrong in the flow, sorted by what the delivery layer does about it."""

from memory.errors import VarveError
from models.errors import NotTakenUpError, TransientModelError


class StreamError(VarveError):
    """Base of this package's errors."""


class TransientError(StreamError):
    """It may pass by itself (time-outs, 429, 5xx, a dependency that is away): the record is tried again.

    Args:
        message: What failed, and why.
        dependency: What it was that failed; its circuit breaker is shared by the worker.
        retry_after: The dependency's own word, in seconds.
        counts_as_attempt: False where the record's tenant has to wait (a budget that is used up): it opens no breaker, the record is never
            given up, and the tenant's other records are not tried meanwhile.
        concerns_record: False where the dependency has not looked at the record (429, a rate limit): the record is never given up for it.
    """

    def __init__(
        self,
        message: str,
        *,
        dependency: str,
        retry_after: float | None = None,
        counts_as_attempt: bool = True,
        concerns_record: bool = True,
    ) -> None:
        super().__init__(message)
        self.dependency = dependency
        self.retry_after = retry_after
        self.counts_as_attempt = counts_as_attempt
        self.concerns_record = concerns_record and counts_as_attempt


def transient(error: TransientModelError, *, dependency: str | None = None) -> TransientError:
    """What a model's failure that may pass means for the record that it failed; of the given dependency, or the one that it names."""
    return TransientError(
        str(error),
        dependency=dependency or error.dependency,
        retry_after=error.retry_after,
        concerns_record=not isinstance(error, NotTakenUpError),
    )


class PoisonRecordError(StreamError):
    """No retry will help: the record goes to the dead letters, untouched.

    Args:
        reason: A stable word for counters.
        message: What is wrong with the record.
        raw_answer: A model's answer that nothing could be made of.
    """

    def __init__(self, reason: str, message: str, *, raw_answer: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.raw_answer = raw_answer


class FencedError(StreamError):
    """The worker slept through its session: its partitions are others' now, and it may write nothing any more."""


class LocalTableError(StreamError):
    """The local table cannot be read or written (a full disk, a broken file): no record is to blame, the worker leaves."""


class WorkersRunningError(StreamError):
    """The operation needs a stage's workers stopped; says which run."""


class ReplayRefusedError(StreamError):
    """A replay from there would not give the state that the log says; names what does."""


class LossRefusedError(StreamError):
    """What is to be accepted as lost is not what is lost, or going on would lose more; says what is, and what to do."""


class ErasureUnfinishedError(StreamError):
    """An erasure could not be carried out to its end; running it again goes on."""
