"""A shadow of single users: their memories, made again from the log by the stages' own handlers, in this process only.

It sends and stores nothing, and calls no model: the log has the outcomes of models. Memories that belong to no single user are left out,
because they are made from the records of many users.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any, Final

import orjson

from control.tenants import TenantDirectory
from memory.errors import RecordError
from memory.keys import encode_key
from memory.records import Contribution, Memory, MemoryChange
from memory.topics import CONTRIBUTIONS, MEMORIES
from runtime.clocks import Clock
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import Codec, PartitionState, StateChange
from streams.engine.tasks.batch import Batch, BatchHandler
from streams.stages.entities.codec import EntityCodec
from streams.stages.entities.handler import EntitiesHandler
from streams.stages.events.handler import EventsHandler
from streams.stages.events.ledger import LedgerCodec

_BATCH: Final = 200
_CACHE_BYTES: Final = 4_000_000
_COUNTED: Final = frozenset({"entity", "summary"})
"""Kinds of memories whose version counts changes: those of records that retention or an erasure has removed are not in the log any more."""


class UserShadow:
    """The memories of one user.

    Args:
        user: The user.
        partition: The partition of ``extractions`` that has the user's records.
        settings: The settings of the stages.
        tenants: The known tenants, with their schemas.
        clock: The wall clock; no memory depends on it.
    """

    def __init__(self, *, user: str, partition: int, settings: Settings, tenants: TenantDirectory, clock: Clock) -> None:
        metrics = Metrics()
        self._user = user
        self._memories_topic = settings.topic(MEMORIES.name)
        self._contributions_topic = settings.topic(CONTRIBUTIONS.name)
        self._events = _Stage(
            EventsHandler(partition=partition, settings=settings, tenants=tenants, metrics=metrics), LedgerCodec(), clock, partition
        )
        self._entities = _Stage(
            EntitiesHandler(partition=0, settings=settings, tenants=tenants, metrics=metrics, clock=clock), EntityCodec(), clock, 0
        )
        self._clock = clock
        self._offsets = count()
        self._contributions: list[OutgoingRecord] = []
        self._memories: dict[bytes, Memory] = {}
        """By key in ``memories``."""

    async def add(self, records: Sequence[ConsumedRecord]) -> None:
        """Adds the next of the user's records of ``extractions``, in their order."""
        self._take(await self._events.handle(records))

    def entity_keys(self) -> set[bytes]:
        """The keys in ``contributions`` of the entities that the user's records have changed."""
        return {each.key for each in self._contributions if each.key is not None}

    async def finish(self, outcomes: Iterable[bytes]) -> dict[str, Memory]:
        """The user's memories by id.

        Args:
            outcomes: The values of ``merged`` of the entities in :meth:`entity_keys`: answers of models, which a rebuild applies first.
        """
        outgoing = [OutgoingRecord(self._contributions_topic, b"", each) for each in outcomes]
        self._take(await self._entities.handle([self._consumed(each) for each in (*outgoing, *self._contributions)]))
        return {each.id: each for each in self._memories.values()}

    def _take(self, outputs: Iterable[OutgoingRecord]) -> None:
        for output in outputs:
            if output.topic == self._contributions_topic:
                self._contributions.append(output)
            elif output.topic == self._memories_topic:
                self._publish(output)

    def _publish(self, output: OutgoingRecord) -> None:
        key = output.key or b""
        memory = None if output.value is None else MemoryChange.from_json(output.value).memory
        if output.value is None:
            self._memories.pop(key, None)
        elif memory is not None and memory.user == self._user:
            self._memories[key] = memory

    def _consumed(self, output: OutgoingRecord) -> ConsumedRecord:
        now = self._clock.now().timestamp()
        return ConsumedRecord(output.topic, 0, next(self._offsets), output.key, output.value, output.headers, now)


class _Stage:
    """A handler with its state in memory."""

    def __init__(self, handler: BatchHandler, codec: Codec[Any], clock: Clock, partition: int) -> None:
        self._handler = handler
        self._state: PartitionState[Any] = PartitionState(_RowsInMemory(), codec, cache_bytes=_CACHE_BYTES)
        self._clock = clock
        self._partition = partition

    async def handle(self, records: Sequence[ConsumedRecord]) -> list[OutgoingRecord]:
        """Handles records, and returns the outputs."""
        outputs: list[OutgoingRecord] = []
        for start in range(0, len(records), _BATCH):
            batch = Batch(self._partition, records[start : start + _BATCH], self._state, self._clock.now())
            await self._handler.handle(batch)
            self._state.commit(self._state.changes(), 0)
            outputs += batch.outputs
        return outputs


class _RowsInMemory:
    """The rows of one table."""

    def __init__(self) -> None:
        self._rows: dict[bytes, bytes] = {}

    def read(self, key: bytes) -> bytes | None:
        return self._rows.get(key)

    def scan(self) -> Iterator[tuple[bytes, bytes]]:
        yield from sorted(self._rows.items())

    def scan_from(self, key: bytes) -> Iterator[tuple[bytes, bytes]]:
        yield from sorted(row for row in self._rows.items() if row[0] >= key)

    def write(self, rows: list[StateChange], changelog_offset: int) -> None:
        for row in rows:
            if row.value is None:
                self._rows.pop(row.key, None)
            else:
                self._rows[row.key] = row.value


def entity_of_outcome(value: bytes) -> bytes | None:
    """The key in ``contributions`` of the entity of a record of ``merged``; None if it cannot be read."""
    try:
        made = Contribution.from_json(value)
    except RecordError:
        return None
    return encode_key(made.tenant, made.entity_type, made.entity_key)


def compared_fields(memory: Memory) -> dict[str, Any]:
    """The fields of a memory that a proof compares: all but the version of an entity or summary."""
    fields: dict[str, Any] = memory.model_dump(mode="json", exclude_none=True)
    if memory.kind in _COUNTED:
        del fields["version"]
    return fields


def digest_input(memory: Memory) -> bytes:
    """The compared fields as bytes, independent of the order in which they were set."""
    return orjson.dumps(compared_fields(memory), option=orjson.OPT_SORT_KEYS)
