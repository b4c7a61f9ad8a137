"""Writes the outcomes of changed messages to Redis, where the query service waits for them: best effort, never blocking the stage."""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Final, Protocol

from runtime.errors import RedisUnavailableError
from runtime.message_outcomes import MessageOutcome

_MAX_WAITING: Final = 10_000
_BATCH_SIZE: Final = 500
_RETRY_S: Final = 1.0


class OutcomeSink(Protocol):
    """Destination of outcomes."""

    async def write(self, outcomes: Sequence[MessageOutcome]) -> None:
        """See :meth:`runtime.message_outcomes.MessageOutcomes.write`."""
        ...


class OutcomeWriter:
    """Collects outcomes, and writes them at once. The oldest are dropped beyond 10,000: their requests answer that they are pending."""

    def __init__(self, *, sink: OutcomeSink) -> None:
        self._sink = sink
        self._waiting: deque[MessageOutcome] = deque(maxlen=_MAX_WAITING)
        self._wake = asyncio.Event()

    def add(self, outcome: MessageOutcome) -> None:
        """Schedules the write of an outcome. It follows from the log, so a repetition writes the same."""
        self._waiting.append(outcome)
        self._wake.set()

    async def run(self) -> None:
        """Writes until it is cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), _BATCH_SIZE))]
                try:
                    await self._sink.write(batch)
                except RedisUnavailableError:
                    self._waiting.extendleft(reversed(batch[: _MAX_WAITING - len(self._waiting)]))
                    await asyncio.sleep(_RETRY_S)
