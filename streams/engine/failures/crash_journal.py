"""A worker's claims: each handler's call is noted before it begins, so that a record which kills the process is known to the next one.

A suspect (:mod:`streams.engine.failures.suspects`) at which processes have died as often as is allowed but once is handled alone: nothing
else is
handled in the whole worker. If the process dies then, too, the record is guilty, and goes to the dead letters.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Protocol, Self

from runtime.logs import logger
from runtime.metrics import Metrics
from streams.engine.failures.journal_file import ClaimFile, read_claims
from streams.engine.failures.suspects import Claim, after_end, without
from streams.errors import PoisonRecordError

_log = logger(__name__)

REASON: Final = "crashed_worker"
"""Why a guilty record is put aside."""


class ClaimStore(Protocol):
    """Where claims survive the process: a :class:`ClaimFile`."""

    def put(self, claim: Claim) -> int:
        """See :meth:`ClaimFile.put`."""
        ...

    def free(self, slot: int) -> None:
        """See :meth:`ClaimFile.free`."""
        ...

    def close(self) -> None:
        """See :meth:`ClaimFile.close`."""
        ...


class CrashJournal:
    """What one worker's handlers are at, and which records are suspects.

    Args:
        store: Keeps both; it holds the suspects already, in its first slots.
        suspects: Those of the processes before.
        maximum_crashes: A record at which so many processes in a row have died, at the last alone, is guilty.
        stage: The stage, for metrics and log.
        metrics: Counts the suspects.
        is_lost: Whether this process has to end because its event loop stood still for longer than its session. Its claims are kept
            then, as those of a process that was killed: a handler that computed for so long may be what held it up.
    """

    def __init__(
        self,
        store: ClaimStore,
        *,
        suspects: Iterable[Claim] = (),
        maximum_crashes: int,
        stage: str,
        metrics: Metrics,
        is_lost: Callable[[], bool] = lambda: False,
    ) -> None:
        if maximum_crashes < 1:
            raise ValueError(f"maximum_crashes must be at least 1, got {maximum_crashes}")
        self._store = store
        self._suspects = dict(enumerate(suspects))
        self._maximum_crashes = maximum_crashes
        self._stage = stage
        self._gauge = metrics.suspects.labels(stage)
        self._gauge.set(sum(suspect.size for suspect in self._suspects.values()))
        self._is_lost = is_lost
        self._gate = _Gate()

    @classmethod
    def open(
        cls, path: Path, *, group: str, topic: str, maximum_crashes: int, stage: str, metrics: Metrics, is_lost: Callable[[], bool]
    ) -> Self:
        """Takes over what the worker before has left in a file.

        Args:
            path: The file, in the worker's own folder.
            group: The consumer group.
            topic: Its source.
            maximum_crashes: See the class.
            stage: Likewise.
            metrics: Likewise.
            is_lost: Likewise.

        Raises:
            LocalTableError: If the file cannot be read or written.
        """
        suspects = after_end(read_claims(path, group=group, topic=topic))
        for suspect in suspects:
            _log.warning(
                "worker_died_at_records",
                stage=stage,
                partition=suspect.partition,
                first=suspect.first,
                last=suspect.last,
                crashes=suspect.crashes,
                was_alone=suspect.was_alone,
            )
        store = ClaimFile(path, group=group, topic=topic, claims=suspects)
        return cls(store, suspects=suspects, maximum_crashes=maximum_crashes, stage=stage, metrics=metrics, is_lost=is_lost)

    def must_be_alone(self, partition: int, offset: int) -> bool:
        """Whether a record is to be handled with no other: one more crash at it, and it is guilty."""
        suspect = self._suspect(partition, offset)
        return suspect is not None and suspect.crashes >= max(1, self._maximum_crashes - 1)

    def reject_poison(self, partition: int, offset: int) -> None:
        """Refuses a guilty record, which is not to be handled any more.

        Raises:
            PoisonRecordError: It has killed the worker as often as is allowed.
        """
        suspect = self._suspect(partition, offset)
        if suspect is not None and suspect.was_alone and suspect.crashes >= self._maximum_crashes:
            crashes = (
                f"the worker's process died or stood still {suspect.crashes} times in a row while it handled this record, "
                "at last with no other beside it"
            )
            _log.error("record_killed_worker", stage=self._stage, partition=partition, offset=offset, error=crashes)
            raise PoisonRecordError(REASON, crashes)

    @asynccontextmanager
    async def held(self, partition: int, first: int, last: int) -> AsyncIterator[None]:
        """Claims records while a handler processes them. A record whose call returns without an error did not kill the worker.

        Once the worker is lost, its claims stay, however the calls end, and no other call begins: it waits until it is cancelled. Its
        record would be suspected too, and the one that held up the worker would not seem to have been alone.

        Args:
            partition: Their partition.
            first: The first one's offset.
            last: The last one's.

        Raises:
            LocalTableError: If the claim cannot be written.
        """
        claim = Claim(partition, first, last)
        async with self._gate.passed(alone=bool(self._suspects) and self.must_be_alone(partition, first)):
            if self._is_lost():
                await asyncio.Event().wait()
            slot = self._store.put(claim)
            try:
                yield
            finally:
                is_kept = self._is_lost()
                if not is_kept:
                    self._store.free(slot)
        if not is_kept:
            self._clear(claim)

    def on_committed(self, partition: int, next_offset: int) -> None:
        """What lies before an offset is done, by whatever worker: nobody handles it again.

        Args:
            partition: Of a partition.
            next_offset: The offset of the next record to handle, as committed.
        """
        self._clear(Claim(partition, 0, next_offset - 1))

    def on_done(self, partition: int, offset: int) -> None:
        """A record is done, by this worker.

        Args:
            partition: Its partition.
            offset: Its place there.
        """
        self._clear(Claim(partition, offset, offset))

    def close(self) -> None:
        """Closes the store; what it holds stays."""
        self._store.close()

    def _suspect(self, partition: int, offset: int) -> Claim | None:
        return next((suspect for suspect in self._suspects.values() if suspect.covers(partition, offset)), None)

    def _clear(self, cleared: Claim) -> None:
        if not self._suspects or all(suspect.partition != cleared.partition for suspect in self._suspects.values()):
            return
        left = without(self._suspects.values(), cleared)
        gone = [slot for slot, suspect in self._suspects.items() if suspect not in left]
        known = set(self._suspects.values())
        # First what is new: a process that dies between has both, and counts no crash twice.
        for suspect in left:
            if suspect not in known:
                self._suspects[self._store.put(suspect)] = suspect
        for slot in gone:
            del self._suspects[slot]
            self._store.free(slot)
        self._gauge.set(sum(suspect.size for suspect in self._suspects.values()))
        if gone and not self._suspects:
            _log.info("suspects_cleared", stage=self._stage)


class _Gate:
    """Lets many pass together, or one alone. Who wants to be alone goes before those that come later."""

    def __init__(self) -> None:
        self._together = 0
        self._waiting_alone = 0
        self._is_alone = False
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def passed(self, *, alone: bool) -> AsyncIterator[None]:
        if alone:
            await self._enter_alone()
        else:
            while self._is_alone or self._waiting_alone:
                await self._wait()
            self._together += 1
        try:
            yield
        finally:
            if alone:
                self._is_alone = False
            else:
                self._together -= 1
            self._changed.set()

    async def _enter_alone(self) -> None:
        self._waiting_alone += 1
        try:
            while self._is_alone or self._together:
                await self._wait()
            self._is_alone = True
        finally:
            self._waiting_alone -= 1
            self._changed.set()

    async def _wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()
