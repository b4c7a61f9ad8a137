"""Work that several callers want at once is done once."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    passengers: int = 0


class SingleFlight(Generic[T]):
    """Joins callers of the same key to the work under way. When the last of them gives up, the work is cancelled."""

    def __init__(self) -> None:
        self._flights: dict[str, _Flight[T]] = {}

    async def join(self, key: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the work under that key, begun if nobody has; raises what it raises."""
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(work()))
            flight.task.add_done_callback(lambda task: self._land(key, task))
        flight.passengers += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.passengers -= 1
            if flight.passengers == 0 and not flight.task.done():
                # Who comes now must not join work that is being given up.
                if self._flights.get(key) is flight:
                    del self._flights[key]
                flight.task.cancel()
                await asyncio.wait([flight.task])

    async def close(self) -> None:
        """Cancels all work under way."""
        tasks = [flight.task for flight in self._flights.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _land(self, key: str, task: asyncio.Task[T]) -> None:
        flight = self._flights.get(key)
        if flight is not None and flight.task is task:
            del self._flights[key]
        if not task.cancelled():
            task.exception()
