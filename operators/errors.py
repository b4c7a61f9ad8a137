"""What goes wrong in the algebra of entities."""

from memory.errors import VarveError


class OperatorError(VarveError):
    """Base of this package's errors."""


class RefusedChangeError(OperatorError):
    """One change cannot be applied to one property; all others can. ``reason`` is a stable word for counters."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnusableAnswerError(OperatorError):
    """A model's answer to an operator's question is not what was asked for."""


class EntityStateError(OperatorError):
    """Bytes are not the state of an entity, or a state holds nothing that could be rendered."""


class UncorrectableFieldError(OperatorError):
    """A field of an entity cannot be set by hand.

    Args:
        field: Its name.
        problem: Why not, and what to do instead.
        is_of_events: Whether the events that it is made of can be corrected instead.
    """

    def __init__(self, field: str, problem: str, *, is_of_events: bool = False) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.is_of_events = is_of_events
