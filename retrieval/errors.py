"""Errors of the recall pipeline."""

from typing import Literal

from memory.errors import VarveError

ModelFailure = Literal["unusable", "budget", "refused", "too_long", "busy", "off"]
"""The model's answer is not what was asked for; the tenant's tokens of the day are used up; the endpoint refuses the call for good; what it
is to read does not fit into the prompt; too many wait already; no endpoint is set."""


class RetrievalError(VarveError):
    """Base of this package's errors."""


class RecallFailedError(RetrievalError):
    """No path of a recall can answer as things are set up. Asking again does not help; an operator does."""


class ProfilesError(RetrievalError):
    """A file of ranking profiles cannot be taken; says where it is wrong and why."""


class TrainingError(RetrievalError):
    """A ranking cannot be fitted to what was recorded; says how much there is, and how much it takes."""


class RecallLateError(RetrievalError):
    """A recall, or a path of it, was not done by its deadline. Later, or with more time, it may be."""


class RecallModelError(RetrievalError):
    """A model that a recall asks has given nothing; the recall stands without it.

    Args:
        failure: Which of the reasons.
        message: What happened.
    """

    def __init__(self, failure: ModelFailure, message: str) -> None:
        super().__init__(message)
        self.failure = failure
