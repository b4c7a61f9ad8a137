"""Whether this worker may still write, as far as it can tell by itself: the quick way out of work that the broker would refuse.

A process that was stopped for longer than the session time-out is a zombie: others own its partitions, and its own clients do not know it
yet. It sees that its own pulse has missed. And a worker whose heartbeats nobody answers may have been replaced: it holds back until one is.
What neither finds, the broker does: its successor has fenced it (:mod:`streams.engine.tasks.checkpointer`).
"""

import asyncio
from collections.abc import Callable
from typing import Final

from runtime.clocks import boot_time

_PULSE_INTERVAL_S: Final = 0.25


class WriteLease:
    """The worker's right to write.

    Args:
        generation: The consumer group's generation, as last heard.
        session_timeout_s: A pulse missed for so long makes a zombie; heartbeats without an answer for so long suspend writing.
        clock: Steady seconds that go on while the machine sleeps.
    """

    def __init__(self, *, generation: Callable[[], int], session_timeout_s: float, clock: Callable[[], float] = boot_time) -> None:
        self._generation = generation
        self._session_timeout_s = session_timeout_s
        self._clock = clock
        self._last_pulse = clock()
        self._last_answer: float | None = None
        self.is_zombie = False
        """It has slept through its session: it must leave, and never write again."""

    def on_assigned(self) -> None:
        """The group has given us partitions."""
        self._last_answer = self._clock()

    def on_revoked(self) -> None:
        """The group has taken our partitions: nothing is ours to write, and a rebalance sends no heartbeats."""
        self._last_answer = None

    def on_heartbeat(self, sent_at: float) -> None:
        """The group's coordinator has answered a heartbeat.

        Args:
            sent_at: When it was sent, on :func:`runtime.clocks.boot_time`'s clock: what may have happened since, the answer does not know.
        """
        if self._last_answer is not None:
            self._last_answer = max(self._last_answer, sent_at)

    def may_write(self, generation: int) -> bool:
        """Whether what was delivered under that generation may be written now."""
        return not self.has_slept() and self._is_answered() and self._generation() == generation

    async def run_pulse(self) -> None:
        """Beats until it is cancelled. One that has slept stays a zombie."""
        while True:
            self.has_slept()
            self._last_pulse = self._clock()
            await asyncio.sleep(_PULSE_INTERVAL_S)

    def _is_answered(self) -> bool:
        return self._last_answer is not None and self._clock() - self._last_answer <= self._session_timeout_s

    def has_slept(self) -> bool:
        """Whether the process did not run, or its event loop stood still, for longer than its session."""
        if self._clock() - self._last_pulse > self._session_timeout_s:
            self.is_zombie = True
        return self.is_zombie
