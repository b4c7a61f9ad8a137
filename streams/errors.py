"""What goes wrong in the flow, sorted by what the delivery layer does about it."""

from memory.errors import VarveError


class StreamError(VarveError):
    """Base of this package's errors."""


class TransientError(StreamError):
    """It may pass by itself (time-outs, 429, 5xx, a dependency that is away): the record is tried again.

    Args:
        message: What failed, and why.
        dependency: What it was that failed; its circuit breaker is shared by the worker.
        retry_after: The dependency's own word, in seconds.
        is_try: False where the record's tenant has to wait (a budget that is used up): it opens no breaker, it is never given up, and
            the tenant's other records are not tried meanwhile.
    """

    def __init__(self, message: str, *, dependency: str, retry_after: float | None = None, is_try: bool = True) -> None:
        super().__init__(message)
        self.dependency = dependency
        self.retry_after = retry_after
        self.is_try = is_try


class PoisonRecordError(StreamError):
    """No retry will help: the record goes to the dead letters, untouched. ``reason`` is a stable word for counters."""

    def __init__(self, reason: str, message: str, *, raw_answer: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.raw_answer = raw_answer


class FencedError(StreamError):
    """The partition is not ours any more: whatever was computed for it must not be written."""


class LocalTableError(StreamError):
    """The local table cannot be read or written (a full disk, a broken file): no record is to blame, the worker leaves."""


class WorkersRunningError(StreamError):
    """What was asked for needs a stage's workers stopped."""


class ReplayRefusedError(StreamError):
    """A replay from there would not give the state that the log says; names what does."""
