"""Errors of the recall pipeline."""

from typing import Literal

from memory.errors import VarveError

ModelFailure = Literal["unusable", "budget", "refused", "too_long", "busy", "off"]
"""``unusable``: the reply is invalid. ``budget``: the tenant's daily tokens are used up. ``refused``: the endpoint refuses the call
permanently. ``too_long``: the input does not fit into the prompt. ``busy``: too many calls are waiting. ``off``: no endpoint is
configured."""


class RetrievalError(VarveError):
    """Base of this package's errors."""


class RecallFailedError(RetrievalError):
    """No part of a recall has a result, because of the configuration. A retry does not help; an operator must act."""


class ProfilesError(RetrievalError):
    """A file of ranking profiles is invalid. The message says where and why."""


class TrainingError(RetrievalError):
    """A ranking cannot be fitted. The message says what is missing."""


class RecallLateError(RetrievalError):
    """A recall, or a part of it, was not done by its deadline. A retry with more time may succeed."""


class RecallModelError(RetrievalError):
    """A model that a recall calls has failed. The recall continues without it.

    Args:
        failure: The reason.
        message: The explanation.
    """

    def __init__(self, failure: ModelFailure, message: str) -> None:
        super().__init__(message)
        self.failure = failure
