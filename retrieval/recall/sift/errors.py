"""Why a recall is answered without the proxy model."""

from typing import Literal

from retrieval.errors import RetrievalError

SiftFailure = Literal["unusable", "budget", "refused", "too_long", "busy", "off"]
"""The model's answer is no ranking; the tenant's tokens of the day are used up; the endpoint refuses the call for good; no session fits
into the prompt; too many wait already; no endpoint is set."""


class SiftError(RetrievalError):
    """The sessions could not be ranked by the proxy model; the primary ranking stands.

    Args:
        failure: Which of the reasons.
        message: What happened.
    """

    def __init__(self, failure: SiftFailure, message: str) -> None:
        super().__init__(message)
        self.failure = failure
