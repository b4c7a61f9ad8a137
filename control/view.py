"""A copy of the control log, as its readers see it."""

import math
from dataclasses import dataclass
from typing import Protocol

from control.state import ControlState


class ControlView(Protocol):
    """A copy of the control log with the time of its last confirmation."""

    @property
    def state(self) -> ControlState:
        """The copy of the log."""
        ...

    @property
    def confirmed_at(self) -> float:
        """The last time, by a monotonic clock, for which the copy is known to be complete."""
        ...

    @property
    def is_current(self) -> bool:
        """Whether the copy may be used."""
        ...

    def require_current(self) -> None:
        """Raises ControlLogBehindError unless :attr:`is_current`."""
        ...

    async def wait_for(self, position: int, *, timeout_s: float) -> None:
        """See :meth:`control.ControlFollower.wait_for`."""
        ...


@dataclass(frozen=True, slots=True)
class FixedControlView:
    """A fixed copy of the control log, which never expires."""

    state: ControlState
    confirmed_at: float = math.inf
    is_current: bool = True

    def require_current(self) -> None:
        """Does nothing: the copy is always current."""

    async def wait_for(self, position: int, *, timeout_s: float) -> None:
        """Returns at once: the copy never changes."""
