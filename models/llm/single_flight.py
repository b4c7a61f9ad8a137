"""Concurrent callers of the same work share one execution of it."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Execution(Generic[T]):
    task: asyncio.Task[T]
    callers: int = 0


class SingleFlight(Generic[T]):
    """Lets callers of the same key share the running work. When the last of them is cancelled, the work is cancelled."""

    def __init__(self) -> None:
        self._executions: dict[str, _Execution[T]] = {}

    async def run(self, key: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the work under that key, started unless it is running; raises what it raises."""
        execution = self._executions.get(key)
        if execution is None:
            execution = self._executions[key] = _Execution(asyncio.create_task(work()))
            execution.task.add_done_callback(lambda task: self._forget(key, task))
        execution.callers += 1
        try:
            return await asyncio.shield(execution.task)
        finally:
            execution.callers -= 1
            if execution.callers == 0 and not execution.task.done():
                # A new caller must not join work that is being cancelled.
                if self._executions.get(key) is execution:
                    del self._executions[key]
                execution.task.cancel()
                await asyncio.wait([execution.task])

    async def close(self) -> None:
        """Cancels all running work."""
        tasks = [execution.task for execution in self._executions.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self, key: str, task: asyncio.Task[T]) -> None:
        execution = self._executions.get(key)
        if execution is not None and execution.task is task:
            del self._executions[key]
        if not task.cancelled():
            # Marks it as retrieved: every caller may have been cancelled.
            task.exception()
