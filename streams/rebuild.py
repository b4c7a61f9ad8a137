"""Drops all state that the log can give again, and resets the stages so that they rebuild it. No extraction is repeated, no LLM called.

The order of the steps makes an interruption harmless: after each of them the stages could be started, and the next call goes on.

1. The offsets. Events starts at the beginning of ``extractions``. Entities starts at the end of ``contributions``: events produces all of
   them again with the positions they had, and reading old ones first would make lower positions count as applied. Index starts at the end
   of ``memories``, since the same memories come again.
2. The ledger of events, then the state of entities, so that an entity never sees a retraction without its application.
3. The local tables of this machine (those of others follow the changelogs), the vector store, and the keys in Redis. Sessions keep their
   changelog, since their windows have been produced.
"""

from collections.abc import Callable
from typing import Final

from retrieval.stores.port import MemoryStore
from runtime.kafka import ConsumerGroups, KafkaOffsets, check_topics
from runtime.redis import GuardedRedis
from runtime.settings import Settings
from streams.changelog import empty_changelog
from streams.delivery.folders import remove_folders, tables_folder
from streams.errors import ReplayRefusedError
from streams.stages import STAGES

_REBUILT_TABLES: Final = ("events", "entities")


async def rebuild(
    settings: Settings, *, store: MemoryStore, redis: GuardedRedis, notice: Callable[[str], None] = lambda line: None
) -> None:
    """Prepares the rebuild; the stages, started again, carry it out.

    What is lost for good: session tails of closed windows, the day's budgets, and cached answers, all of which live in Redis only.

    Args:
        settings: The settings in force; every worker is stopped.
        store: Dropped.
        redis: Its keys are removed.
        notice: Called with a line of progress.

    Raises:
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
    groups = ConsumerGroups(kafka=kafka)
    await groups.require_empty([stage.group(prefix) for stage in STAGES.values()])
    async with KafkaOffsets(kafka=kafka) as offsets:
        events, entities, index = (STAGES[name] for name in ("events", "entities", "index"))
        beginning = await offsets.beginning_offsets([settings.topic(events.source.name)])
        if any(beginning.values()):
            raise ReplayRefusedError(
                f"{settings.topic(events.source.name)} no longer begins at offset 0: what lay before would be lost; restore the topic first"
            )
        await groups.commit(events.group(prefix), beginning)
        for stage in (entities, index):
            await groups.commit(stage.group(prefix), await offsets.end_offsets([settings.topic(stage.source.name)]))
    notice("events goes on at the start of the extractions, entities and index at the end of their topics")
    for name in _REBUILT_TABLES:
        rows = await empty_changelog(STAGES[name].changelog(prefix), kafka=kafka)
        notice(f"{name}: {rows} rows dropped")
    for name, stage in STAGES.items():
        if stage.has_table:
            remove_folders(tables_folder(settings.data, name))
    notice("local tables dropped")
    await store.drop()
    notice("vector store dropped")
    notice(f"Redis: {await redis.drop_keys()} keys dropped")
