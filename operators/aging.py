"""Interface of an operator whose state changes not only with events, but also as event time advances."""

from abc import abstractmethod
from dataclasses import dataclass

from operators.operator import Operator, State


@dataclass(frozen=True, slots=True)
class AgedEvent:
    """An event whose time to live has expired."""

    id: str
    user: str
    window_id: str


class AgingOperator(Operator):
    """An operator that summarises events and then releases them. All its times are event times, in microseconds since 1970 (UTC).

    The state at a time depends only on the events before that time. So the delay of a tick does not matter, nor whether the next event
    arrives before the tick.
    """

    @abstractmethod
    def advance(self, state: State, now: int) -> State:
        """The state after event time has advanced to ``now``; unchanged if ``now`` is not later than the clock."""

    @abstractmethod
    def due(self, state: State) -> int | None:
        """The time of the next change without an event; None: never."""

    @abstractmethod
    def touch(self, state: State, source_id: str, time: int) -> State:
        """The state after the recall of an event at ``time``, which restarts its time to live. An unknown event changes nothing."""

    @abstractmethod
    def ask(self, state: State) -> tuple[State, list[AgedEvent]]:
        """The events whose time to live has expired, each reported once, and the state that records the report."""

    @abstractmethod
    def release(self, state: State, source_id: str, time: int) -> State | None:
        """The state after the memory of an event was removed; its part in summaries remains.

        Args:
            state: The state; it is not changed.
            source_id: The event.
            time: The event time at which the event was reported as expired. The state advances to it.

        Returns:
            None once nothing is left.
        """

    @abstractmethod
    def clock(self, state: State) -> int | None:
        """The event time of the state; None: it has no event yet."""
