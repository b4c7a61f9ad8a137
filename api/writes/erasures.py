"""Erasures in the background: an erasure takes minutes, so its request is answered first.

A process also continues unfinished erasures of stopped processes and of interrupted commands.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final, NamedTuple

from api.problems import ProblemError
from control.erasure import Erasure
from control.errors import ChangeRefusedError, ControlLogBehindError
from control.tenants import UNFINISHED, TenantDirectory
from control.unfinished_erasures import CANNOT_WRITE, ErasureRequest, UnfinishedErasures, WorkState
from memory.errors import VarveError
from runtime.background import end_tasks, run_in_background
from runtime.clocks import Clock
from runtime.errors import RedisUnavailableError
from runtime.interruption import pause
from runtime.logs import logger
from runtime.redis.client import GuardedRedis
from stores.port import MemoryStore
from streams.operations.service_work import Eraser

_log = logger(__name__)

_LOOK_S: Final = 10.0
"""Interval between two searches for unfinished erasures without a process."""
_REST: Final = timedelta(minutes=15)
"""Time for which a process resumes no erasure after Kafka rejected its write."""


class _Waiting(NamedTuple):
    noted: ErasureRequest
    asked: bool
    """Whether a request started it in this process; otherwise this process took it up."""


class Erasures:
    """The erasures that this process runs.

    A tenant's users are erased in batches, one after another. A user requested meanwhile, also again, is in the next batch.

    Args:
        eraser: Runs them. None: this process runs no erasures.
        redis: Redis, whose keys are erased; it also stores the erasures in progress.
        clock: The time, which limits how long names are stored.
    """

    def __init__(self, *, eraser: Eraser | None, store: MemoryStore, redis: GuardedRedis, tenants: TenantDirectory, clock: Clock) -> None:
        self._eraser = eraser
        self._store = store
        self._redis = redis
        self._under_way = UnfinishedErasures(redis=redis)
        self._tenants = tenants
        self._clock = clock
        self._waiting: dict[str, dict[str, _Waiting]] = {}
        """By tenant and digest."""
        self._running: set[str] = set()
        """The digests of the users that are being erased."""
        self._at_work: dict[str, asyncio.Task[None]] = {}
        """By tenant."""
        self._problems: dict[str, str] = {}
        self._rests_until = clock.now()
        """Other processes resume its erasures in the meantime."""

    @property
    def is_equipped(self) -> bool:
        """Whether this process can run erasures."""
        return self._eraser is not None

    async def look(self) -> None:
        """Searches for unfinished erasures without a process, periodically, until it is cancelled."""
        while True:
            with suppress(RedisUnavailableError, ControlLogBehindError):  # this write is in the log already
                await self.resume_unfinished()
            await pause(_LOOK_S)

    async def note(self, noted: ErasureRequest) -> bool:
        """Stores the user of an erasure. Call it before the erasure is written to the control log.

        Returns:
            Whether another process would continue after a stop of this one; False while Redis is unavailable.
        """
        try:
            await self._under_way.note([noted])
        except RedisUnavailableError as error:
            _log.warning("erasure_not_recorded", tenant=noted.tenant, subject=noted.subject, error=str(error))
            return False
        return True

    def start(self, noted: ErasureRequest, *, asked: bool = True) -> None:
        """Runs an erasure that was written to the control log.

        Args:
            noted: The erasure.
            asked: Whether a request to this process started it.
        """
        if self._eraser is None:
            return
        tenant, subject = noted.tenant, noted.subject
        self._problems.pop(subject, None)
        waiting = self._waiting.setdefault(tenant, {})
        before = waiting.get(subject)
        waiting[subject] = _Waiting(noted, asked or (before is not None and before.asked))
        if tenant not in self._at_work:
            self._at_work[tenant] = run_in_background(f"erasures-{tenant}", self._work(self._eraser, tenant))

    async def resume_unfinished(self) -> None:
        """Continues unfinished erasures without a process; deletes stored names that are no longer needed.

        After Kafka rejected a write, a process leaves this to others for a while.

        Raises:
            ControlLogBehindError: If this process's copy of the control log is too old.
        """
        if self._clock.now() < self._rests_until:
            return
        every = [each for each in await self._under_way.every() if not self.is_here(each.tenant, each.subject)]
        works = await self._under_way.look([each.subject for each in every])
        # A process that erases users of a tenant takes the tenant's other pending users next, together.
        busy = {each.tenant for each in every if works[each.subject] is WorkState.AT_WORK}
        stale = []
        for unfinished in every:
            try:
                erasure = self._erasure_of(unfinished)
            except ChangeRefusedError:
                continue  # a newer version of Varve wrote its record, and continues it
            if unfinished.is_stale(erasure, self._clock.now()):
                stale.append(unfinished)
            elif (
                unfinished.tenant not in busy
                and works[unfinished.subject] is WorkState.FREE
                and erasure is not None
                and erasure.finished_at is None
            ):
                _log.info("erasure_resumed", tenant=unfinished.tenant, subject=unfinished.subject)
                self.start(unfinished, asked=False)
        await self._under_way.forget({each.subject: each.asked_at for each in stale})

    def is_here(self, tenant: str, subject: str) -> bool:
        """Whether this process runs a user's erasure, or has it in its queue."""
        return subject in self._running or subject in self._waiting.get(tenant, {})

    async def running(self, erasures: Sequence[Erasure]) -> set[str]:
        """The erasures that some process runs, by the users' digests. While Redis is unavailable, a process knows only its own."""
        here = {each.subject for each in erasures if self.is_here(each.tenant, each.subject)}
        left = [each.subject for each in erasures if each.finished_at is None and each.subject not in here]
        try:
            works = await self._under_way.look(left)
        except RedisUnavailableError:
            return here
        return here | {subject for subject, work in works.items() if work is WorkState.AT_WORK}

    def problem_of(self, subject: str) -> str | None:
        """The error that stopped this process's last attempt; None if there was none."""
        return self._problems.get(subject)

    async def close(self) -> None:
        """Interrupts the running erasures; another process takes them up."""
        await end_tasks(self._at_work.values())

    async def _work(self, eraser: Eraser, tenant: str) -> None:
        waiting = self._waiting[tenant]
        try:
            while waiting:
                first = next(iter(waiting.values()))
                together = [subject for subject, each in waiting.items() if (each.noted.by, each.asked) == (first.noted.by, first.asked)]
                batch = {subject: waiting.pop(subject).noted for subject in together}
                self._running |= batch.keys()
                try:
                    await self._erase(eraser, tenant, batch, asked=first.asked)
                finally:
                    self._running -= batch.keys()
        finally:
            del self._waiting[tenant], self._at_work[tenant]

    async def _erase(self, eraser: Eraser, tenant: str, batch: dict[str, ErasureRequest], *, asked: bool) -> None:
        # Another process may have finished it while it waited here.
        left = [each for each in batch.values() if not self._is_done(each)]
        try:
            async with self._under_way.held(left, asked=asked) as mine:
                if mine:
                    await eraser(tenant, [each.user for each in mine], by=mine[0].by, store=self._store, redis=self._redis)
        except VarveError as error:
            problem = str(error)
            _log.error("erasure_interrupted", tenant=tenant, subjects=[*batch], error=problem)
            if isinstance(error, CANNOT_WRITE):
                self._rests_until = self._clock.now() + _REST
        except Exception as error:
            problem = "a defect in Varve; the service's log has the reason"
            _log.exception("erasure_interrupted", tenant=tenant, subjects=[*batch], error=str(error))
        else:
            return
        self._problems |= dict.fromkeys(batch, problem)

    def _is_done(self, noted: ErasureRequest) -> bool:
        try:
            return noted.is_done(self._erasure_of(noted))
        except (ControlLogBehindError, ChangeRefusedError):
            return False

    def _erasure_of(self, noted: ErasureRequest) -> Erasure | None:
        return self._tenants.draft().erasure_of(noted.subject)


def require_no_erasure(tenants: TenantDirectory, tenant: str, user: str | None, what: str) -> None:
    """Refuses a change of something whose user is being erased: the stages would ignore it.

    Args:
        tenants: Knows the erasures.
        tenant: The user's tenant.
        user: The user; None: it belongs to no user.
        what: What is to be changed.

    Raises:
        ProblemError: 404 if an erasure of the user is running.
    """
    if user is not None and tenants.erased_until(tenant, user) == UNFINISHED:
        raise ProblemError(404, "not-found", f"the user of {what} is being erased, and everything of them is removed")
