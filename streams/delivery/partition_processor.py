"""One partition handled in order: read a batch, handle it, and make it durable in the order that loses nothing.

Outputs first, then state, then the offset; each awaited before the next (docs/architecture.md, invariant 1). A record that comes alone is
handled at once; behind it, the next batch gathers for a moment, so that batches grow with the load and share the cost of a commit.
"""

import asyncio
import time
from collections import deque
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from runtime.logs import logger
from streams.delivery.batch import Batch, BatchHandler, Refusal
from streams.delivery.context import StageContext
from streams.delivery.records import Delivered, Outgoing
from streams.delivery.state import PartitionState, Row
from streams.errors import LocalTableError, StreamError, TransientError

_log = logger(__name__)
_TICK_S: Final = 1.0
_BEHIND_S: Final = 2.0
"""A partition processor is behind when its newest record was produced longer ago than this."""


class Ackable(Protocol):
    """A record that can be acknowledged to Kafka."""

    @property
    def record(self) -> Delivered:
        """The record."""
        ...

    def ack(self) -> None:
        """Allows its offset to be committed."""
        ...


class PartitionProcessor:
    """The work on one partition for one assignment."""

    def __init__(
        self,
        *,
        partition: int,
        generation: int,
        handler: BatchHandler,
        state: PartitionState[Any],
        context: StageContext,
    ) -> None:
        self._partition = partition
        self._generation = generation
        self._handler = handler
        self._state = state
        self._context = context
        self._queue: deque[Ackable] = deque()
        self._arrived = asyncio.Event()
        self._taken = asyncio.Event()
        self._in_work = 0
        self._closed = False
        self._is_last_step = False
        self._task: asyncio.Task[None] | None = None

    @property
    def backlog(self) -> int:
        """Records taken in and not yet done."""
        return len(self._queue) + self._in_work

    @property
    def failed(self) -> BaseException | None:
        """What broke the processor, if anything did."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            return self._task.exception()
        return None

    def start(self) -> None:
        """Begins to work."""
        self._task = asyncio.create_task(self._run(), name=f"{self._context.stage}-{self._partition}")

    async def put(self, record: Ackable, *, limit: int) -> None:
        """Takes a record in; waits while ``limit`` are held."""
        while len(self._queue) >= limit and not self._closed:
            self._taken.clear()
            await self._taken.wait()
        if not self._closed:
            self._queue.append(record)
            self._arrived.set()

    async def finish(self) -> None:
        """Finishes the step that it is at, and begins no other: what is queued will be delivered again."""
        self._is_last_step = True
        self._arrived.set()
        if self._task is not None:
            await asyncio.wait([self._task])

    async def stop(self) -> None:
        """Stops at once: what is not done yet will be delivered again."""
        self._closed = True
        self._taken.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _may_write(self) -> bool:
        return not self._closed and self._context.may_write(self._generation)

    async def _run(self) -> None:
        await self._handler.recover(self._state, datetime.now(UTC))
        next_tick = time.monotonic() + _TICK_S
        last_batch = 0.0
        while not self._closed and not self._is_last_step:
            if not self._queue:
                self._arrived.clear()
                try:
                    async with asyncio.timeout(max(0.0, next_tick - time.monotonic())):
                        await self._arrived.wait()
                except TimeoutError:
                    pass
            if self._queue:
                await self._context.pacer.next_beat(last_batch, behind=self._is_behind())
                last_batch = time.monotonic()
            taken = self._take()
            if taken:
                self._in_work = len(taken)
                try:
                    await self._work(taken)
                finally:
                    self._in_work = 0
                self._taken.set()
            if time.monotonic() >= next_tick:
                next_tick = time.monotonic() + _TICK_S
                await self._send_due()

    def _take(self) -> list[Ackable]:
        """The next records, as many as may be made durable together; at least one."""
        taken: list[Ackable] = []
        size = 0
        while self._queue and len(taken) < self._context.max_batch:
            size += len(self._queue[0].record.value or b"")
            if taken and size > self._context.max_batch_bytes:
                break
            taken.append(self._queue.popleft())
        return taken

    def _is_behind(self) -> bool:
        return len(self._queue) < self._context.max_batch and time.time() - self._queue[-1].record.timestamp > _BEHIND_S

    async def _work(self, taken: list[Ackable]) -> None:
        started = time.monotonic()
        first_time = datetime.now(UTC)
        records = [each.record for each in taken]
        try:
            await self._until_done(records, first_time)
        except LocalTableError:
            raise
        except Exception as error:
            if len(taken) == 1:
                self._note_refused(records[0])
                await self._until_refused(Refusal.of(records[0], error), first_time)
                _log.exception(
                    "a record broke the stage; it is in the dead letters", stage=self._context.stage, trace_id=records[0].trace_id
                )
            else:
                for each in taken:
                    await self._work([each])
                return
        for each in taken:
            each.ack()
        metrics = self._context.metrics
        metrics.records.labels(self._context.stage, "done").inc(len(taken))
        metrics.handling_seconds.labels(self._context.stage).observe(time.monotonic() - started)
        self._context.measure_age(records[-1])
        self._context.pacer.took(time.monotonic() - started)

    async def _until_done(self, records: list[Delivered], first_time: datetime) -> None:
        tries = 0
        while True:
            tries += 1
            begun = time.monotonic()
            try:
                batch = Batch(self._partition, records, self._state, may_write=self._may_write)
                await self._handler.handle(batch)
                letters = [self._context.letter(refusal, tries, first_time) for refusal in batch.refusals]
                await self._commit([*batch.outputs, *letters])
            except TransientError as failure:
                self._state.discard()
                await self._context.wait_out(failure, tries)
            except BaseException:
                self._state.discard()
                raise
            else:
                self._context.succeeded(begun=begun)
                return

    def _note_refused(self, record: Delivered) -> None:
        """Lets the handler note in the state that the record was passed over; the note is committed with the letter."""
        try:
            self._handler.on_dead_lettered(self._state, record)
        except Exception:
            self._state.discard()
            _log.exception("that a record was passed over could not be noted", stage=self._context.stage, trace_id=record.trace_id)

    async def _until_refused(self, refusal: Refusal, first_time: datetime) -> None:
        tries = 0
        while True:
            tries += 1
            try:
                await self._commit([self._context.letter(refusal, tries, first_time)])
            except TransientError as failure:
                await self._context.wait_out(failure, tries)
            else:
                return

    async def _commit(self, outputs: list[Outgoing]) -> None:
        rows = self._state.changes()
        if outputs:
            await self._context.outbox.send(outputs, may_write=self._may_write)
        changelog_offset = await self._to_changelog(rows) if rows else -1
        if not self._may_write():
            raise TransientError("the partition is being taken away", dependency="assignment")
        self._state.commit(rows, changelog_offset)

    async def _to_changelog(self, rows: list[Row]) -> int:
        topic = self._context.changelog_topic
        if topic is None:
            raise StreamError(f"the {self._context.stage} stage has no table, but its handler changed state")
        records = [Outgoing(topic, row.key, row.value, (), self._partition) for row in rows]
        return max(await self._context.outbox.send(records, may_write=self._may_write))

    async def _send_due(self) -> None:
        commands = self._handler.due(datetime.now(UTC))
        if commands:
            try:
                await self._context.outbox.send(commands, may_write=self._may_write)
            except TransientError as failure:
                _log.warning("timers wait for the next second", stage=self._context.stage, why=str(failure))
