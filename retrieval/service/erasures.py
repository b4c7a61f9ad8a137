"""Erasures that operators ask for over HTTP, carried out behind the answer: minutes pass, and nobody's request waits for that."""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from memory.errors import VarveError
from retrieval.stores.port import MemoryStore
from runtime.control.erasure import subject_of
from runtime.logs import logger
from runtime.redis import GuardedRedis

_log = logger(__name__)


class Eraser(Protocol):
    """Erases users: the flow's own business, given to the service where it is started."""

    async def __call__(self, tenant: str, users: Sequence[str], *, by: str, store: MemoryStore, redis: GuardedRedis) -> None:
        """Carries out what the control log has begun, and returns when all is done; called again, it goes on.

        Args:
            tenant: Whose users.
            users: Who. Together they take hardly longer than one of them.
            by: Who asks for it, for the audit.
            store: The vector store.
            redis: Its keys are removed.
        """
        ...


class _Asked(NamedTuple):
    user: str
    by: str


class Erasures:
    """What this process is carrying out. Another knows of it by the control log alone.

    A tenant's users are erased one batch after another: who is asked for meanwhile, be it once more, is in the next one.

    Args:
        eraser: Carries them out; None: this process carries out none.
        store: The vector store.
        redis: Its keys are removed.
    """

    def __init__(self, *, eraser: Eraser | None, store: MemoryStore, redis: GuardedRedis) -> None:
        self._eraser = eraser
        self._store = store
        self._redis = redis
        self._waiting: dict[str, dict[str, _Asked]] = {}
        """By tenant and digest."""
        self._running: set[str] = set()
        """The digests of those who are being erased."""
        self._at_work: dict[str, asyncio.Task[None]] = {}
        """By tenant."""
        self._problems: dict[str, str] = {}

    @property
    def is_equipped(self) -> bool:
        """Whether this process can carry out any."""
        return self._eraser is not None

    def start(self, tenant: str, user: str, *, by: str) -> None:
        """Carries one out that the control log has begun.

        Args:
            tenant: Whose user.
            user: Who.
            by: Who asks for it, for the audit.
        """
        if self._eraser is None:
            return
        subject = subject_of(tenant, user)
        self._problems.pop(subject, None)
        self._waiting.setdefault(tenant, {}).setdefault(subject, _Asked(user, by))
        if tenant not in self._at_work:
            self._at_work[tenant] = asyncio.create_task(self._work(self._eraser, tenant), name=f"erasures-{tenant}")

    def is_running(self, tenant: str, subject: str) -> bool:
        """Whether this process is at the erasure of a user, or has it before it.

        Args:
            tenant: Whose user.
            subject: The user's digest.
        """
        return subject in self._running or subject in self._waiting.get(tenant, {})

    def problem_of(self, subject: str) -> str | None:
        """What the last try of this process was broken off by; None where it was not."""
        return self._problems.get(subject)

    async def close(self) -> None:
        """Breaks off what is running: asked for again, it goes on."""
        running = [*self._at_work.values()]
        for task in running:
            task.cancel()
        for task in running:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _work(self, eraser: Eraser, tenant: str) -> None:
        waiting = self._waiting[tenant]
        try:
            while waiting:
                by = next(iter(waiting.values())).by
                batch = {subject: waiting.pop(subject) for subject in [*waiting] if waiting[subject].by == by}
                self._running |= batch.keys()
                try:
                    await self._erase(eraser, tenant, batch, by=by)
                finally:
                    self._running -= batch.keys()
        finally:
            del self._waiting[tenant], self._at_work[tenant]

    async def _erase(self, eraser: Eraser, tenant: str, batch: dict[str, _Asked], *, by: str) -> None:
        try:
            await eraser(tenant, [each.user for each in batch.values()], by=by, store=self._store, redis=self._redis)
        except VarveError as error:
            problem = str(error)
            _log.error("erasure_broken_off", tenant=tenant, subjects=[*batch], error=problem)
        except Exception as error:
            problem = "a defect in Varve; the service's log has the reason"
            _log.exception("erasure_broken_off", tenant=tenant, subjects=[*batch], error=str(error))
        else:
            return
        self._problems |= dict.fromkeys(batch, problem)
