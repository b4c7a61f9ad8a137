"""Writes the control log. Kafka alone orders the changes: each is applied to the state that the previous one left.

A writer takes the transactional id that all writers share, which fences the others, reads the log to its end, makes its change, and commits
documents and audit in one transaction. A writer that was fenced meanwhile retries on the new state. Changes of one process are queued and
share one session.
"""

import asyncio
import random
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar

from aiokafka import AIOKafkaConsumer

from control.draft import Change, DocumentChange, Draft
from control.errors import ChangeRefusedError, UnknownTenantError
from control.log import AuditedChange, AuditTrail, audit, audit_partition, change_of, control_partition
from control.state import ControlState
from memory.topics import CONTROL
from runtime.clocks import Clock, SystemClock
from runtime.errors import KafkaUnavailableError, ProducerFencedError
from runtime.kafka import OutgoingRecord, TopicPartition, read_topic
from runtime.kafka.client import disconnect, high_watermarks, kafka_faults, learn_leaders, open_consumer
from runtime.kafka.transactional import TransactionalProducer
from runtime.logs import logger
from runtime.settings import Settings

_POLL_MS: Final = 500
_FETCH_WAIT_MS: Final = 10
"""How long the broker waits for new records before it sends an empty response. The next request on the connection waits as long."""

_log = logger(__name__)
_R = TypeVar("_R")

_FIRST_BACKOFF_S: Final = 0.2
"""Approximate duration of a change: an earlier retry would only fence another writer."""
_LONGEST_BACKOFF_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Written(Generic[_R]):
    """A committed change."""

    result: _R
    """Result of the change function."""
    position: int
    """The offset after the change: a follower at this position knows it."""
    documents: tuple[DocumentChange, ...]
    """The changed documents; empty if nothing changed and nothing was written."""


@dataclass(slots=True)
class Attempt(Generic[_R]):
    """One change, with the state of its last attempt."""

    change: Change[_R]
    action: str
    by: str
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    outcome: Written[_R] | None = None
    """Outcome of the last transaction that was begun."""
    since: int = 0
    """End offset of the audit log at that time."""


class ControlSession:
    """Writes changes sequentially. Opening it fences every other writer; once fenced itself, it can no longer commit."""

    def __init__(self, *, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._control, self._audit = control_partition(settings), audit_partition(settings)
        self._producer = TransactionalProducer(
            kafka=settings.kafka, transactional_id=settings.topic(CONTROL.name), partitions=settings.kafka.partitions
        )
        self._consumer: AIOKafkaConsumer | None = None
        self._is_current = False
        """Whether nothing happened since the log was read to its end."""
        self._state = ControlState()
        self._trail = AuditTrail()

    async def open(self) -> None:
        """Takes the transactional id and reads the log. The caller has to close the session even after an error."""
        await self._producer.start()
        with kafka_faults("opening the control log", self._settings.kafka):
            consumer = self._consumer = await open_consumer(
                self._settings.kafka,
                auto_offset_reset="earliest",
                isolation_level="read_committed",
                fetch_max_wait_ms=_FETCH_WAIT_MS,
            )
            await learn_leaders(consumer, [self._control.topic, self._audit.topic])
            consumer.assign([self._control, self._audit])
            ends = await high_watermarks(consumer, [self._control, self._audit])
            consumer.seek(self._control, 0)
            consumer.seek(self._audit, ends[self._audit])
        await self._read_to({self._control: ends[self._control]})
        head = self._state.audit_head
        self._trail = AuditTrail(head.before, head.until)
        consumer.seek(self._audit, head.until)
        await self._read_to({self._audit: ends[self._audit]})
        self._is_current = True

    async def close(self) -> None:
        """Closes the session; may be called repeatedly."""
        consumer, self._consumer = self._consumer, None
        # A caller that is cancelled meanwhile closes the rest, too.
        async with AsyncExitStack() as closing:
            if consumer is not None:
                closing.push_async_callback(disconnect, consumer)
            closing.push_async_callback(self._producer.stop)

    async def write(self, attempt: Attempt[_R]) -> Written[_R]:
        """Makes a change atomically. Returns once every new reader of the log sees it.

        Raises:
            ChangeRefusedError: If the change is invalid for the current state; nothing was written.
            UnknownTenantError: If its tenant does not exist; nothing was written.
            ProducerFencedError: If another writer has taken the id; nothing was written.
            KafkaUnavailableError: If no broker answers; it is unknown whether the change was written.
        """
        if not self._is_current:
            # Up to the high watermark, so that no change is missed and the check uses a state from after the call.
            await self._read_to(await self._ends())
        self._is_current = False
        if attempt.outcome is not None and await self._is_written(attempt):
            # Other writers may have written since: a later position is valid, too.
            return replace(attempt.outcome, position=self._state.position)
        draft = Draft(self._state)
        # A change of thousands of tenants takes seconds, so it runs in a thread.
        result = await asyncio.to_thread(attempt.change, draft)
        documents = tuple(draft.changes())
        if not documents:
            return Written(result, self._state.position, ())
        audited = audit(
            documents,
            self._trail,
            self._state.audit_head,
            change=attempt.id,
            action=attempt.action,
            by=attempt.by,
            at=self._clock.now(),
        )
        attempt.outcome, attempt.since = Written(result, self._state.position, documents), self._trail.next_offset
        offsets = await self._producer.commit(self._records(audited, documents), offsets={}, group="")
        # A commit is confirmed before its marker is written, and readers see it only after that.
        await self._read_to({self._control: offsets[len(documents)] + 1, self._audit: offsets[-1] + 1})
        return replace(attempt.outcome, position=offsets[len(documents)] + 1)

    def _records(self, audited: AuditedChange, documents: Sequence[DocumentChange]) -> list[OutgoingRecord]:
        written = [each.after for each in documents] + [audited.head]
        return [
            *(OutgoingRecord(self._control.topic, each.key, each.to_json(), partition=self._control.partition) for each in written),
            *(
                OutgoingRecord(self._audit.topic, each.after.key, value, partition=self._audit.partition)
                for each, value in zip(documents, audited.records, strict=True)
            ),
        ]

    async def _ends(self) -> dict[TopicPartition, int]:
        assert self._consumer is not None
        with kafka_faults("reading the ends of the control log", self._settings.kafka):
            return await high_watermarks(self._consumer, [self._control, self._audit])

    async def _read_to(self, ends: Mapping[TopicPartition, int]) -> None:
        """Applies all records before these offsets; waits for open transactions."""
        consumer = self._consumer
        assert consumer is not None
        with kafka_faults("reading the control log", self._settings.kafka):
            while unread := [each for each, end in ends.items() if await consumer.position(each) < end]:
                for partition, records in (await consumer.getmany(*unread, timeout_ms=_POLL_MS)).items():
                    for record in records:
                        if partition == self._control:
                            self._state.take(record.key, record.value, offset=record.offset)
                        else:
                            self._trail.add(record.value or b"", record.offset)

    async def _is_written(self, attempt: Attempt[_R]) -> bool:
        """Whether an unconfirmed transaction was committed nevertheless."""
        since = read_topic(self._audit.topic, self._settings.kafka, start={self._audit: attempt.since})
        return any([record async for record in since if change_of(record.value or b"") == attempt.id])


class ControlWriter:
    """Changes the control log, for one process or one command."""

    def __init__(self, *, settings: Settings, clock: Clock | None = None) -> None:
        self._settings = settings
        self._clock = clock or SystemClock()
        self._turn = asyncio.Lock()
        self._coming = 0
        """Number of changes that run or are queued."""
        self._session: ControlSession | None = None

    async def write(self, change: Change[_R], *, action: str, by: str) -> Written[_R]:
        """Makes a change atomically. Returns once every new reader of the log sees it.

        Args:
            change: The change. It is called in a thread, and again if another writer was faster.
            action: Name of the action, for the audit log.
            by: The actor, for the audit log.

        Raises:
            ChangeRefusedError: If the change is invalid for the current state; nothing was written.
            UnknownTenantError: If its tenant does not exist; nothing was written.
            RecordTooLargeError: If a document is too large for the log; nothing was written.
            KafkaUnavailableError: If no broker answers; it is unknown whether the change was written.
        """
        attempt = Attempt(change, action, by)
        deadline = time.monotonic() + self._settings.control.write_timeout_s
        self._coming += 1
        try:
            async with self._turn:
                try:
                    return await self._write(attempt, deadline)
                finally:
                    if self._coming == 1:
                        await self._close()
        finally:
            self._coming -= 1

    async def settle(self) -> None:
        """Waits until all changes before this call are effective in all processes.

        A process that does not know them by then rejects requests and defers records.
        """
        await asyncio.sleep(self._settings.control.lease_s)

    async def _write(self, attempt: Attempt[_R], deadline: float) -> Written[_R]:
        backoff = _FIRST_BACKOFF_S
        while True:
            try:
                return await (await self._opened()).write(attempt)
            except (ChangeRefusedError, UnknownTenantError):
                raise
            except (ProducerFencedError, KafkaUnavailableError) as error:
                await self._close()
                if time.monotonic() >= deadline:
                    raise KafkaUnavailableError(
                        f"{attempt.action}: not confirmed in {self._settings.control.write_timeout_s:g} s: {error}"
                    ) from error
                _log.info("control_write_retried", action=attempt.action, error=str(error))
            except BaseException:
                await self._close()
                raise
            await asyncio.sleep(random.uniform(0, backoff))
            backoff = min(backoff * 2, _LONGEST_BACKOFF_S)

    async def _opened(self) -> ControlSession:
        if self._session is None:
            self._session = ControlSession(settings=self._settings, clock=self._clock)
            await self._session.open()
        return self._session

    async def _close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()
