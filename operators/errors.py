"""Errors of the entity algebra."""

from memory.errors import VarveError


class OperatorError(VarveError):
    """Base of this package's errors."""


class RefusedChangeError(OperatorError):
    """A change cannot be applied to a property; other changes are unaffected. ``reason`` is a stable word for counters."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnusableAnswerError(OperatorError):
    """A model's answer to an operator's question is unusable."""


class EntityStateError(OperatorError):
    """Bytes are not an entity's state, or a state is empty and cannot be rendered."""


class UncorrectableFieldError(OperatorError):
    """A field of an entity cannot be set by hand.

    Args:
        field: The field's name.
        problem: The reason, and what to do instead.
        is_of_events: Whether the field is computed from events that can be corrected instead.
    """

    def __init__(self, field: str, problem: str, *, is_of_events: bool = False) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.is_of_events = is_of_events
