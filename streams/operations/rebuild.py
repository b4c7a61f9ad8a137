"""Drops all state that the log can give again, and resets the stages so that they rebuild it. No extraction is repeated, no LLM called.

A rebuild that is killed leaves stages whose workers wait, until it is run again and then does all of it again (:mod:`streams.resetting`).

1. It appends what LLMs have merged to ``contributions``: the newest outcomes, and the answers that entities has not read yet. So entities
   reads them first, and asks about nothing that they cover.
2. The offsets. Events starts at the beginning of ``extractions``. Entities starts at what was the end of ``contributions``: events
   produces all of them again with the positions they had, and reading old ones first would make lower positions count as applied.
   Merging starts at the end of ``merges``, since entities asks again what nobody has answered. Index starts at the end of ``memories``,
   since the same memories come again.
3. The ledger of events, the state of entities, and what merging has parked.
4. The local tables of this machine (those of others follow the changelogs), the vector store, and the keys in Redis. Sessions keep their
   changelog, since their windows have been produced.
5. The workers may go on. Entities comes last: until then no answer counts as read, and a repeated rebuild appends all of them again.
"""

from collections.abc import Callable, Mapping

from control.unfinished_erasures import KEYS as ERASURES_UNDER_WAY
from control.unfinished_erasures import require_no_erasure
from memory.errors import RecordError
from memory.keys import encode_key
from memory.records import Contribution
from memory.topics import CONTRIBUTIONS, MERGED
from runtime.kafka import KafkaOffsets, OutgoingRecord, Producer, TopicPartition, check_topics, read_topic
from runtime.redis import GuardedRedis
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.errors import ReplayRefusedError
from streams.resetting import resetting
from streams.stages.catalog import STAGES, StageSpec


async def rebuild(
    settings: Settings,
    *,
    store: MemoryStore,
    redis: GuardedRedis,
    despite_erasures: bool = False,
    notice: Callable[[str], None] = lambda line: None,
) -> None:
    """Prepares the rebuild; the stages, started again, carry it out.

    What is lost for good: session tails of closed windows, the day's budgets, and cached answers, all of which live in Redis only. Whom
    erasures are about that are under way stays there.

    Args:
        settings: The settings in force; every worker is stopped.
        store: Dropped.
        redis: Its keys are removed.
        despite_erasures: Rebuild even while an erasure is under way: where it cannot be finished without.
        notice: Called with a line of progress.

    Raises:
        ErasureUnderWayError: If an erasure is under way.
        GroupInUseError: If a worker runs.
        WorkersRunningError: If a worker of this machine holds its folder, but is in no group yet.
        ReplayRefusedError: If ``extractions`` has lost its beginning, which could not be rebuilt.
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If a topic is missing.
        StoreUnavailableError: If the store is away.
        RedisUnavailableError: If Redis is away.
    """
    await check_topics(settings)
    events, entities, merging, index = (STAGES[name] for name in ("events", "entities", "merging", "index"))
    stages = (entities, merging, index, events)
    async with resetting(settings, stages, command="rebuild", stopped=STAGES.values(), notice=notice) as reset:
        if not (despite_erasures or reset.is_repair):
            await require_no_erasure(settings, "a rebuild")
        beginnings = await reset.offsets.beginning_offsets([settings.topic(events.source.name)])
        if any(beginnings.values()) and not reset.is_repair:
            raise ReplayRefusedError(
                f"{settings.topic(events.source.name)} no longer begins at offset 0: what lay before would be lost; restore the topic first"
            )
        await redis.ping()  # while nothing has changed
        targets = {stage.name: await reset.offsets.end_offsets([settings.topic(stage.source.name)]) for stage in (entities, merging, index)}
        # Where the log has lost its beginning since a rebuild began, the workers stop at the gap.
        targets[events.name] = dict.fromkeys(beginnings, 0)
        # Before the offsets: an answer that lies before the one of entities is never looked for.
        outcomes = await _append_outcomes(settings, await _unread(settings, entities, reset.offsets))
        notice(f"{outcomes} merged texts come first")
        for stage in stages:
            await reset.begin(stage, targets[stage.name])
        notice("events goes on at the start of the extractions, entities, merging and index at the end of their topics")
        for stage in (events, entities, merging):
            notice(f"{stage.name}: {await reset.empty_table(stage)} rows dropped")
        for stage in STAGES.values():
            if stage.has_table:
                reset.remove_local_tables(stage)
        notice("local tables dropped")
        await store.drop()
        notice("vector store dropped")
        notice(f"Redis: {await redis.drop_keys(but=ERASURES_UNDER_WAY)} keys dropped")
        for stage in reversed(stages):
            await reset.finish(stage)


async def _unread(settings: Settings, stage: StageSpec, offsets: KafkaOffsets) -> Mapping[TopicPartition, int]:
    """The offset of the first record of each partition that a stage has not handled."""
    topic = settings.topic(stage.source.name)
    handled = await offsets.committed_offsets(stage.group(settings.kafka.topic_prefix), [topic])
    beginnings = await offsets.beginning_offsets([topic])
    return {partition: max(beginning, handled.get(partition, beginning)) for partition, beginning in beginnings.items()}


async def _append_outcomes(settings: Settings, unread: Mapping[TopicPartition, int]) -> int:
    """Produces the newest outcomes to the contributions again, and after them the answers from the given offsets on.

    Each once: a rebuild that was killed has appended some already, among those that nobody has read.
    """
    topic = settings.topic(CONTRIBUTIONS.name)
    newest: dict[bytes, OutgoingRecord] = {}
    async for record in read_topic(settings.topic(MERGED.name), settings.kafka):
        # In place of the one before, and where it is a tombstone, of nothing.
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
    """The record to produce of a contribution that brings an outcome; None of any other."""
    try:
        contribution = Contribution.from_json(value or b"")
    except RecordError:
        return None
    if contribution.merged is None:
        return None
    key = encode_key(contribution.tenant, contribution.entity_type, contribution.entity_key)
    return OutgoingRecord(topic, key, value)
