"""Erasures that operators ask for over HTTP, carried out behind the answer: minutes pass, and nobody's request waits for that."""

import asyncio
import contextlib
from typing import Protocol

from memory.errors import VarveError
from retrieval.stores.port import MemoryStore
from runtime.control.erasure import Erasure, subject_of
from runtime.logs import logger
from runtime.redis import GuardedRedis

_log = logger(__name__)


class Eraser(Protocol):
    """Erases a user: the flow's own business, given to the service where it is started."""

    async def __call__(self, tenant: str, user: str, *, by: str, store: MemoryStore, redis: GuardedRedis) -> Erasure:
        """Carries out what the control log has begun, and returns when all is done; called again, it goes on.

        Args:
            tenant: Whose user.
            user: Who.
            by: Who asks for it, for the audit.
            store: The vector store.
            redis: Its keys are removed.
        """
        ...


class Erasures:
    """What this process is carrying out. Another knows of it by the control log alone.

    Args:
        eraser: Carries one out; None: this process carries out none.
        store: The vector store.
        redis: Its keys are removed.
    """

    def __init__(self, *, eraser: Eraser | None, store: MemoryStore, redis: GuardedRedis) -> None:
        self._eraser = eraser
        self._store = store
        self._redis = redis
        self._running: dict[str, asyncio.Task[None]] = {}
        self._problems: dict[str, str] = {}

    @property
    def is_equipped(self) -> bool:
        """Whether this process can carry out any."""
        return self._eraser is not None

    def start(self, tenant: str, user: str, *, by: str) -> None:
        """Carries one out that the control log has begun, unless this process is at it.

        Args:
            tenant: Whose user.
            user: Who.
            by: Who asks for it, for the audit.
        """
        subject = subject_of(tenant, user)
        if self._eraser is not None and subject not in self._running:
            self._problems.pop(subject, None)
            task = asyncio.create_task(self._erase(self._eraser, tenant, user, by=by), name=f"erasure-{subject[:12]}")
            self._running[subject] = task
            task.add_done_callback(lambda _: self._running.pop(subject, None))

    def is_running(self, subject: str) -> bool:
        """Whether this process is at the erasure of a user, named by the digest."""
        return subject in self._running

    def problem_of(self, subject: str) -> str | None:
        """What the last try of this process was broken off by; None where it was not."""
        return self._problems.get(subject)

    async def close(self) -> None:
        """Breaks off what is running: asked for again, it goes on."""
        running = [*self._running.values()]
        for task in running:
            task.cancel()
        for task in running:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _erase(self, eraser: Eraser, tenant: str, user: str, *, by: str) -> None:
        subject = subject_of(tenant, user)
        try:
            await eraser(tenant, user, by=by, store=self._store, redis=self._redis)
        except VarveError as error:
            self._problems[subject] = str(error)
            _log.error("erasure_broken_off", tenant=tenant, subject=subject, error=str(error))
        except Exception as error:
            self._problems[subject] = "a defect in Varve; the service's log has the reason"
            _log.exception("erasure_broken_off", tenant=tenant, subject=subject, error=str(error))
