"""Driver that handles records key by key, for stages that wait for slow calls. The scheduler chooses the records and tracks progress."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from runtime.kafka import TopicPartition
from streams.engine.context import StageContext
from streams.engine.failures.deferral import Deferral
from streams.engine.failures.erased_records import ErasedRecords
from streams.engine.faust.flow_control import FREE_TO_RESUME, PauseReason
from streams.engine.keyed.attempts import HealthCheck, KeyedAttempts, KeyedHandler, Postponed
from streams.engine.keyed.keyed_task import KeyedTask
from streams.engine.keyed.pending_record import PendingRecord, Status
from streams.engine.keyed.scheduler import Scheduler
from streams.engine.keyed.tenant_throttle import TenantThrottle
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.driver import Driver, InFlightRecord, OrderingKey, key_of
from streams.engine.tasks.partition_task import end_error
from streams.errors import StreamError, TransientError

LoadPayload = Callable[[ConsumedRecord], Awaitable[ConsumedRecord]]
"""Reads an evicted record's payload from the log again.

Raises:
    streams.errors.TransientError: The broker does not return it now.
    streams.errors.PoisonRecordError: It no longer exists.
"""


class KeyedDriver(Driver):
    """Handles records by key, with bounded, fair concurrency.

    Args:
        context: Parts of the worker.
        handler: Handles a record.
        topic: The source topic.
        scheduler: Chooses the next record.
        park_after_s: Parks the records of a tenant that has to wait longer, and those beyond the scheduler's span. Default: parks none.
        load_payload: Reads a payload that the scheduler has evicted; None if it evicts none.
        ordering_key: The ordering key: records with the same key run one after the other. Default: the record's key.
        serves: Checks whether a dependency is available, to separate an outage from a faulty record. None: no check.
        erased: Knows the erased users, whose records are not parked. None: no user is erased.
    """

    _tasks: dict[int, KeyedTask]

    def __init__(
        self,
        *,
        context: StageContext,
        handler: KeyedHandler,
        topic: str,
        scheduler: Scheduler[InFlightRecord],
        park_after_s: float = math.inf,
        load_payload: LoadPayload | None = None,
        ordering_key: OrderingKey = key_of,
        serves: HealthCheck | None = None,
        erased: ErasedRecords | None = None,
    ) -> None:
        super().__init__()
        self._new_writer = context.new_writer
        self._context = shared = context.task
        self._topic = topic
        self._scheduler = scheduler
        self._load_payload = load_payload
        self._parks_floods = park_after_s < math.inf
        self._ordering_key = ordering_key
        self._attempts = KeyedAttempts(context=shared, handler=handler, load=self._load, serves=serves)
        self._running: set[asyncio.Task[None]] = set()
        """Running attempts, and other work of the driver."""
        self._trial_timer: asyncio.TimerHandle | None = None
        self._throttle = TenantThrottle(scheduler=scheduler, on_resumed=self._start_ready, park_after_s=park_after_s)
        self._deferral = Deferral(
            context=shared,
            scheduler=scheduler,
            throttle=self._throttle,
            attempts=self._attempts,
            tasks=self._tasks,
            spawn=self._spawn,
            start_ready=self._start_ready,
            ordering_key=ordering_key,
            erased=erased,
        )
        self._restored: set[TopicPartition] = set()
        """Assigned partitions that were restored at least once."""
        self._attempt_failure: BaseException | None = None

    @property
    def backlog(self) -> int:
        """See :attr:`Driver.backlog`."""
        return self._scheduler.in_flight + sum(len(task.early) for task in self._tasks.values())

    @property
    def failure(self) -> BaseException | None:
        """See :attr:`Driver.failure`; also the error of an attempt, which must not fail."""
        return self._attempt_failure or super().failure

    async def revoke(self) -> None:
        """Fences running records: they continue, but their results are written only if the record is delivered again."""
        self._scheduler.revoke()
        await super().revoke()

    def _new_task(self, partition: int, generation: int) -> KeyedTask:
        return KeyedTask(
            source=TopicPartition(self._topic, partition),
            generation=generation,
            writer=self._new_writer(partition),
            scheduler=self._scheduler,
            context=self._context,
            on_restored=self._on_restored,
            on_committed=self._on_committed,
            reject=self._attempts.reject,
        )

    def _on_assigned(self, partitions: set[int], generation: int) -> None:
        """Drops results of partitions that are no longer assigned."""
        self._restored.clear()
        self._scheduler.assign({TopicPartition(self._topic, partition) for partition in partitions}, generation)

    def _on_ended(self, task: KeyedTask) -> None:
        for entry in task.uncommitted:
            self._scheduler.on_fenced(entry)

    def measure(self) -> None:
        """See :meth:`Driver.measure`."""
        self._deferral.remove_erased()
        self._deferral.measure()

    async def put(self, delivery: InFlightRecord) -> None:
        """Takes a record in. A partition that is not restored yet, or has too many tracked records, is paused; the others continue."""
        partition = TopicPartition(delivery.record.topic, delivery.record.partition)
        task = self._tasks.get(partition.partition)
        if task is None or task.data_loss is not None:
            return
        if partition in self._restored:
            self._deliver(partition, delivery)
        else:
            task.put_early(delivery)
            self._context.flow_control.pause(partition.partition, PauseReason.NOT_RESTORED)

    def _on_restored(self, partition: TopicPartition) -> None:
        task = self._tasks.get(partition.partition)
        if task is None:
            return
        self._restored.add(partition)
        for record in task.take_early():
            self._deliver(partition, record)
        self._context.flow_control.resume(partition.partition, PauseReason.NOT_RESTORED)
        self._deferral.bring_back_all(partition)

    def _deliver(self, partition: TopicPartition, record: InFlightRecord) -> None:
        source, next_offset = record.record, self._tasks[partition.partition].next_offset
        if next_offset is not None and source.offset < next_offset:
            return
        key, tenant = self._ordering_key(source), source.tenant
        parks = self._deferral.parks(partition, tenant)
        ready = self._scheduler.deliver(partition, source.offset, key=key, tenant=tenant, record=record, parks=parks)
        if ready is not None and ready.status is Status.PARKING:
            self._deferral.park(ready)
        elif ready is not None:
            self._tasks[partition.partition].add(ready)
        free = self._scheduler.free_span(partition)
        if free is not None and free <= 0:
            self._context.flow_control.pause(source.partition, PauseReason.FULL)
        if free == 0:
            self._park_full(partition)
        self._deferral.hold_back(partition)
        self._start_ready()

    def _park_full(self, partition: TopicPartition) -> None:
        """Parks what waits in a full partition, to look further ahead. In an outage, no record would be processed earlier for it."""
        if self._parks_floods and not self._is_outage():
            self._deferral.park_waiting(partition=partition)

    async def finish(self) -> None:
        """Starts no more records, and waits for the running ones."""
        self._scheduler.close()
        while self._running:
            await asyncio.wait(self._running)
        await super().finish()

    async def stop(self) -> None:
        """Stops at once."""
        self._scheduler.close()
        if self._trial_timer is not None:
            self._trial_timer.cancel()
        running = list(self._running)
        for work in running:
            work.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await super().stop()

    def _start_ready(self) -> None:
        while not self._must_wait_for_trial() and (entry := self._scheduler.start_next(time.monotonic())) is not None:
            if self._is_outage():
                self._context.dependencies.start_trials()
            self._spawn(self._process(entry))
        self._context.metrics.show_in_flight(self._scheduler.in_flight)

    def _is_outage(self) -> bool:
        """Whether a dependency fails for every record: a whole round failed. An endpoint that fails only sometimes has successes."""
        return self._attempts.consecutive_failures >= self._scheduler.slots

    def _must_wait_for_trial(self) -> bool:
        """Whether records must wait for a trial record that tests whether the dependency is back."""
        wait_s = self._context.dependencies.outage_s() if self._is_outage() else 0.0
        if wait_s > 0 and self._trial_timer is None:
            self._trial_timer = asyncio.get_running_loop().call_later(wait_s, self._start_trial)
        return wait_s > 0

    def _start_trial(self) -> None:
        self._trial_timer = None
        self._start_ready()

    async def _process(self, entry: PendingRecord[InFlightRecord]) -> None:
        later = await self._attempts.run(entry)
        if isinstance(later, Postponed):
            self._postpone(entry, later.ready)
            return
        if later is not None:
            self._retry_later(entry, later.failure, later.failures)
            return
        self._throttle.on_handled(entry.tenant)
        may_write = self._scheduler.on_computed(entry, time.monotonic())
        if may_write:
            self._tasks[entry.partition.partition].add(entry)
        self._start_ready()

    def _postpone(self, entry: PendingRecord[InFlightRecord], ready: "asyncio.Future[None]") -> None:
        """Frees the slot until others have done their work: records that wait for them must not keep other tenants' records waiting."""
        self._scheduler.free_slot(entry, time.monotonic())
        if self._is_outage():
            self._context.dependencies.cancel_trials()
        ready.add_done_callback(lambda _: self._requeue(entry))
        self._start_ready()

    def _retry_later(self, entry: PendingRecord[InFlightRecord], failure: TransientError, failures: int) -> None:
        """Frees the slot while the record waits."""
        self._scheduler.free_slot(entry, time.monotonic())
        if failure.counts_as_attempt:
            wait_s = self._context.dependencies.retry_interval_s(failure, max(1, failures))
            asyncio.get_running_loop().call_later(wait_s, self._requeue, entry)
        else:
            self._scheduler.requeue(entry)
            self._deferral.on_refused(entry, begins=self._throttle.pause(entry.tenant, failure))
            if self._is_outage():
                self._context.dependencies.cancel_trials()
        free = self._scheduler.free_span(entry.partition)
        if free is not None and free <= 0:
            self._park_full(entry.partition)
        self._start_ready()

    def _requeue(self, entry: PendingRecord[InFlightRecord]) -> None:
        self._scheduler.requeue(entry)
        self._start_ready()

    async def _load(self, entry: PendingRecord[InFlightRecord]) -> ConsumedRecord:
        if not entry.is_parked:
            if self._load_payload is None:
                raise StreamError("a payload was evicted, but no loader is configured")
            return await self._load_payload(entry.record.record)
        task = self._tasks.get(entry.partition.partition)
        if task is None:
            raise TransientError("the partition is being revoked", dependency="assignment")
        return task.deferred.read(entry)

    def _on_committed(self, entry: PendingRecord[InFlightRecord]) -> None:
        was_parked = entry.status is Status.PARKING
        entry.result = None
        self._scheduler.on_written(entry)
        if was_parked:
            self._context.metrics.count_parked()
        else:
            self._context.metrics.count_done(1)
            self._context.metrics.measure_age(entry.record.record)
        if was_parked or entry.is_parked:
            self._deferral.unpark(entry.partition, entry.tenant)
        self._resume_fetching(entry.partition)
        self._start_ready()

    def _resume_fetching(self, partition: TopicPartition) -> None:
        free = self._scheduler.free_span(partition)
        if free is not None and free >= FREE_TO_RESUME:
            self._context.flow_control.resume(partition.partition, PauseReason.FULL)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        if not self._scheduler.is_closed or not task.cancelled():
            self._attempt_failure = self._attempt_failure or end_error(task)
