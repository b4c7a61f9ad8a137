"""Parked records of erased users: removed at once, since they may otherwise wait for weeks until their tenant's time comes."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from runtime.logs import logger
from runtime.pieces import Yielder
from streams.engine.keyed.keyed_task import KeyedTask
from streams.engine.keyed.pending_record import PendingRecord, Status
from streams.engine.keyed.scheduler import Scheduler
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.driver import InFlightRecord, OrderingKey
from streams.errors import TransientError

_log = logger(__name__)

_PAGE: Final = 200
"""Rows that are read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedRecords:
    """Knowledge of the erased users, for a stage that parks records."""

    revision: Callable[[str], int]
    """A number that changes when ``covers`` may give another result for a record of this tenant. 0: no user is erased, or it is not known
    now."""
    covers: Callable[[ConsumedRecord], bool]
    """Whether an erasure covers a record, so that it has no outputs. Raises a ``TransientError`` if that is not known now."""


class ErasedRecordRemover:
    """Completes parked records that an erasure covers, without running them.

    Args:
        erased: Knows the erased users.
        scheduler: Tracks the records in flight.
        tasks: Tasks of the assigned partitions; changes with the assignment.
        spawn: Runs a coroutine in the background.
        ordering_key: The ordering key of a record.
    """

    def __init__(
        self,
        *,
        erased: ErasedRecords,
        scheduler: Scheduler[InFlightRecord],
        tasks: Mapping[int, KeyedTask],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        ordering_key: OrderingKey,
    ) -> None:
        self._erased = erased
        self._scheduler = scheduler
        self._tasks = tasks
        self._spawn = spawn
        self._ordering_key = ordering_key
        self._searched: WeakKeyDictionary[KeyedTask, dict[str, int]] = WeakKeyDictionary()
        """By task and tenant: the revision up to which the parked records were searched."""
        self._turn = asyncio.Lock()

    def covers(self, record: ConsumedRecord) -> bool:
        """Whether an erasure covers a record that is about to be parked. If that is not known now, a later search finds it."""
        try:
            return self._erased.covers(record)
        except TransientError:
            for searched in self._searched.values():
                searched.pop(record.tenant, None)
            return False

    def remove_new(self) -> None:
        """Starts a search in the parked records of each tenant that has new erasures."""
        for task in self._tasks.values():
            if not task.is_recovered:
                continue
            searched = self._searched.setdefault(task, {})
            for tenant in task.deferred.tenants:
                revision = self._erased.revision(tenant)
                if revision and searched.get(tenant) != revision:
                    searched[tenant] = revision
                    self._spawn(self._remove(task, tenant))

    async def _remove(self, task: KeyedTask, tenant: str) -> None:
        """Stops when the partition is revoked; the next assignment begins again."""
        yielder, offset, removed = Yielder(), 0, 0
        async with self._turn:
            while self._is_current(task) and (page := task.deferred.stored(tenant, offset, limit=_PAGE)):
                for record in page:
                    await yielder.maybe_yield()
                    if not self._is_current(task):
                        return
                    if not self.covers(record):
                        continue
                    entry = self._entry(task, record)
                    if entry is not None and entry.status is Status.WAITING and self._scheduler.settle(entry):
                        entry.result = []
                        task.add(entry)
                        removed += 1
                    elif entry is not None and entry.status is Status.RUNNING:
                        self._searched[task].pop(tenant, None)  # its attempt may be refused: then it waits again
                offset = page[-1].offset + 1
                await task.drain()
            if removed and self._is_current(task):
                task.compact()
                _log.info("erased_records_removed", partition=task.source.partition, tenant=tenant, records=removed)

    def _is_current(self, task: KeyedTask) -> bool:
        is_assigned = self._tasks.get(task.source.partition) is task and task.is_recovered
        return is_assigned and task.data_loss is None and not self._scheduler.is_closed

    def _entry(self, task: KeyedTask, record: ConsumedRecord) -> PendingRecord[InFlightRecord] | None:
        """The entry of a parked record, which has come back if it had not before. None: it was removed meanwhile."""
        entry = task.deferred.shown(record.tenant, record.offset)
        if entry is None and task.deferred.is_stored(record.tenant, record.offset):
            key, flying = self._ordering_key(record), InFlightRecord(record)
            entry = self._scheduler.unpark(task.source, record.offset, key=key, tenant=record.tenant, record=flying)
            if entry is not None:
                task.deferred.show(entry)
        return entry
