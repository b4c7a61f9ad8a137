"""Start-time fair queueing (Goyal et al. 1996): flows share a resource by weight. Pure: the caller measures the costs."""

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

_FEW_FLOWS: Final = 64
"""Number of flows below which idle ones are not worth a search."""


@dataclass(slots=True)
class _Flow(Generic[T]):
    virtual_time: float
    weight: float = 1.0
    waiting: deque[T] = field(default_factory=deque)
    running: int = 0


class FairQueue(Generic[K, T]):
    """Waiting and running items of flows, for example of tenants.

    A flow's virtual time is the cost of its items divided by its weight. The flow with the lowest virtual time goes next. A flow that
    becomes active has at least the virtual time of the flow that was served last, so it gets no credit for its silence.

    :meth:`first` looks at each flow with waiting items. The other methods take constant time, except removals from a flow's middle.
    """

    def __init__(self) -> None:
        self._flows: dict[K, _Flow[T]] = {}
        """Active flows, and idle flows that may be ahead of the others."""
        self._waiting: dict[K, _Flow[T]] = {}
        """Flows with a waiting item."""
        self._virtual_time = 0.0
        self._search_at = _FEW_FLOWS

    def __len__(self) -> int:
        """Number of known flows. An idle flow is forgotten when the others have caught up with it."""
        return len(self._flows)

    def add(self, flow: K, item: T, *, weight: float = 1.0) -> None:
        """Appends an item to its flow.

        Args:
            flow: The flow.
            item: The item, which is compared by identity or equality when it starts or is removed.
            weight: The flow's weight from now on, above 0.
        """
        own = self._flows.get(flow)
        if own is None:
            self._forget_idle()
            own = self._flows[flow] = _Flow(self._virtual_time)
        elif not own.waiting and not own.running:
            own.virtual_time = max(own.virtual_time, self._virtual_time)
        own.weight = weight
        own.waiting.append(item)
        self._waiting[flow] = own

    def waiting(self, flow: K) -> Sequence[T]:
        """The waiting items of a flow, in the order of their arrival."""
        own = self._waiting.get(flow)
        return () if own is None else own.waiting

    def waiting_flows(self) -> Iterator[K]:
        """Flows with a waiting item."""
        return iter(self._waiting)

    def running(self, flow: K) -> int:
        """Number of running items of a flow."""
        own = self._flows.get(flow)
        return 0 if own is None else own.running

    def first(self, may_start: Callable[[K], bool] = lambda flow: True) -> K | None:
        """The flow that goes next: of those with a waiting item that may start one, the flow with the lowest virtual time."""
        first: K | None = None
        lowest = 0.0
        for flow, own in self._waiting.items():
            if (first is None or own.virtual_time < lowest) and may_start(flow):
                first, lowest = flow, own.virtual_time
        return first

    def start(self, flow: K, item: T) -> None:
        """Makes a waiting item a running one; :meth:`end` follows."""
        own = self._flows[flow]
        self.remove(flow, item)
        own.running += 1
        self._virtual_time = max(self._virtual_time, own.virtual_time)

    def charge(self, flow: K, cost: float) -> None:
        """Adds the cost of a running item to its flow, in any unit: at its start, if the cost is known, or before its end."""
        own = self._flows[flow]
        own.virtual_time += cost / own.weight

    def end(self, flow: K) -> None:
        """Ends a running item of a flow."""
        self._flows[flow].running -= 1

    def remove(self, flow: K, item: T) -> None:
        """Removes a waiting item."""
        own = self._flows[flow]
        own.waiting.remove(item)
        if not own.waiting:
            del self._waiting[flow]

    def clear(self) -> list[T]:
        """Removes and returns all waiting items. Running items continue."""
        removed = [item for own in self._waiting.values() for item in own.waiting]
        for own in self._waiting.values():
            own.waiting.clear()
        self._waiting.clear()
        return removed

    def catch_up(self, flow: K) -> None:
        """Removes a flow's credit for a time in which the caller did not let it start."""
        own = self._flows.get(flow)
        if own is not None:
            own.virtual_time = max(own.virtual_time, self._virtual_time)

    def _forget_idle(self) -> None:
        """Drops idle flows that are not ahead: they would return with the same virtual time. Searches when the number has doubled."""
        if len(self._flows) < self._search_at:
            return
        for flow, own in list(self._flows.items()):
            if not own.waiting and not own.running and own.virtual_time <= self._virtual_time:
                del self._flows[flow]
        self._search_at = max(_FEW_FLOWS, 2 * len(self._flows))
