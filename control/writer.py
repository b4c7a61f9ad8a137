"""Writes the control log. Changes are totally ordered, each made on what the one before left, with nothing but Kafka.

A writer takes over the one transactional id that all writers share, which fences every other, reads the log to its end, makes its change,
and commits documents and audit in one transaction. Whoever was fenced meanwhile begins again on what there is then. Changes of one process
wait for each other instead, and follow each other under one hold of the id.
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
"""About what a writer needs for a change: one that comes again sooner only stops another."""
_LONGEST_BACKOFF_S: Final = 2.0


class ControlWriter:
    """Changes the control log, for one process or for one command.

    Args:
        settings: Where it is.
        clock: Tells when.
    """

    def __init__(self, *, settings: Settings, clock: Clock | None = None) -> None:
        self._settings = settings
        self._clock = clock or SystemClock()
        self._turn = asyncio.Lock()
        self._coming = 0
        """How many changes are in work, or wait for their turn."""
        self._session: ControlSession | None = None

    async def write(self, change: Change[_R], *, action: str, by: str) -> Written[_R]:
        """Makes a change, whole or not at all. Returns when whoever reads the log from now on reads it.

        Args:
            change: What is to be changed. It is called in a thread, and again where another writer was faster.
            action: What that is, for the audit.
            by: Who makes it, for the audit.

        Raises:
            ChangeRefusedError: If the change does not fit what there is; nothing was written.
            UnknownTenantError: If it is to a tenant that there is not; nothing was written.
            RecordTooLargeError: If a document of it is too large for the log; nothing was written.
            KafkaUnavailableError: If no broker answers; whether it was written is not known.
            TopicMissingError: If a topic does not exist.
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
        """Waits until whatever was written before this call holds everywhere.

        A process that has not heard of it by then admits nobody and lets records wait.
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
