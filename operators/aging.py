"""What an operator is whose state changes as event time goes by, and not by events alone."""

from abc import abstractmethod
from dataclasses import dataclass

from operators.operator import Operator, State


@dataclass(frozen=True, slots=True)
class AgedEvent:
    """An event whose time to live is over."""

    id: str
    user: str
    window_id: str


class AgingOperator(Operator):
    """An operator that summarises events and lets them go. All its times are event times, in microseconds since 1970 (UTC).

    What it does at a time depends on the events before that time alone. So it does not matter how late a tick comes, or whether the next
    event comes first.
    """

    @abstractmethod
    def advance(self, state: State, now: int) -> State:
        """The state once event time has come so far; the same one for a time that has passed already."""

    @abstractmethod
    def due(self, state: State) -> int | None:
        """When the state changes next without an event; None: never."""

    @abstractmethod
    def touch(self, state: State, source_id: str, time: int) -> State:
        """The state once an event was recalled: its time to live begins anew. One that the state does not hold changes nothing.

        Args:
            state: The state; it is not changed.
            source_id: The event.
            time: When it was recalled.
        """

    @abstractmethod
    def ask(self, state: State) -> tuple[State, list[AgedEvent]]:
        """The events whose time to live is over, each named once, and the state that knows it."""

    @abstractmethod
    def release(self, state: State, source_id: str, time: int) -> State | None:
        """The state once an event is no memory of its own any more; what was summarised of it remains.

        Args:
            state: The state; it is not changed.
            source_id: The event.
            time: How far event time had come when it was named: the state comes so far, too.

        Returns:
            None once nothing is left.
        """

    @abstractmethod
    def clock(self, state: State) -> int | None:
        """How far event time has come for the state; None: it has no event yet."""
