"""Virtual time that jumps to the next timer: hours of waiting take a second."""

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import pytest


class _LeapingSelector(selectors.BaseSelector):
    """Waits for nothing: where the loop would, its time has passed."""

    def __init__(self, leap: Callable[[float], None]) -> None:
        self._inner = selectors.DefaultSelector()
        self._leap = leap

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._inner.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._inner.unregister(fileobj)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._inner.select(0)
        if ready or timeout is None:
            return ready or self._inner.select(0.001)
        self._leap(max(0.0, timeout))
        return []

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._inner.get_map()

    def close(self) -> None:
        self._inner.close()


class _LeapingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.now = 1000.0
        super().__init__(_LeapingSelector(self._leap))

    def time(self) -> float:
        return self.now

    def _leap(self, seconds: float) -> None:
        self.now += seconds


async def _at_once(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    return function(*args, **named)


def run_in_virtual_time(work: Coroutine[Any, Any, None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs a coroutine to its end on a loop, and under a monotonic clock, whose time leaps; threads are none."""
    loop = _LeapingLoop()
    monkeypatch.setattr(time, "monotonic", loop.time)
    monkeypatch.setattr(asyncio, "to_thread", _at_once)
    try:
        loop.run_until_complete(work)
    finally:
        monkeypatch.undo()
        loop.close()
