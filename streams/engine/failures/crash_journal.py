"""Journal of a worker's handler calls: each call is written before it begins, so the next process knows which records were being handled.

When processes have died at a suspect (:mod:`streams.engine.failures.suspects`) one time fewer than the limit, the worker handles it alone,
with no other record in the whole worker. If the process dies again, the record is guilty and goes to the dead letters.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Self

from runtime.logs import logger
from runtime.metrics import Metrics
from streams.engine.failures.journal_store import JournalStore
from streams.engine.failures.suspects import JournalEntry, after_end, without
from streams.errors import PoisonRecordError

_log = logger(__name__)

REASON: Final = "crashed_worker"
"""Dead-letter reason of a guilty record."""


class CrashJournal:
    """Records that one worker's handlers are processing, and the suspects.

    Args:
        store: Stores both.
        suspects: Suspects left by earlier processes; they replace the entries in the store.
        maximum_crashes: Limit of crashes in a row at a record; the last one must have happened while it was handled alone.
        stage: The stage, for metrics and log.
        metrics: Counts the suspects.
        is_lost: Whether this process must end because its event loop was blocked for longer than its session. Its entries are then kept,
            as after a kill: the handler that computed for so long may have blocked the loop.
    """

    def __init__(
        self,
        store: JournalStore,
        *,
        suspects: Iterable[JournalEntry] = (),
        maximum_crashes: int,
        stage: str,
        metrics: Metrics,
        is_lost: Callable[[], bool] = lambda: False,
    ) -> None:
        if maximum_crashes < 1:
            raise ValueError(f"maximum_crashes must be at least 1, got {maximum_crashes}")
        self._store = store
        self._suspects = store.replace(suspects)
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
        """Reads the entries that the previous worker left: they become suspects.

        Args:
            path: The file, in the worker's own folder.
            group: The consumer group.
            topic: Its source.
            maximum_crashes: See the class.
            stage: See the class.
            metrics: See the class.
            is_lost: See the class.

        Raises:
            LocalTableError: The file cannot be read or written.
        """
        store = JournalStore(path, group=group, topic=topic)
        suspects = after_end(store.entries())
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
        return cls(store, suspects=suspects, maximum_crashes=maximum_crashes, stage=stage, metrics=metrics, is_lost=is_lost)

    def must_be_alone(self, partition: int, offset: int) -> bool:
        """Whether a record must be handled with no other: one more crash makes it guilty."""
        suspect = self._suspect(partition, offset)
        return suspect is not None and suspect.crashes >= max(1, self._maximum_crashes - 1)

    def reject_poison(self, partition: int, offset: int) -> None:
        """Rejects a guilty record.

        Raises:
            PoisonRecordError: The worker has crashed at it as often as is allowed.
        """
        suspect = self._suspect(partition, offset)
        if suspect is not None and suspect.was_alone and suspect.crashes >= self._maximum_crashes:
            crashes = (
                f"the worker crashed or froze {suspect.crashes} times in a row while it handled this record, "
                "the last time while it handled no other record"
            )
            _log.error("record_killed_worker", stage=self._stage, partition=partition, offset=offset, error=crashes)
            raise PoisonRecordError(REASON, crashes)

    @asynccontextmanager
    async def held(self, partition: int, first: int, last: int) -> AsyncIterator[None]:
        """Keeps an entry for these offsets during a handler's call. Records of a call that returns without an error are not suspects.

        Once the worker is lost, its entries stay, however the calls end. A new call does not begin: it waits until it is cancelled. Else
        its record would be suspected too, and the record that blocked the worker would not look as if it had been alone.

        Raises:
            LocalTableError: The entry cannot be written.
        """
        entry = JournalEntry(partition, first, last)
        async with self._gate.passed(alone=bool(self._suspects) and self.must_be_alone(partition, first)):
            if self._is_lost():
                await asyncio.Event().wait()
            slot = self._store.put(entry)
            try:
                yield
            finally:
                is_kept = self._is_lost()
                if not is_kept:
                    self._store.free(slot)
        if not is_kept:
            self._clear(entry)

    def on_committed(self, partition: int, next_offset: int) -> None:
        """Clears the suspects below a committed offset: no worker handles them again."""
        self._clear(JournalEntry(partition, 0, next_offset - 1))

    def on_done(self, partition: int, offset: int) -> None:
        """Clears a record that this worker has finished."""
        self._clear(JournalEntry(partition, offset, offset))

    def close(self) -> None:
        """Closes the store and keeps its content."""
        self._store.close()

    def _suspect(self, partition: int, offset: int) -> JournalEntry | None:
        return next((suspect for suspect in self._suspects.values() if suspect.covers(partition, offset)), None)

    def _clear(self, cleared: JournalEntry) -> None:
        if not self._suspects or all(suspect.partition != cleared.partition for suspect in self._suspects.values()):
            return
        left = without(self._suspects.values(), cleared)
        ended = [slot for slot, suspect in self._suspects.items() if suspect not in left]
        known = set(self._suspects.values())
        # Write the new entries first: a process that dies in between has both, and counts no crash twice.
        for suspect in left:
            if suspect not in known:
                self._suspects[self._store.put(suspect)] = suspect
        for slot in ended:
            del self._suspects[slot]
            self._store.free(slot)
        self._gauge.set(sum(suspect.size for suspect in self._suspects.values()))
        if ended and not self._suspects:
            _log.info("suspects_cleared", stage=self._stage)


class _Gate:
    """Admits many callers together, or one alone. A caller that waits to be alone goes before those that arrive later."""

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
