"""Writes the control log. Kafka alone orders the changes: each is applied to the state that the previous one left.

A writer takes the transactional id that all writers share, which fences the others, reads the log to its end, makes its change, and commits
documents and audit in one transaction. A writer that was fenced meanwhile retries on the new state. Changes of one process are queued and
share one session.
"""

import asyncio
import random
import time
from typing import Final, TypeVar

from control.draft import Change
from control.errors import ChangeRefusedError, UnknownTenantError
from control.session import Attempt, ControlSession, Written
from runtime.clocks import Clock, SystemClock
from runtime.errors import KafkaUnavailableError, ProducerFencedError
from runtime.logs import logger
from runtime.settings import Settings

_log = logger(__name__)
_R = TypeVar("_R")

_FIRST_BACKOFF_S: Final = 0.2
"""Approximate duration of a change: an earlier retry would only fence another writer."""
_LONGEST_BACKOFF_S: Final = 2.0


class ControlWriter:
    """Changes the control log, for one process or one command."""

    def __init__(self, *, settings: Settings, clock: Clock | None = None) -> None:
        self._settings = settings
        self._clock = clock or SystemClock()
        self._turn = asyncio.Lock()
        self._coming = 0
        """Number of changes that run or are queued."""
        self._session: ControlSession | None = None

    async def write(self, change: Change[_R], *, action: str, by: str) -> Written[_R]:
        """Makes a change atomically. Returns once every new reader of the log sees it.

        Args:
            change: The change. It is called in a thread, and again if another writer was faster.
            action: Name of the action, for the audit log.
            by: The actor, for the audit log.

        Raises:
            ChangeRefusedError: If the change is invalid for the current state; nothing was written.
            UnknownTenantError: If its tenant does not exist; nothing was written.
            RecordTooLargeError: If a document is too large for the log; nothing was written.
            KafkaUnavailableError: If no broker answers; it is unknown whether the change was written.
        """
        attempt = Attempt(change, action, by)
        deadline = time.monotonic() + self._settings.control.write_timeout_s
        self._coming += 1
        try:
            async with self._turn:
                try:
                    return await self._write(attempt, deadline)
                finally:
                    if self._coming == 1:
                        await self._close()
        finally:
            self._coming -= 1

    async def settle(self) -> None:
        """Waits until all changes before this call are effective in all processes.

        A process that does not know them by then rejects requests and defers records.
        """
        await asyncio.sleep(self._settings.control.lease_s)

    async def _write(self, attempt: Attempt[_R], deadline: float) -> Written[_R]:
        backoff = _FIRST_BACKOFF_S
        while True:
            try:
                return await (await self._opened()).write(attempt)
            except (ChangeRefusedError, UnknownTenantError):
                raise
            except (ProducerFencedError, KafkaUnavailableError) as error:
                await self._close()
                if time.monotonic() >= deadline:
                    raise KafkaUnavailableError(
                        f"{attempt.action}: not confirmed in {self._settings.control.write_timeout_s:g} s: {error}"
                    ) from error
                _log.info("control_write_again", action=attempt.action, error=str(error))
            except BaseException:
                await self._close()
                raise
            await asyncio.sleep(random.uniform(0, backoff))
            backoff = min(backoff * 2, _LONGEST_BACKOFF_S)

    async def _opened(self) -> ControlSession:
        if self._session is None:
            self._session = ControlSession(settings=self._settings, clock=self._clock)
            await self._session.open()
        return self._session

    async def _close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()
