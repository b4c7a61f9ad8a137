"""Parked records of erased users: removed at once, since they may otherwise wait for weeks until their tenant's time comes."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

from runtime.kafka import TopicPartition
from runtime.logs import logger
from streams.engine.faust.cooperative import Yielder
from streams.engine.keyed.keyed_task import KeyedTask
from streams.engine.keyed.pending_record import PendingRecord, Status
from streams.engine.keyed.scheduler import Scheduler
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.driver import InFlightRecord, OrderingKey
from streams.errors import TransientError

_log = logger(__name__)

_PAGE: Final = 200
"""Rows that are read at once."""


class ErasedRecords(Protocol):
    """Knows the erased users of the tenants."""

    def revision(self, tenant: str) -> int:
        """Changes when :meth:`covers` may give another result for a record of a tenant. 0: nobody is erased, or it is not known now."""
        ...

    def covers(self, record: ConsumedRecord) -> bool:
        """Whether an erasure covers a record, so that it has no outputs.

        Raises:
            streams.errors.TransientError: It is not known now.
        """
        ...


class ErasedRecordRemover:
    """Completes parked records that an erasure covers, without running them.

    Args:
        erased: Knows the erased users.
        scheduler: Tracks the records in flight.
        committers: Tasks of the assigned partitions; changes with the assignment.
        spawn: Runs a coroutine in the background.
        lane_of: The ordering key of a record.
    """

    def __init__(
        self,
        *,
        erased: ErasedRecords,
        scheduler: Scheduler[InFlightRecord],
        committers: Mapping[TopicPartition, KeyedTask],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        lane_of: OrderingKey,
    ) -> None:
        self._erased = erased
        self._scheduler = scheduler
        self._committers = committers
        self._spawn = spawn
        self._lane_of = lane_of
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
        for partition, committer in self._committers.items():
            if not committer.is_recovered:
                continue
            searched = self._searched.setdefault(committer, {})
            for tenant in committer.lot.tenants:
                revision = self._erased.revision(tenant)
                if revision and searched.get(tenant) != revision:
                    searched[tenant] = revision
                    self._spawn(self._remove(partition, committer, tenant))

    async def _remove(self, partition: TopicPartition, committer: KeyedTask, tenant: str) -> None:
        """Stops when the partition is revoked; the next assignment begins again."""
        yielder, offset, removed = Yielder(), 0, 0
        async with self._turn:
            while self._serves(partition, committer) and (page := committer.lot.stored(tenant, offset, limit=_PAGE)):
                for record in page:
                    await yielder.maybe_yield()
                    if not self._serves(partition, committer):
                        return
                    if not self.covers(record):
                        continue
                    entry = self._entry(partition, committer, record)
                    if entry is not None and entry.status is Status.WAITING and self._scheduler.settle(entry):
                        entry.result = []
                        committer.add(entry)
                        removed += 1
                    elif entry is not None and entry.status is Status.RUNNING:
                        self._searched[committer].pop(tenant, None)  # its attempt may be refused: then it waits again
                offset = page[-1].offset + 1
                await committer.drain()
            if removed and self._serves(partition, committer):
                committer.compact()
                _log.info("erased_records_removed", partition=partition.partition, tenant=tenant, records=removed)

    def _serves(self, partition: TopicPartition, committer: KeyedTask) -> bool:
        is_assigned = self._committers.get(partition) is committer and committer.is_recovered
        return is_assigned and committer.log_gap is None and not self._scheduler.is_closed

    def _entry(self, partition: TopicPartition, committer: KeyedTask, record: ConsumedRecord) -> PendingRecord[InFlightRecord] | None:
        """The entry of a parked record, which has come back if it had not before. None: it was removed meanwhile."""
        entry = committer.lot.shown(record.tenant, record.offset)
        if entry is None and committer.lot.is_stored(record.tenant, record.offset):
            flying = InFlightRecord(record)
            entry = self._scheduler.bring_back(partition, record.offset, key=self._lane_of(record), tenant=record.tenant, record=flying)
            if entry is not None:
                committer.lot.show(entry)
        return entry
