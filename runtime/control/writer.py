"""Writes the control log. Changes are totally ordered, each made on what the one before left, with nothing but Kafka.

A writer takes over the one transactional id that all writers share, which fences every other, reads the log to its end, makes its change,
and commits documents and audit in one transaction. Whoever was fenced meanwhile begins again on what there is then.
"""

import asyncio
import random
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from aiokafka import ConsumerRecord

from memory.topics import CONTROL
from runtime.clocks import Clock, SystemClock
from runtime.control.audit import AuditedChange, AuditTrail, audit, change_of
from runtime.control.draft import Change, DocumentChange, Draft
from runtime.control.log import audit_partition, control_partition, read_control
from runtime.errors import KafkaUnavailableError, ProducerFencedError
from runtime.kafka import OutgoingRecord, read_topic
from runtime.kafka.transactional import TransactionalProducer
from runtime.logs import logger
from runtime.settings import Settings

_log = logger(__name__)
_R = TypeVar("_R")

_FIRST_BACKOFF_S: Final = 0.05
_LONGEST_BACKOFF_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Written(Generic[_R]):
    """A change that is in force."""

    result: _R
    """What the change gave."""
    position: int
    """The offset behind it: who has followed the log to there knows it."""
    documents: tuple[DocumentChange, ...]
    """What became another; none: all was so already, and nothing was written."""


class ControlWriter:
    """Changes the control log.

    Args:
        settings: Where it is.
        by: Who makes the changes, for the audit.
        clock: Tells when.
    """

    def __init__(self, *, settings: Settings, by: str, clock: Clock | None = None) -> None:
        self._settings = settings
        self._by = by
        self._clock = clock or SystemClock()

    async def write(self, change: Change[_R], *, action: str) -> Written[_R]:
        """Makes a change, whole or not at all. Returns when whoever reads the log from now on reads it.

        Args:
            change: What is to be changed. It is called again where another writer was faster.
            action: What that is, for the audit.

        Raises:
            ChangeRefusedError: If the change does not fit what there is; nothing was written.
            UnknownTenantError: If it is to a tenant that there is not; nothing was written.
            KafkaUnavailableError: If no broker answers; whether it was written is not known.
            TopicMissingError: If a topic does not exist.
        """
        attempt = _Attempt[_R](str(uuid.uuid4()), action)
        deadline = time.monotonic() + self._settings.control.write_timeout_s
        backoff = _FIRST_BACKOFF_S
        while True:
            try:
                return await self._try(change, attempt)
            except (ProducerFencedError, KafkaUnavailableError) as error:
                if time.monotonic() >= deadline:
                    raise KafkaUnavailableError(
                        f"{action}: not confirmed in {self._settings.control.write_timeout_s:g} s: {error}"
                    ) from error
                _log.info("control_write_again", action=action, error=str(error))
            await asyncio.sleep(random.uniform(0, backoff))
            backoff = min(backoff * 2, _LONGEST_BACKOFF_S)

    async def settle(self) -> None:
        """Waits until whatever was written before this call holds everywhere.

        A process that has not heard of it by then admits nobody and lets records wait.
        """
        await asyncio.sleep(self._settings.control.lease_s)

    async def _try(self, change: Change[_R], attempt: "_Attempt[_R]") -> Written[_R]:
        producer = TransactionalProducer(
            kafka=self._settings.kafka, transactional_id=self._settings.topic(CONTROL.name), partitions=self._settings.kafka.partitions
        )
        await producer.start()
        try:
            state = await read_control(self._settings)
            if attempt.outcome is not None and await self._is_written(attempt):
                # Another may have written since: their position is as good.
                return replace(attempt.outcome, position=state.position)
            draft = Draft(state)
            result = change(draft)
            documents = tuple(draft.changes())
            if not documents:
                return Written(result, state.position, ())
            trail = AuditTrail(state.audit_head.before, state.audit_head.until)
            async for record in self._audit_since(trail.next_offset):
                trail.add(record.value or b"", record.offset)
            audited = audit(documents, trail, state.audit_head, change=attempt.id, action=attempt.action, by=self._by, at=self._clock.now())
            attempt.outcome, attempt.since = Written(result, state.position, documents), trail.next_offset
            offsets = await producer.commit(self._records(audited, documents), offsets={}, group="")
        finally:
            await producer.stop()
        return replace(attempt.outcome, position=await self._readable(offsets[len(documents)]))

    def _records(self, audited: AuditedChange, documents: Sequence[DocumentChange]) -> list[OutgoingRecord]:
        control, audit_log = control_partition(self._settings), audit_partition(self._settings)
        written = [each.after for each in documents] + [audited.head]
        return [
            *(OutgoingRecord(control.topic, each.key, each.to_json(), partition=control.partition) for each in written),
            *(
                OutgoingRecord(audit_log.topic, each.after.key, value, partition=audit_log.partition)
                for each, value in zip(documents, audited.records, strict=True)
            ),
        ]

    async def _is_written(self, attempt: "_Attempt[_R]") -> bool:
        """Whether a transaction that was not confirmed stands in the log all the same."""
        return any([record async for record in self._audit_since(attempt.since) if change_of(record.value or b"") == attempt.id])

    async def _readable(self, offset: int) -> int:
        """Waits until readers get what lies at an offset: a commit is confirmed before its marker is written. Gives the position behind."""
        partition = control_partition(self._settings)
        async for _ in read_topic(partition.topic, self._settings.kafka, start={partition: offset}):
            pass
        return offset + 1

    def _audit_since(self, offset: int) -> "AsyncIterator[ConsumerRecord[bytes | None, bytes | None]]":
        partition = audit_partition(self._settings)
        return read_topic(partition.topic, self._settings.kafka, start={partition: offset})


@dataclass(slots=True)
class _Attempt(Generic[_R]):
    """What was tried so far of one change."""

    id: str
    action: str
    outcome: Written[_R] | None = None
    """Of the last transaction that was begun."""
    since: int = 0
    """Where the audit ended then."""
