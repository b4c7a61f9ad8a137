"""Why a recall is answered without what a model was to say."""

from typing import Literal

from retrieval.errors import RetrievalError

ModelFailure = Literal["unusable", "budget", "refused", "too_long", "busy", "off"]
"""The model's answer is not what was asked for; the tenant's tokens of the day are used up; the endpoint refuses the call for good; what it
is to read does not fit into the prompt; too many wait already; no endpoint is set."""


class RecallModelError(RetrievalError):
    """A model that a recall asks has given nothing; the recall stands without it.

    Args:
        failure: Which of the reasons.
        message: What happened.
    """

    def __init__(self, failure: ModelFailure, message: str) -> None:
        super().__init__(message)
        self.failure = failure
