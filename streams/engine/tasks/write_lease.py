"""Local check of a worker's right to write, which avoids work that the broker would refuse.

A process that was stopped for longer than the session timeout is stale: others own its partitions, and its clients do not know yet. It
notices a gap in its own heartbeat. A worker whose heartbeats get no response may have been replaced: it does not write until one succeeds.
Whatever both checks miss, the broker catches: the successor has fenced this worker (:mod:`streams.engine.tasks.checkpointer`).
"""

import asyncio
from collections.abc import Callable
from typing import Final

from runtime.clocks import boot_time

_HEARTBEAT_INTERVAL_S: Final = 0.25


class WriteLease:
    """A worker's right to write.

    Args:
        generation: The consumer group's generation, as last received.
        session_timeout_s: Length of a heartbeat gap that makes the worker stale, and of a time without responses that suspends writing.
        clock: Steady seconds that advance while the machine sleeps.
    """

    def __init__(self, *, generation: Callable[[], int], session_timeout_s: float, clock: Callable[[], float] = boot_time) -> None:
        self._generation = generation
        self._session_timeout_s = session_timeout_s
        self._clock = clock
        self._last_heartbeat = clock()
        self._last_answer: float | None = None
        self._has_joined = False
        self.is_stale = False
        """Whether it slept through its session: it must leave, and never write again."""

    def on_assigned(self) -> None:
        """Records an assignment by the group."""
        self._last_answer = self._clock()
        if not self._has_joined:
            # On a busy machine, the start itself may stop the event loop for long. But there was no session to lose.
            self._has_joined, self._last_heartbeat = True, self._last_answer

    def on_revoked(self) -> None:
        """Records a revocation: the worker may write nothing, and sends no heartbeats during the rebalance."""
        self._last_answer = None

    def on_heartbeat(self, sent_at: float) -> None:
        """Records a heartbeat that the group's coordinator has acknowledged.

        Args:
            sent_at: Its send time, by :func:`runtime.clocks.boot_time`; the response says nothing about the time since then.
        """
        if self._last_answer is not None:
            self._last_answer = max(self._last_answer, sent_at)

    def may_write(self, generation: int) -> bool:
        """Whether results of records delivered under that generation may be written now."""
        return not self.has_slept() and self._is_answered() and self._generation() == generation

    async def run_heartbeat(self) -> None:
        """Sends the local heartbeat until it is cancelled. A worker that has slept stays stale."""
        while True:
            self.has_slept()
            self._last_heartbeat = self._clock()
            await asyncio.sleep(_HEARTBEAT_INTERVAL_S)

    def _is_answered(self) -> bool:
        return self._last_answer is not None and self._clock() - self._last_answer <= self._session_timeout_s

    def has_slept(self) -> bool:
        """Whether the process, or its event loop, was stopped for longer than its session, since it first joined the group."""
        if self._clock() - self._last_heartbeat > self._session_timeout_s:
            self.is_stale = self.is_stale or self._has_joined
        return self.is_stale
