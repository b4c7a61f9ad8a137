"""Errors that extraction raises on purpose.

A prompt that does not fit into the model's context is a :class:`models.errors.ModelConfigurationError`: an operator repairs it, like a
wrong model name.
"""

from memory.errors import VarveError


class ExtractionError(VarveError):
    """Base of this package's errors."""


class UnusableAnswerError(ExtractionError):
    """The model's answer cannot be used, and repair did not help or was not asked for. ``raw`` is its text, for the dead letter."""

    def __init__(self, message: str, *, raw: str) -> None:
        super().__init__(message)
        self.raw = raw
