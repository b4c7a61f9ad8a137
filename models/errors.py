"""Errors of calls to models."""

from typing import Final, Literal

from memory.errors import VarveError

_DEFAULT_PAUSE_S: Final = 1.0
_MAXIMUM_PAUSE_S: Final = 60.0
"""Some endpoints name the end of a day's quota, or a date where seconds are due; nothing would end such a pause early."""


class ModelError(VarveError):
    """Base of this package's errors."""

    dependency: Literal["llm", "embedding"] = "llm"
    """Which model raised it; an embedder sets it on its backend's errors."""


class TransientModelError(ModelError):
    """A transient failure: a time-out, a refused connection, 429, 5xx. ``retry_after_s`` is the endpoint's wish, in seconds."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class NotProcessedError(TransientModelError):
    """No endpoint has processed the call: it waits its turn, or its endpoint is not called for now. It says nothing about the request."""


class OverloadedError(NotProcessedError):
    """The endpoint is healthy, but wants fewer calls: 429."""

    @property
    def pause_s(self) -> float:
        """The wait before the next call of the endpoint, in seconds; a default if the endpoint names no time."""
        return min(self.retry_after_s or _DEFAULT_PAUSE_S, _MAXIMUM_PAUSE_S)


class ModelTimeoutError(TransientModelError):
    """The endpoint was too slow, and we closed the connection; it may charge for the call nevertheless."""


class FailedInputError(TransientModelError):
    """The endpoint failed with this input (5xx): it may serve the other texts of the batch, or none, in an outage."""


class UnusableVectorError(TransientModelError):
    """A vector is not finite, or could not be sent for that reason. The other texts of the batch may have good vectors."""


class ModelConfigurationError(ModelError):
    """A permanent failure: a wrong key, an unknown model, a dimension that does not fit."""

    refuses_credentials = False
    """Whether the endpoint does not accept the API key, or the key may not use the model (401, 403)."""


class InputRefusedError(ModelConfigurationError):
    """The endpoint will not take this input (400, 413, 422): too long, or against its rules. It may take others."""


class InputTooLongError(InputRefusedError):
    """The model will not take so long a text; it may take the beginning of it."""


BudgetKind = Literal["hard", "soft", "reextraction"]


class BudgetExceededError(ModelError):
    """A budget does not allow a call until ``retry_after_s`` seconds from now.

    Args:
        message: The budget and the call.
        retry_after_s: Seconds until the call may be made.
        kind: ``hard``: a tenant's hard budget is used up. ``soft``: its soft one is, and a call that can wait should wait so long.
            ``reextraction``: the share of re-extractions is used up; live calls continue.
        offline: Whether the tenant would rather have its windows extracted without an LLM than wait.
    """

    def __init__(self, message: str, *, retry_after_s: float, kind: BudgetKind = "hard", offline: bool = False) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.kind = kind
        self.offline = offline


class DayUsedUpError(BudgetExceededError):
    """The hard budget of a day does not allow the call; ``retry_after_s`` is the time until the next day."""
