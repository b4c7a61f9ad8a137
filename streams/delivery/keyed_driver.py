"""Records handled key by key: for a stage that waits for slow calls. The order of work and of acknowledgements is the scheduler's."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from memory.errors import RecordError
from runtime.logs import logger
from streams.delivery.batch import Refusal
from streams.delivery.context import StageContext
from streams.delivery.driver import FaustRecord
from streams.delivery.entry import Entry, Place
from streams.delivery.records import Delivered, Outgoing
from streams.delivery.scheduler import Scheduler
from streams.delivery.tenant_throttle import TenantThrottle
from streams.errors import PoisonRecordError, TransientError

_log = logger(__name__)

_WRITES_AT_ONCE: Final = 16
"""aiokafka lets waiting batches in one by one, and wakes all the others each time: thousands of them at once come to a standstill."""
_ROOM_TO_RESUME: Final = 0.25
"""Of the records held of a paused partition, so great a part is done before more are taken in."""


Reread = Callable[[Delivered], Awaitable[Delivered]]
"""Reads a record again from its place.

Raises:
    streams.errors.TransientError: The broker does not give it now.
    streams.errors.PoisonRecordError: It is gone.
"""


class KeyedHandler(Protocol):
    """What one stage does with one record."""

    def tenant_of(self, record: Delivered) -> str:
        """Whose record it is, for the fair sharing; never raises."""
        ...

    async def handle(self, record: Delivered) -> list[Outgoing]:
        """Handles a record; what it gives is produced before the record is acknowledged.

        Raises:
            streams.errors.TransientError: It is tried again later.
            streams.errors.PoisonRecordError: It goes to the dead letters.
            memory.errors.RecordError: Likewise.
        """
        ...


class KeyedDriver:
    """Handles records by key, with bounded, fair concurrency.

    Args:
        context: What stages share.
        handler: What to do with a record.
        topic: The source topic.
        scheduler: Who works next.
        max_tries: Failures of its own with one dependency before a record goes to the dead letters.
        reread: Reads a record again whose contents the scheduler has let go; None where it lets none go.
    """

    def __init__(
        self,
        *,
        context: StageContext,
        handler: KeyedHandler,
        topic: str,
        scheduler: Scheduler[FaustRecord],
        max_tries: int,
        reread: Reread | None = None,
    ) -> None:
        self._context = context
        self._handler = handler
        self._topic = topic
        self._scheduler = scheduler
        self._max_tries = max_tries
        self._load_payload = reread
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures_in_a_row = 0
        self._next_trial: asyncio.TimerHandle | None = None
        self._throttle = TenantThrottle(scheduler=scheduler, go_on=self._start_ready)
        self._paused: set[Place] = set()
        self._writing = asyncio.Semaphore(_WRITES_AT_ONCE)
        self._failure: BaseException | None = None

    @property
    def backlog(self) -> int:
        """Records taken in and not yet done."""
        return self._scheduler.in_flight

    @property
    def failed(self) -> BaseException | None:
        """What broke a task that must not break."""
        return self._failure

    async def assign(self, partitions: set[int], generation: int) -> None:
        """Takes the partitions over; results of partitions that are gone are dropped."""
        for _, partition in self._paused:
            self._context.intake.resume(partition)
        self._paused.clear()
        self._scheduler.assign({(self._topic, partition) for partition in partitions}, generation)

    async def revoke(self) -> None:
        """Fences what is under way: it goes on, but writes nothing until its record is delivered again."""
        self._scheduler.revoke()

    async def put(self, record: FaustRecord) -> None:
        """Takes a record in. A partition of which too many are held is paused, so that the others go on."""
        source = record.record
        place = (source.topic, source.partition)
        tenant = self._handler.tenant_of(source)
        key = (source.partition, source.key if source.key is not None else source.offset)
        finished = self._scheduler.deliver(place, source.offset, key, tenant, record)
        if finished is not None:
            self._spawn(self._write(finished))
        room = self._scheduler.room(place)
        if room is not None and room <= 0:
            self._paused.add(place)
            self._context.intake.pause(source.partition)
        self._start_ready()

    async def finish(self) -> None:
        """Starts no record any more, and waits for those under way."""
        self._scheduler.close()
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def stop(self) -> None:
        """Stops at once."""
        self._scheduler.close()
        self._scheduler.revoke()
        if self._next_trial is not None:
            self._next_trial.cancel()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start_ready(self) -> None:
        while not self._is_held_back() and (entry := self._scheduler.start(time.monotonic())) is not None:
            if self._is_out():
                self._context.trial_begins()
            self._spawn(self._work(entry))
        self._context.metrics.in_flight.labels(self._context.stage).set(self._scheduler.in_flight)

    def _is_out(self) -> bool:
        """Whether something is away for every record: a whole round failed, where an endpoint that fails now and then has successes."""
        return self._failures_in_a_row >= self._scheduler.slots

    def _is_held_back(self) -> bool:
        """Whether records wait, unspent, for the one that tries whether what was away is back."""
        wait = self._context.trial_in_s() if self._is_out() else 0.0
        if wait > 0 and self._next_trial is None:
            self._next_trial = asyncio.get_running_loop().call_later(wait, self._try_one)
        return wait > 0

    def _try_one(self) -> None:
        self._next_trial = None
        self._start_ready()

    async def _work(self, entry: Entry[FaustRecord]) -> None:
        entry.tries += 1
        entry.begun = entry.begun or datetime.now(UTC)
        try:
            record = await self._whole(entry)
        except TransientError as failure:
            # The log's fault, not the record's: without its contents it could not even go to the dead letters.
            self._context.failed(failure)
            self._try_later(entry, failure, entry.tries)
            return
        except PoisonRecordError as error:
            entry.result = [self._letter(entry, error)]
        else:
            if not await self._handle(entry, record):
                return
        may_write = self._scheduler.computed(entry, time.monotonic())
        self._start_ready()
        if may_write:
            await self._write(entry)

    async def _handle(self, entry: Entry[FaustRecord], record: Delivered) -> bool:
        """Computes what comes of a record. Returns whether that is known now; if not, it is tried again later."""
        try:
            entry.result = [output.caused_by(record) for output in await self._handler.handle(record)]
            self._context.succeeded(begun=entry.started)
            self._failures_in_a_row = 0
        except TransientError as failure:
            self._context.failed(failure)
            self._failures_in_a_row += failure.is_try
            failures = self._failures_of(entry, failure)
            if failures < self._max_tries:
                self._try_later(entry, failure, failures)
                return False
            entry.result = [self._letter(entry, PoisonRecordError("gave_up", str(failure)))]
        except (PoisonRecordError, RecordError) as error:
            entry.result = [self._letter(entry, error)]
        except Exception as error:
            trace_id = entry.record.record.trace_id
            _log.exception("a record broke the stage; it is in the dead letters", stage=self._context.stage, trace_id=trace_id)
            entry.result = [self._letter(entry, error)]
        return True

    async def _whole(self, entry: Entry[FaustRecord]) -> Delivered:
        """The record with its contents."""
        if self._load_payload is not None and not entry.record.is_whole:
            whole = await self._load_payload(entry.record.record)
            # Meanwhile a rebalance may have delivered it again, whole.
            if not entry.record.is_whole:
                entry.record.restore(whole)
        return entry.record.record

    def _failures_of(self, entry: Entry[FaustRecord], failure: TransientError) -> int:
        """How often the record failed by its own fault, with what failed it now."""
        if not failure.is_try:
            return 0
        is_away = self._context.breaker(failure.dependency).is_open
        now, served_at = time.monotonic(), self._context.served_at
        return entry.failure_budget.failed(failure.dependency, now=now, served_at=served_at, is_away=is_away)

    def _try_later(self, entry: Entry[FaustRecord], failure: TransientError, failures: int) -> None:
        """Gives the slot to others while the record waits."""
        self._scheduler.pause(entry, time.monotonic())
        if failure.is_try:
            wait = self._context.wait_s(failure, max(1, failures))
            asyncio.get_running_loop().call_later(wait, self._resume, entry)
        else:
            self._scheduler.resume(entry)
            self._throttle.hold(entry.tenant, failure)
            if self._is_out():
                self._context.trial_did_not_tell()
        self._start_ready()

    def _resume(self, entry: Entry[FaustRecord]) -> None:
        self._scheduler.resume(entry)
        self._start_ready()

    def _letter(self, entry: Entry[FaustRecord], error: Exception) -> Outgoing:
        refusal = Refusal.of(entry.record.record, error)
        return self._context.letter(refusal, entry.tries, entry.begun or datetime.now(UTC))

    async def _write(self, entry: Entry[FaustRecord]) -> None:
        tries = 0
        while self._scheduler.may_write(entry):
            tries += 1
            try:
                async with self._writing:
                    await self._context.outbox.send(entry.result, may_write=lambda: self._may_write(entry))
            except TransientError as failure:
                if self._may_write(entry):
                    await self._context.wait_out(failure, tries)
            except RecordError as error:
                entry.result = [self._letter(entry, PoisonRecordError(error.reason, f"what it gave cannot be produced: {error}"))]
            else:
                break
        else:
            self._scheduler.unwritten(entry)
            return
        entry.result = None
        for released in self._scheduler.done(entry):
            released.ack()
        self._context.metrics.records.labels(self._context.stage, "done").inc()
        self._context.measure_age(entry.record.record)
        self._resume_intake(entry.place)
        self._start_ready()

    def _may_write(self, entry: Entry[FaustRecord]) -> bool:
        return self._scheduler.may_write(entry) and entry.generation is not None and self._context.may_write(entry.generation)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._failure = task.exception()

    def _resume_intake(self, place: Place) -> None:
        if place not in self._paused:
            return
        room = self._scheduler.room(place)
        if room is not None and room >= _ROOM_TO_RESUME:
            self._paused.discard(place)
            self._context.intake.resume(place[1])
