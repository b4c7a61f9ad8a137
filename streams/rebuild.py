"""Drops all state that the log can give again, and resets the stages so that they rebuild it. No extraction is repeated, no LLM called.

The order of the steps makes an interruption harmless: after each of them the stages could be started, and the next call goes on.

1. What LLMs have merged is laid behind the end of ``contributions``: the newest outcomes, and the answers that entities have not read yet.
   So entities reads them first, and asks about nothing that they rest on.
2. The offsets. Events starts at the beginning of ``extractions``. Entities starts at what was the end of ``contributions``: events
   produces all of them again with the positions they had, and reading old ones first would make lower positions count as applied.
   Merging starts at the end of ``merges``, since entities asks again what nobody has answered. Index starts at the end of ``memories``,
   since the same memories come again.
3. The ledger of events, then the state of entities, so that an entity never sees a retraction without its application; then what merging
   has parked.
4. The local tables of this machine (those of others follow the changelogs), the vector store, and the keys in Redis. Sessions keep their
   changelog, since their windows have been produced.
"""

from collections.abc import Callable, Mapping
from typing import Final

from memory.errors import RecordError
from memory.keys import encode_key
from memory.records import Contribution
from memory.topics import CONTRIBUTIONS, MERGED
from retrieval.stores.port import MemoryStore
from runtime.erasures_under_way import KEYS as ERASURES_UNDER_WAY
from runtime.erasures_under_way import require_no_erasure
from runtime.kafka import ConsumerGroups, KafkaOffsets, OutgoingRecord, Producer, TopicPartition, check_topics, read_topic
from runtime.redis import GuardedRedis
from runtime.settings import Settings
from streams.changelog import empty_changelog
from streams.delivery.folders import remove_folders, tables_folder
from streams.errors import ReplayRefusedError
from streams.stages import STAGES

_REBUILT_TABLES: Final = ("events", "entities", "merging")


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
        WorkersRunningError: If one holds its tables on this machine.
        ReplayRefusedError: If ``extractions`` has lost its beginning, which could not be rebuilt.
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If a topic is missing.
        StoreUnavailableError: If the store is away.
        RedisUnavailableError: If Redis is away.
    """
    kafka = settings.kafka
    prefix = kafka.topic_prefix
    await check_topics(settings)
    if not despite_erasures:
        await require_no_erasure(settings, "a rebuild")
    groups = ConsumerGroups(kafka=kafka)
    await groups.require_empty([stage.group(prefix) for stage in STAGES.values()])
    async with KafkaOffsets(kafka=kafka) as offsets:
        events, entities, merging, index = (STAGES[name] for name in ("events", "entities", "merging", "index"))
        beginning = await offsets.beginning_offsets([settings.topic(events.source.name)])
        if any(beginning.values()):
            raise ReplayRefusedError(
                f"{settings.topic(events.source.name)} no longer begins at offset 0: what lay before would be lost; restore the topic first"
            )
        ends = {stage.name: await offsets.end_offsets([settings.topic(stage.source.name)]) for stage in (entities, merging, index)}
        begins = await offsets.beginning_offsets([settings.topic(entities.source.name)])
        read = await offsets.committed_offsets(entities.group(prefix), [settings.topic(entities.source.name)])
        unread = {partition: max(begin, read.get(partition, begin)) for partition, begin in begins.items()}
        outcomes = await _lay_outcomes_behind(settings, unread)
        await groups.commit(events.group(prefix), beginning)
        for stage in (entities, merging, index):
            await groups.commit(stage.group(prefix), ends[stage.name])
    notice(f"{outcomes} merged texts come first")
    notice("events goes on at the start of the extractions, entities, merging and index at the end of their topics")
    for name in _REBUILT_TABLES:
        rows = await empty_changelog(STAGES[name].changelog(prefix), kafka=kafka)
        notice(f"{name}: {rows} rows dropped")
    for name, stage in STAGES.items():
        if stage.has_table:
            remove_folders(tables_folder(settings.data, name))
    notice("local tables dropped")
    await store.drop()
    notice("vector store dropped")
    notice(f"Redis: {await redis.drop_keys(but=ERASURES_UNDER_WAY)} keys dropped")


async def _lay_outcomes_behind(settings: Settings, unread: Mapping[TopicPartition, int]) -> int:
    """Produces the newest outcomes to the contributions again, and behind them the answers from the given offsets on."""
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
    outcomes = [*newest.values(), *answers]
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
