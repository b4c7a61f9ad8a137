"""The index stage: writes the change feed into the vector store."""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from memory.errors import RecordError
from memory.keys import decode_key
from memory.records import MemoryChange
from memory.topics import MEMORIES, is_topic
from models.errors import InputRefusedError, ModelConfigurationError, TransientModelError
from runtime.tracing import Attributes
from stores.errors import ModelMismatchError, StoreBehindError, StoreRejectedError, StoreUnavailableError
from stores.index_writer import FeedChange, IndexWriter
from stores.position import FeedPosition
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch, BatchHandler
from streams.errors import PoisonRecordError, TransientError, transient


class IndexHandler(BatchHandler):
    """Handles one partition of ``memories``. Handled records are durable in the store.

    Args:
        writer: Embeds and writes.
        attempts: Attempts with a text on which the embedding model fails, though it works for others.
    """

    def __init__(self, *, writer: IndexWriter, attempts: int) -> None:
        self._writer = writer
        self._attempts = attempts
        self._failures: Counter[int] = Counter()
        """Failures of records by their own fault, by offset."""

    async def handle(self, batch: Batch) -> None:
        """Writes a batch at once. If a record may be the cause of a failure, writes record by record to find it."""
        changes: list[tuple[ConsumedRecord, MemoryChange]] = []
        await batch.each(lambda record: changes.append((record, change_of(record))))
        started_ns = time.time_ns()
        try:
            await self._write(batch, [_feed_change(record, change) for record, change in changes])
            for record, change in changes:
                _note_written(batch, record, change, started_ns, count=len(changes))
        except (StoreRejectedError, InputRefusedError):
            await self._write_each(batch, changes)
        except TransientError as failure:
            if not await self._is_own_fault(failure):
                raise
            await self._write_each(batch, changes)
        await self._set_checkpoint(batch)
        self._failures.clear()

    async def _write_each(self, batch: Batch, changes: Sequence[tuple[ConsumedRecord, MemoryChange]]) -> None:
        """Writes record by record.

        Raises:
            TransientError: A record is to be attempted again; all others are written or rejected.
        """
        again: TransientError | None = None
        for record, change in changes:
            try:
                started_ns = time.time_ns()
                await self._write(batch, [_feed_change(record, change)])
                _note_written(batch, record, change, started_ns, count=1)
            except StoreRejectedError as error:
                batch.reject(record, PoisonRecordError("store_rejected", str(error)))
            except InputRefusedError as error:
                batch.reject(record, PoisonRecordError("input_refused", str(error)))
            except TransientError as failure:
                if not await self._is_own_fault(failure):
                    raise
                self._failures[record.offset] += 1
                if self._failures[record.offset] < self._attempts:
                    again = again or failure
                else:
                    batch.reject(record, PoisonRecordError("gave_up", str(failure)))
        if again is not None:
            raise again

    async def _is_own_fault(self, failure: TransientError) -> bool:
        """Whether the embedding model works for another text: without this check, a text on which it always fails stops the partition."""
        return failure.dependency == "embedding" and failure.concerns_record and await self._writer.can_embed()

    async def _write(self, batch: Batch, changes: list[FeedChange]) -> None:
        await self._store(batch, partial(self._writer.write, changes))

    async def _set_checkpoint(self, batch: Batch) -> None:
        """Stores the partition's watermark before the group's offset is committed (:mod:`streams.stages.index.store_watermark`)."""
        try:
            await self._store(batch, partial(self._writer.set_checkpoint, read_position(batch.records[-1])))
        except StoreRejectedError as error:
            raise TransientError(f"the store refuses a checkpoint: {error}", dependency="store") from error

    async def _store(self, batch: Batch, write: Callable[..., Awaitable[None]]) -> None:
        def require_assignment() -> None:
            if not batch.may_write():
                raise TransientError("the partition is being revoked", dependency="assignment")

        try:
            await write(before_writing=require_assignment)
        except (StoreUnavailableError, StoreBehindError, ModelMismatchError) as error:
            # A store with another embedding model is not the memory's fault. All memories wait for a rebuild, or for the previous model.
            raise TransientError(str(error), dependency="store") from error
        except TransientModelError as error:
            raise transient(error, dependency="embedding") from error
        except InputRefusedError:
            raise
        except ModelConfigurationError as error:
            # A wrong key or model name is not the memory's fault. All memories wait until it is corrected.
            raise TransientError(str(error), dependency="embedding") from error


def original_position(record: ConsumedRecord) -> FeedPosition:
    """A record's position in the feed. A redriven or copied record has its original position, so that it replaces no later record."""
    origin = record.origin
    if origin == record.position or not is_topic(MEMORIES, origin.topic):
        return read_position(record)
    # The record's time is the time of the redrive.
    return FeedPosition(origin.partition, origin.offset)


def read_position(record: ConsumedRecord) -> FeedPosition:
    """The position at which a record was read from the feed."""
    return FeedPosition(record.partition, record.offset, record.appended_ms)


def _note_written(batch: Batch, record: ConsumedRecord, change: MemoryChange, started_ns: int, *, count: int) -> None:
    attributes: Attributes = {"db.operation.name": change.op, "db.operation.batch.size": count}
    batch.spans.add_step(record, f"{change.op} memory", started_ns=started_ns, attributes=attributes)


def _feed_change(record: ConsumedRecord, change: MemoryChange) -> FeedChange:
    return FeedChange(change, original_position(record))


def change_of(record: ConsumedRecord) -> MemoryChange:
    """The change in a record of the feed; a record without a value is a tombstone.

    Raises:
        RecordError: The record holds no change.
    """
    if record.value is not None:
        return MemoryChange.from_json(record.value)
    parts = decode_key(record.key or b"")
    if len(parts) != 2:
        raise RecordError(f"the key of a tombstone names a tenant and a memory, got {parts!r}")
    return MemoryChange(op="tombstone", tenant=parts[0], memory_id=parts[1])
