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
