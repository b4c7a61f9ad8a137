"""Drops all state that the log can reproduce, and resets the stages so that they rebuild it. It repeats no extraction and calls no LLM.

After a killed rebuild, the stages' workers wait until it is run again, which repeats all steps (:mod:`streams.operations.resetting`).

1. It appends the LLM's merge outcomes to ``contributions``: the newest outcomes, and the answers that entities has not read yet. So
   entities reads them first, and asks no question that they answer.
2. It resets the offsets. Events starts at the beginning of ``extractions``. Entities starts at the former end of ``contributions``:
   events produces all of them again with their positions, and reading old ones first would make lower positions count as applied.
   Merging starts at the end of ``merges``, since entities repeats unanswered questions. Index starts at the end of ``memories``, since
   the same memories are produced again.
3. It drops the ledger of events, the state of entities, and merging's parked records.
4. It drops the local tables of this machine (others follow the changelogs), the vector store, and the keys in Redis. Sessions keeps its
   changelog, since its windows have been produced.
5. It lets the workers continue, entities last: until then no answer counts as read, and a repeated rebuild appends all of them again.
"""

import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial

import orjson

from control.unfinished_erasures import KEYS as ERASURES_UNDER_WAY
from control.unfinished_erasures import require_no_erasure
from memory.errors import RecordError
from memory.keys import encode_key
from memory.records import Contribution, Memory
from memory.texts.text import counted
from memory.topics import CONTRIBUTIONS, MERGED
from runtime.kafka import KafkaOffsets, OutgoingRecord, Producer, TopicPartition, check_topics, read_topic
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from stores.port import MemoryStore, TenantScope, all_memories
from streams.errors import ReplayRefusedError
from streams.operations.resetting import resetting
from streams.stages.catalog import STAGES, StageSpec


async def rebuild(
    settings: Settings,
    *,
    store: MemoryStore,
    redis: GuardedRedis,
    despite_erasures: bool = False,
    notice: Callable[[str], None] = lambda line: None,
) -> None:
    """Prepares the rebuild. The stages carry it out when they are started again.

    Permanently lost: session tails of closed windows, the day's budgets, and cached answers, which only Redis has. The users of running
    erasures stay in Redis.

    Args:
        settings: The settings in force; every worker is stopped.
        store: The vector store to drop.
        redis: The Redis whose keys are removed.
        despite_erasures: Rebuild even during an erasure, if the erasure cannot be finished without it.
        notice: Called with a line of progress.

    Raises:
        ErasureUnderWayError: An erasure is running.
        GroupInUseError: A worker runs.
        WorkersRunningError: A worker of this machine holds its folder, but is not in a group yet.
        ReplayRefusedError: ``extractions`` has lost its beginning, which could not be rebuilt.
        KafkaUnavailableError: No broker responds.
        TopicMissingError: A topic is missing.
        StoreUnavailableError: The store is unavailable.
        RedisUnavailableError: Redis is unavailable.
    """
    await check_topics(settings)
    events, entities, merging, index = (STAGES[name] for name in ("events", "entities", "merging", "index"))
    stages = (entities, merging, index, events)
    guard = None if despite_erasures else partial(require_no_erasure, settings, "a rebuild")
    async with resetting(settings, stages, command="rebuild", stopped=STAGES.values(), guard=guard, notice=notice) as reset:
        beginnings = await reset.offsets.beginning_offsets([settings.topic(events.source.name)])
        if any(beginnings.values()) and not reset.is_repair:
            raise ReplayRefusedError(
                f"{settings.topic(events.source.name)} no longer begins at offset 0: earlier records would be lost; restore the topic first"
            )
        await redis.ping()  # before any change
        targets = {stage.name: await reset.offsets.end_offsets([settings.topic(stage.source.name)]) for stage in (entities, merging, index)}
        # If the log has lost its beginning since a rebuild began, the workers stop at the gap.
        targets[events.name] = dict.fromkeys(beginnings, 0)
        # Before the offsets are set: an answer before the new offset of entities is never read.
        outcomes = await _append_outcomes(settings, await _unread(settings, entities, reset.offsets))
        notice(f"{outcomes} merged texts come first")
        for stage in stages:
            await reset.begin(stage, targets[stage.name])
        notice("events continues at the start of `extractions`; entities, merging and index continue at the end of their topics")
        for stage in (events, entities, merging):
            notice(f"{stage.name}: {counted(await reset.empty_table(stage), 'row')} dropped")
        for stage in STAGES.values():
            if stage.has_table:
                reset.remove_local_tables(stage)
        notice("local tables dropped")
        await store.drop()
        notice("vector store dropped")
        notice(f"Redis: {counted(await redis.drop_keys(but=ERASURES_UNDER_WAY), 'key')} dropped")
        for stage in reversed(stages):
            await reset.finish(stage)


async def _unread(settings: Settings, stage: StageSpec, offsets: KafkaOffsets) -> Mapping[TopicPartition, int]:
    """The offset of the first unhandled record of each partition of a stage."""
    topic = settings.topic(stage.source.name)
    handled = await offsets.committed_offsets(stage.group(settings.kafka.topic_prefix), [topic])
    beginnings = await offsets.beginning_offsets([topic])
    return {partition: max(beginning, handled.get(partition, beginning)) for partition, beginning in beginnings.items()}


async def _append_outcomes(settings: Settings, unread: Mapping[TopicPartition, int]) -> int:
    """Produces the newest outcomes to the contributions again, and then the answers from the given offsets on, each once.

    A killed rebuild has already appended some of them among the unread ones.
    """
    topic = settings.topic(CONTRIBUTIONS.name)
    newest: dict[bytes, OutgoingRecord] = {}
    async for record in read_topic(settings.topic(MERGED.name), settings.kafka):
        # An answer replaces the outcome before it; a tombstone deletes it.
        newest.pop(record.key or b"", None)
        if (again := _again(topic, record.value)) is not None:
            newest[record.key or b""] = again
    answers = [
        again async for record in read_topic(topic, settings.kafka, start=unread) if (again := _again(topic, record.value)) is not None
    ]
    outcomes = [*dict.fromkeys((*newest.values(), *answers))]
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_in_batches(outcomes)
    return len(outcomes)


def _again(topic: str, value: bytes | None) -> OutgoingRecord | None:
    """The record to produce for a contribution with an outcome; None for any other."""
    try:
        contribution = Contribution.from_json(value or b"")
    except RecordError:
        return None
    if contribution.merged is None:
        return None
    key = encode_key(contribution.tenant, contribution.entity_type, contribution.entity_key)
    return OutgoingRecord(topic, key, value)


async def snapshot(store: MemoryStore, tenant: str) -> AsyncIterator[bytes]:
    """A tenant's memories as JSON lines with sorted fields, sorted by id.

    Raises:
        StoreUnavailableError: The store is unavailable.
    """
    async for memory in all_memories(store, TenantScope(tenant)):
        yield canonical(memory)


async def digest(store: MemoryStore, tenant: str) -> str:
    """The SHA-256 (hex) of a tenant's snapshot."""
    sha256 = hashlib.sha256()
    async for line in snapshot(store, tenant):
        sha256.update(line + b"\n")
    return sha256.hexdigest()


def canonical(memory: Memory) -> bytes:
    """A memory's bytes, independent of the order in which its fields and properties were set."""
    return orjson.dumps(memory.model_dump(mode="json", exclude_none=True), option=orjson.OPT_SORT_KEYS)
