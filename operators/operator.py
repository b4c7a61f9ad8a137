"""The operator interface: applies events to a small state, retracts them, and reads a value from it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Final, cast

from pydantic import JsonValue

from memory.schema.model import ParameterValue, ValueType
from memory.schema.operator_specs import OperatorSpec
from memory.schema.time_window import TimeWindow
from operators.work import WorkBudget

State = Any
"""An operator's state, as JSON carries it. It is bounded, and never changed in place."""


_CAPACITY_OF_PARTS: Final = 2048
"""Entries that the states of a time window's units keep together."""


class UnknownValue(Enum):
    """The value of a state that has dropped the data needed to compute it. The entity must be rebuilt from the log."""

    UNKNOWN = "unknown"


Value = JsonValue | UnknownValue
"""None: there is none."""


@dataclass(frozen=True, slots=True)
class Operand:
    """The part of an event that an operator receives."""

    value: JsonValue
    """The event's property, or its text; None if the operator's input is the event itself."""
    time: int
    """The event time, in microseconds since 1970 (UTC)."""
    source_id: str
    """Names the event."""
    newest: int
    """The newest event time of the entity, at least ``time``. It never goes back."""
    source: str = ""
    """The topic and partition of the log that it comes from."""
    position: int = 0
    """Its offset there."""
    order: int = 0
    """Of events of one time, the greater is the newer."""
    work: WorkBudget | None = field(default=None, compare=False)
    """The work budget for operators with more than constant work; None: the operator uses its own budget."""
    offset: int = 0
    """The UTC offset of the event time, in microseconds."""
    newest_local: int | None = None
    """The newest :attr:`local` time of the entity's events. It never goes back. None: :attr:`newest`."""

    @property
    def fields(self) -> dict[str, Any]:
        """The value of an input that is the event itself: ``whole``, ``detailed`` or ``embedded``."""
        return cast(dict[str, Any], self.value)

    @property
    def local(self) -> int:
        """The time on the clock of the event's user, in microseconds: days and weeks are those of this clock."""
        return self.time + self.offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The schema's definition of one property."""

    value_type: ValueType
    description: str = ""
    """The property's description in the schema."""
    parameters: Mapping[str, ParameterValue]
    """All parameters that the operator's spec names."""
    window: TimeWindow | None = None
    """The entity type's time window."""

    def whole(self, name: str) -> int:
        """A parameter that is a whole number."""
        return cast(int, self.parameters[name])

    def flag(self, name: str) -> bool:
        """A parameter that is true or false."""
        return cast(bool, self.parameters[name])

    def span_us(self, name: str) -> int:
        """A parameter that is a span of time, in microseconds."""
        return cast(TimeWindow, self.parameters[name]).microseconds


class Operator(ABC):
    """An operator for one property: ``entity := SELECT OP(event.content) FROM events GROUP BY keys`` (VikingMem 2.2.2).

    Args:
        configuration: The schema's definition of the property.
    """

    spec: ClassVar[OperatorSpec]

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration

    @abstractmethod
    def apply(self, state: State | None, operand: Operand) -> State | None:
        """Applies an event.

        Args:
            state: The state so far; None if there is none.
            operand: The event.

        Returns:
            The new state; None once nothing is left.

        Raises:
            operators.errors.RefusedChangeError: If the operator does not take it.
        """

    @abstractmethod
    def retract(self, state: State | None, operand: Operand) -> State | None:
        """Retracts an event; it need not be the last one applied.

        Args:
            state: The state so far; None if there is none.
            operand: The event, as it was applied.

        Returns:
            The state as if the event had never been applied, as far as a bounded state allows; None if it is empty.

        Raises:
            operators.errors.RefusedChangeError: If the event cannot be retracted.
        """

    def remove(self, state: State | None, operand: Operand) -> State | None:
        """Retracts an event for good: no other result of its source follows, as in a correction, retention or a dropped generation.

        Args:
            state: The state so far; None if there is none.
            operand: The event, as it was applied.

        Returns:
            As :meth:`retract`, which it is by default.

        Raises:
            operators.errors.RefusedChangeError: As :meth:`retract`.
        """
        return self.retract(state, operand)

    @abstractmethod
    def value(self, state: State) -> Value:
        """The property's value. The schema defines the type of a number, not the operator."""

    def prune(self, state: State, newest: int, newest_local: int | None = None) -> State | None:
        """The state without the parts that have left the time window.

        Args:
            state: The state; it is not changed.
            newest: The newest event time of the entity, in microseconds since 1970 (UTC).
            newest_local: The newest :attr:`Operand.local` time of the entity. Default: ``newest``.
        """
        return state


class MergeableOperator(Operator):
    """An operator whose states over parts of the events can be merged, as time windows require."""

    @abstractmethod
    def merge(self, one: State, other: State) -> State | None:
        """The state over the events of both."""

    @abstractmethod
    def with_capacity_for(self, parts: int) -> "MergeableOperator":
        """The same operator, for so many states that are kept side by side: each may be the smaller."""


class AdditiveOperator(MergeableOperator):
    """An operator whose applications are additions that can be subtracted exactly, in any order."""

    def apply(self, state: State | None, operand: Operand) -> State | None:
        """See :meth:`Operator.apply`."""
        return self.add(state, operand, 1)

    def retract(self, state: State | None, operand: Operand) -> State | None:
        """See :meth:`Operator.retract`; a retraction may come before its application."""
        return self.add(state, operand, -1)

    @abstractmethod
    def add(self, state: State | None, operand: Operand, times: int) -> State | None:
        """Adds an event.

        Args:
            state: The state so far; it is not changed.
            operand: The event.
            times: Multiplicity; negative retracts.

        Returns:
            The new state; None once nothing is left.

        Raises:
            operators.errors.RefusedChangeError: If the operator does not accept the event in any state.
        """

    def with_capacity_for(self, parts: int) -> MergeableOperator:
        """See :meth:`MergeableOperator.with_capacity_for`: a state without a capacity stays as it is."""
        return self


class BoundedOperator(AdditiveOperator):
    """An additive operator with a maximum number of entries.

    Args:
        configuration: The schema's definition of the property.
        capacity: Maximum number of entries. Default: :attr:`default_capacity`.

    Raises:
        ValueError: If the capacity is too small.
    """

    default_capacity: ClassVar[int]
    least_capacity: ClassVar[int]
    """Minimum capacity of each state if several are kept in parallel."""

    def __init__(self, configuration: Configuration, capacity: int | None = None) -> None:
        super().__init__(configuration)
        self._capacity = self.default_capacity if capacity is None else capacity
        if self._capacity < 1:
            raise ValueError(f"{self.spec.name} keeps at least one entry, got a capacity of {self._capacity}")

    def with_capacity_for(self, parts: int) -> MergeableOperator:
        """See :meth:`MergeableOperator.with_capacity_for`."""
        return type(self)(self._configuration, max(self.least_capacity, min(self._capacity, _CAPACITY_OF_PARTS // parts)))
