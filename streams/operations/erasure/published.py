"""Records of erased users that are still in the change feed, even if no stage's state has them.

The stages retract the memories that their state contains. After a rebuild, the state lacks the erased users, but the change feed may still
have their memories. So the feed, the texts that models wrote, and the store are read as well.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from memory.errors import RecordError, VarveError
from memory.ids import entity_id
from memory.keys import encode_key
from memory.records import Contribution, HistoryEntry, Memory, MemoryChange
from memory.topics import MEMORIES, MERGED
from runtime.kafka import TopicPartition, read_topic
from runtime.settings import Settings
from stores.port import MemoryStore, TenantScope, all_memories, all_steps
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.trace import UserTrace

_OF_A_WINDOW: Final = frozenset({"event", "segment"})
"""Kinds of memories that the events stage publishes."""


class PublishedMemories:
    """Collects the records of some users in ``memories``, record by record. Pure.

    Args:
        began: The ends of the feed's partitions when the run began: records before them are erased, even if no trace has them.
    """

    def __init__(self, tenant: str, users: Iterable[ErasedUser], *, began: Mapping[TopicPartition, int]) -> None:
        self._prefix = encode_key(tenant) + b"/"
        self._users = {each.user: each for each in users}
        self._by_entity: defaultdict[tuple[str, str, str], list[ErasedUser]] = defaultdict(list)
        for user in self._users.values():
            for entity in user.trace.entities:
                self._by_entity[entity.entity_type, entity.entity_key, entity.generation].append(user)
        self._began = began
        self._published: dict[bytes, Memory | HistoryEntry] = {}
        self._old: set[bytes] = set()
        """Keys of the records from before the run."""

    def add(self, partition: TopicPartition, offset: int, key: bytes, value: bytes | None) -> None:
        """Adds the feed's next record.

        Args:
            partition: Its partition.
            offset: Its offset.
            key: Its key.
            value: Its value. None: the memory was deleted.
        """
        if not key.startswith(self._prefix):
            return
        found = None if value is None else _content(value)
        self._old.discard(key)
        if found is None or not self._owners(found):
            self._published.pop(key, None)
            return
        self._published[key] = found
        if offset < self._began.get(partition, 0):
            self._old.add(key)

    def add_stored(self, tenant: str, stored: Memory | HistoryEntry) -> None:
        """Adds a memory or history entry of the store. The feed's record replaces it, so the feed is read afterwards."""
        key = encode_key(tenant, stored.id)
        self._published[key] = stored
        self._old.add(key)

    def note(self) -> None:
        """Adds the records that are still published to the users' traces."""
        for key, found in self._published.items():
            for trace in (each.trace for each in self._owners(found)):
                if isinstance(found, Memory) and found.kind in _OF_A_WINDOW:
                    if found.window_id is not None and (key in self._old or trace.has_window(found.window_id)):
                        trace.note_window_memory(found.window_id, found.generation, found.id)
                elif (ref := _entity_of(found)) is not None:
                    with suppress(VarveError):  # its schema is unknown: the verification finds the record
                        _add_entity(trace, found, ref)
                        trace.note_entity_memory(*ref, found.id)

    def _owners(self, found: Memory | HistoryEntry) -> list[ErasedUser]:
        named = self._users.get((found.user if isinstance(found, Memory) else found.contribution.user) or "")
        ref = None if isinstance(found, Memory) and found.kind in _OF_A_WINDOW else _entity_of(found)
        reached = [] if ref is None else self._by_entity.get(ref, [])
        return reached if named is None or named in reached else [named, *reached]


async def note_published(
    settings: Settings, tenant: str, users: Sequence[ErasedUser], *, began: Mapping[TopicPartition, int], store: MemoryStore
) -> None:
    """Adds everything of the users that is still published to their traces."""
    published = PublishedMemories(tenant, users, began=began)
    # The store is read before the feed: the feed has everything that is published in the meantime.
    async for stored in _stored(store, tenant, users):
        published.add_stored(tenant, stored)
    topic = settings.topic(MEMORIES.name)
    async for record in read_topic(topic, settings.kafka):
        published.add(TopicPartition(topic, record.partition), record.offset, record.key or b"", record.value)
    published.note()
    outcomes: dict[bytes, bytes | None] = {}
    prefix = encode_key(tenant) + b"/"
    async for record in read_topic(settings.topic(MERGED.name), settings.kafka):
        if (record.key or b"").startswith(prefix):
            outcomes[record.key or b""] = record.value
    for value in outcomes.values():
        if value is not None:
            note_outcome([each.trace for each in users], value)


def note_outcome(traces: Iterable[UserTrace], value: bytes) -> None:
    """Adds a text that a model wrote to the traces that have its entity, or whose user it came from.

    Args:
        traces: The users' traces.
        value: The record of ``merged``.
    """
    try:
        made = Contribution.from_json(value)
    except RecordError:
        return
    if made.merged is None:
        return
    ref = made.entity_type, made.entity_key, made.generation
    for trace in traces:
        if made.user == trace.user or trace.has_entity(*ref):
            with suppress(VarveError):
                if not trace.has_entity(*ref):
                    trace.note_entity(*ref, schema_name=made.schema_name, schema_revision=made.schema_revision)
                trace.note_outcome(*ref, made.merged.property, made.merged.part or "-")


async def _stored(store: MemoryStore, tenant: str, users: Sequence[ErasedUser]) -> AsyncIterator[Memory | HistoryEntry]:
    for user in users:
        async for memory in all_memories(store, TenantScope(tenant, user.user)):
            yield memory
    reached = (each for user in users for each in user.trace.entities)
    for entity in dict.fromkeys(entity_id(tenant, each.entity_type, each.entity_key, each.generation) for each in reached):
        async for step in all_steps(store, TenantScope(tenant), entity):
            yield step


def _content(value: bytes) -> Memory | HistoryEntry | None:
    with suppress(RecordError):
        change = MemoryChange.from_json(value)
        return change.step if change.op == "step" else change.memory
    return None


def _entity_of(found: Memory | HistoryEntry) -> tuple[str, str, str] | None:
    """Type, key and generation of the entity of a memory or history entry."""
    if isinstance(found, HistoryEntry):
        made = found.contribution
        return made.entity_type, made.entity_key, made.generation
    return None if found.entity_key is None else (found.type, found.entity_key, found.generation)


def _add_entity(trace: UserTrace, found: Memory | HistoryEntry, ref: tuple[str, str, str]) -> None:
    if trace.has_entity(*ref):
        return
    if isinstance(found, HistoryEntry):
        made = found.contribution
        trace.note_entity(*ref, schema_name=made.schema_name, schema_revision=made.schema_revision)
    else:
        trace.note_entity(*ref)
