"""Parks the records of tenants that have to wait for long or flood a partition, and processes them later."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final

from runtime.kafka import TopicPartition
from runtime.pieces import Yielder
from streams.engine.context import TaskContext
from streams.engine.failures.erased_records import ErasedRecordRemover, ErasedRecords
from streams.engine.faust.flow_control import PauseReason
from streams.engine.keyed.attempts import KeyedAttempts, RetryLater
from streams.engine.keyed.keyed_task import KeyedTask
from streams.engine.keyed.pending_record import PendingRecord, Status
from streams.engine.keyed.scheduler import Scheduler
from streams.engine.keyed.tenant_throttle import TenantThrottle
from streams.engine.tasks.driver import InFlightRecord, OrderingKey

_NEVER: Final = 0.0
_GAP_POLL_S: Final = 0.5


class Deferral:
    """Moves records between the scheduler and the deferred records of a worker's partitions.

    Args:
        context: Parts that the worker's tasks share.
        scheduler: Knows the waiting records.
        throttle: Knows the tenants whose records are to be parked.
        attempts: Loads evicted payloads: records are parked with their payload.
        tasks: Tasks of the assigned partitions; changes with the assignment.
        spawn: Runs a coroutine in the background.
        start_ready: Starts ready records while slots are free.
        ordering_key: The ordering key of a record.
        erased: Knows the erased users, whose records are not parked. None: no user is erased.
    """

    def __init__(
        self,
        *,
        context: TaskContext,
        scheduler: Scheduler[InFlightRecord],
        throttle: TenantThrottle,
        attempts: KeyedAttempts,
        tasks: Mapping[int, KeyedTask],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        start_ready: Callable[[], None],
        ordering_key: OrderingKey,
        erased: ErasedRecords | None,
    ) -> None:
        self._context = context
        self._scheduler = scheduler
        self._throttle = throttle
        self._attempts = attempts
        self._tasks = tasks
        self._spawn = spawn
        self._start_ready = start_ready
        self._ordering_key = ordering_key
        self._remover = None
        if erased is not None:
            self._remover = ErasedRecordRemover(erased=erased, scheduler=scheduler, tasks=tasks, spawn=spawn, ordering_key=ordering_key)
        self._bytes: defaultdict[TopicPartition, int] = defaultdict(int)
        """Bytes parked since the last wait for their commits."""
        self._held_back: set[KeyedTask] = set()
        self._reading = asyncio.Lock()
        """Reads evicted payloads of one partition at a time: the loader reads on in a partition, but seeks for another."""
        self._bringing_back = asyncio.Lock()
        """Restores one partition at a time, so that the event loop stays responsive."""

    def parks(self, partition: TopicPartition, tenant: str) -> bool:
        """Whether to park a newly delivered record: its tenant waits for long, or has earlier records parked."""
        return self._throttle.parks(tenant) or self._tasks[partition.partition].deferred.holds(tenant)

    def park(self, entry: PendingRecord[InFlightRecord]) -> None:
        """Parks a record that was delivered with ``parks=True``."""
        self._admit(entry)
        self._add(entry)

    def park_waiting(self, *, tenant: str | None = None, partition: TopicPartition | None = None) -> None:
        """Parks waiting records; arguments as :meth:`Scheduler.park_waiting`."""
        evicted: defaultdict[TopicPartition, list[PendingRecord[InFlightRecord]]] = defaultdict(list)
        entries = [
            entry for entry in self._scheduler.park_waiting(tenant=tenant, partition=partition) if entry.partition.partition in self._tasks
        ]
        for entry in entries:
            self._admit(entry)
        for entry in entries:
            if entry.record.is_evicted:
                evicted[entry.partition].append(entry)
            else:
                self._add(entry)
        for each in evicted.values():
            self._spawn(self._park_evicted(each))

    def hold_back(self, partition: TopicPartition) -> None:
        """Pauses a partition while the records being parked exceed a few transactions: their payloads stay in memory until then."""
        task = self._tasks.get(partition.partition)
        if task is not None and self._is_too_much(partition) and task not in self._held_back:
            self._held_back.add(task)
            self._context.flow_control.pause(partition.partition, PauseReason.PARKING)
            self._spawn(self._resume_when_parked(partition, task))

    async def _resume_when_parked(self, partition: TopicPartition, task: KeyedTask) -> None:
        try:
            await self._wait_for_commits(partition)
        finally:
            self._held_back.discard(task)
            if self._tasks.get(partition.partition) is task:
                self._context.flow_control.resume(partition.partition, PauseReason.PARKING)

    def _is_too_much(self, partition: TopicPartition) -> bool:
        return self._bytes[partition] > 2 * self._context.limits.max_bytes

    async def _wait_for_commits(self, partition: TopicPartition) -> None:
        """Waits until the records being parked are committed, if there are too many."""
        task = self._tasks.get(partition.partition)
        if task is None or not self._is_too_much(partition):
            return
        self._bytes[partition] = 0
        drained = asyncio.create_task(task.drain())
        # A partition that is stopped by a data loss commits nothing, and must not delay the others.
        while task.data_loss is None and not drained.done():
            await asyncio.wait({drained}, timeout=_GAP_POLL_S)
        drained.cancel()

    def on_refused(self, entry: PendingRecord[InFlightRecord], *, begins: bool) -> None:
        """Handles a refusal: the tenant's records come back a few at a time, and its waiting records are parked if the wait is long.

        Args:
            entry: The record, which waits again.
            begins: Whether parking begins with this refusal.
        """
        task = self._tasks.get(entry.partition.partition)
        if task is not None:
            task.deferred.on_refused(entry.tenant)
        if begins or (self._throttle.parks(entry.tenant) and not entry.is_parked):
            self.park_waiting(tenant=entry.tenant)

    def unpark(self, partition: TopicPartition, tenant: str) -> None:
        """Schedules the next parked records of a tenant, if there are any and too few are scheduled."""
        task = self._tasks.get(partition.partition)
        if task is None or not task.deferred.holds(tenant):
            return
        for record in task.deferred.coming_back(tenant):
            key = self._ordering_key(record)
            entry = self._scheduler.unpark(partition, record.offset, key=key, tenant=tenant, record=InFlightRecord(record))
            if entry is not None:
                task.deferred.show(entry)

    def bring_back_all(self, partition: TopicPartition) -> None:
        """Schedules the parked records of all tenants of a restored partition, in the background: thousands take seconds."""
        task = self._tasks.get(partition.partition)
        if task is not None:
            self._spawn(self._bring_back_all(partition, task))

    def remove_erased(self) -> None:
        """Starts to remove parked records of users who were erased meanwhile."""
        if self._remover is not None:
            self._remover.remove_new()

    def measure(self) -> None:
        """Shows the number of parked records, and the time of the oldest."""
        partitions = [task.deferred for task in self._tasks.values()]
        oldest = min((each.oldest for each in partitions if each.oldest is not None), default=_NEVER)
        self._context.metrics.show_parked(sum(each.count for each in partitions), oldest=oldest)

    async def _bring_back_all(self, partition: TopicPartition, task: KeyedTask) -> None:
        """Stops when the partition is revoked or restored again; a restore starts it again."""
        async with self._bringing_back:
            yielder = Yielder()
            for tenant in task.deferred.tenants:
                await yielder.maybe_yield()
                if self._tasks.get(partition.partition) is not task or not task.is_recovered or self._scheduler.is_closed:
                    return
                self.unpark(partition, tenant)
                self._start_ready()

    def _admit(self, entry: PendingRecord[InFlightRecord]) -> None:
        for early in self._tasks[entry.partition.partition].deferred.admit(entry):
            self._scheduler.drop(early)

    def _add(self, entry: PendingRecord[InFlightRecord]) -> None:
        entry.result = entry.result or []
        if entry.status is Status.PARKING and self._remover is not None and self._remover.covers(entry.record.record):
            entry.status = Status.WRITING
        self._bytes[entry.partition] += len(entry.record.record.value or b"")
        self._tasks[entry.partition.partition].add(entry)

    async def _park_evicted(self, entries: Sequence[PendingRecord[InFlightRecord]]) -> None:
        waiting, failures = deque(entries), 0
        while waiting and self._is_parking(waiting[0]):
            async with self._reading:
                later = await self._park_next(waiting)
            if later is not None:
                failures += 1
                await asyncio.sleep(self._context.dependencies.retry_interval_s(later.failure, failures))
            else:
                failures = 0
                await self._wait_for_commits(entries[0].partition)

    async def _park_next(self, waiting: deque[PendingRecord[InFlightRecord]]) -> RetryLater | None:
        """Parks evicted records of a partition until too many wait for their commits, or one cannot be read now."""
        while waiting and self._is_parking(waiting[0]) and not self._is_too_much(waiting[0].partition):
            if (later := await self._attempts.load(waiting[0])) is not None:
                return later
            if self._is_parking(entry := waiting[0]):
                if entry.result is not None:
                    # The payload is lost: only the dead letter can be committed.
                    entry.status = Status.WRITING
                self._add(entry)
                waiting.popleft()
        return None

    def _is_parking(self, entry: PendingRecord[InFlightRecord]) -> bool:
        return self._scheduler.tracks(entry) and entry.partition.partition in self._tasks and not self._scheduler.is_closed
