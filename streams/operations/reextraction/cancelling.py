"""Removes what a cancelled re-extraction has produced: from stores, Redis, topics, and its workers' state.

1. Retractions go to ``extractions``; the running stages remove all memories of the generation.
2. Once the stages have handled them, tombstones remove the generation's records from ``extractions`` and ``merged``, and from ``memories``
   the history entries of its entities, which the index then deletes.
3. The notes in Redis, the consumer group, the changelog and the tables of the workers are deleted.

Each step may be repeated: a cancellation that was interrupted is completed by the next one.
"""

from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import orjson

from control import ControlWriter, Draft, read_control
from control.generations.dropping import require_no_workers, retract_all
from control.generations.reading import EXTRACTION, workers_of
from control.generations.reextraction_changes import end_cancellation, reextraction_of
from control.reextraction import Reextraction
from control.tenant_changes import count_drop
from memory.errors import KeyFormatError
from memory.headers import GENERATION_DROP, KIND
from memory.keys import decode_key, tenant_of_key
from memory.texts.text import counted
from memory.topics import CONTROL, EXTRACTIONS, MEMORIES, MERGED, TopicSpec
from models.llm.total_budget import forget_total
from runtime.kafka import ConsumerGroups, KafkaOffsets, OutgoingRecord, Producer, read_topic
from runtime.kafka.topics import delete_topics
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily
from runtime.settings import Settings
from streams.engine.state.folders import remove_folders_of, tables_folder
from streams.engine.state.partition_state import changelog_topic
from streams.operations.stage_barrier import StageBarrier
from streams.stages.catalog import STAGES

_PATIENCE_S: Final = 900.0
_STAGES: Final = ("events", "entities", "merging", "entities", "index")
"""The stages in the order in which retractions pass through them; answers of models go back to the entities."""
_GENERATION_AT: Final[dict[KeyFamily, int]] = {
    KeyFamily.SHOWN: -1,
    KeyFamily.SESSION_HISTORY: -1,
    KeyFamily.RECENT_PATCHES: -2,
    KeyFamily.VALUES: 0,
}
"""Place of the generation among the parts of a key, by family. The tenant is the first part, of :data:`KeyFamily.VALUES` the third."""


async def remove_results(
    settings: Settings,
    run: Reextraction,
    *,
    redis: GuardedRedis,
    by: str,
    patience_s: float = _PATIENCE_S,
    notice: Callable[[str], None] = lambda line: None,
) -> None:
    """Removes what a re-extraction has produced, and ends it. The other stages must run.

    Args:
        settings: The settings.
        run: The re-extraction, which is being cancelled.
        redis: Has the notes of its workers.
        by: The actor, for the audit log.
        patience_s: How long each stage may take to handle the retractions, in seconds.
        notice: Called with lines of progress.

    Raises:
        GroupInUseError: If a worker of the re-extraction runs.
        ErasureUnderWayError: If one of its tenants has an unfinished erasure.
        StageBehindError: If a stage does not handle the retractions in time.
        KafkaUnavailableError: If no broker responds.
        RedisUnavailableError: If Redis is configured but unavailable.
    """
    generation, groups = run.generation, ConsumerGroups(kafka=settings.kafka)
    alone = f"{settings.kafka.topic_prefix}cancelling.{generation}"
    doing = f"removes the results of generation {generation}"
    # The worker and an operator's command, or two of these: the slower one would remove what a new re-extraction of that name produces.
    async with groups.alone_in(alone, settings.topic(CONTROL.name), doing=doing, wait_s=patience_s):
        if reextraction_of(Draft(await read_control(settings)), generation).state == "cancelling":
            await _remove(settings, run, redis=redis, by=by, patience_s=patience_s, notice=notice)


async def _remove(
    settings: Settings, run: Reextraction, *, redis: GuardedRedis, by: str, patience_s: float, notice: Callable[[str], None]
) -> None:
    generation = run.generation
    await require_no_workers(settings, generation)
    writer = ControlWriter(settings=settings)
    known = Draft(await read_control(settings)).tenants()
    tenants = [each for each in run.tenants if each in known]
    written = await writer.write(
        lambda draft: {each: count_drop(draft, each, generation) for each in tenants}, action="generation drop", by=by
    )
    retracted = await retract_all(settings, generation, drops=written.result)
    notice(f"the running stages retract {counted(retracted, 'window')} of generation {generation}")
    await _wait_for_stages(settings, _STAGES, patience_s, notice)
    async with Producer(kafka=settings.kafka) as producer:
        for spec in (EXTRACTIONS, MERGED, MEMORIES):
            removed = await _remove_records(settings, spec, tenants, generation, producer)
            notice(f"{counted(removed, 'record')} of {spec.name} removed")
    await _wait_for_stages(settings, ("index",), patience_s, notice)
    if redis.is_configured:
        await _forget_notes(redis, tenants, generation)
        await forget_total(redis, generation)
    group = workers_of(settings, generation)
    await ConsumerGroups(kafka=settings.kafka).delete(group)
    await delete_topics([changelog_topic(group)], settings.kafka)
    remove_folders_of(tables_folder(settings.data, EXTRACTION), group)
    await writer.write(lambda draft: end_cancellation(draft, generation), action="reextraction end", by=by)
    notice(f"the re-extraction into {generation} is cancelled, and its results are removed")


async def _wait_for_stages(settings: Settings, names: Sequence[str], patience_s: float, notice: Callable[[str], None]) -> None:
    barrier = StageBarrier(settings=settings, patience_s=patience_s, notice=notice)
    for name in names:
        stage = STAGES[name]
        async with KafkaOffsets(kafka=settings.kafka) as offsets:
            ends = await offsets.end_offsets([settings.topic(stage.source.name)])
        await barrier.of(stage, ends, may_be_missing=name == "merging")


async def _remove_records(settings: Settings, spec: TopicSpec, tenants: Collection[str], generation: str, producer: Producer) -> int:
    """Writes a tombstone for each record of the generation. Markers of drops stay: they invalidate late results."""
    topic = settings.topic(spec.name)
    found: dict[tuple[int, bytes], None] = {}
    async for record in read_topic(topic, settings.kafka):
        place = (record.partition, record.key or b"")
        if record.value is None:
            found.pop(place, None)
        elif (KIND, GENERATION_DROP) not in record.headers and _is_of(record.key or b"", record.value, tenants, generation):
            found[place] = None
    tombstones = [OutgoingRecord(topic, key, None, partition=partition) for partition, key in found]
    await producer.send_in_batches(tombstones)
    return len(tombstones)


def _is_of(key: bytes, value: bytes, tenants: Collection[str], generation: str) -> bool:
    if tenant_of_key(key) not in tenants or generation.encode() not in value:
        return False
    try:
        fields: Any = orjson.loads(value)
    except orjson.JSONDecodeError:
        return False
    return isinstance(fields, dict) and _generation_of(fields) == generation


def _generation_of(fields: Mapping[str, Any]) -> Any:
    """The generation of a record: its own, or that of the memory or of the history entry in the feed."""
    found = fields.get("memory") or (fields.get("step") or {}).get("contribution") or fields
    return found.get("generation")


async def _forget_notes(redis: GuardedRedis, tenants: Collection[str], generation: str) -> None:
    """Deletes what the extraction stage has noted about the generation's windows."""
    for family in _GENERATION_AT:
        found = [key async for key in _keys_of(redis, family, tenants, generation)]
        await redis.unlink("deleting notes of a generation", found)


async def _keys_of(redis: GuardedRedis, family: KeyFamily, tenants: Collection[str], generation: str) -> AsyncIterator[str]:
    prefix = redis.key(family, "")
    for key in await redis.keys("finding notes of a generation", family):
        for parts in _parts(key.removeprefix(prefix)):
            owner = parts[2] if family is KeyFamily.VALUES else parts[0]
            if owner in tenants and parts[_GENERATION_AT[family]] == generation:
                yield key


def _parts(name: str) -> Iterator[tuple[str, ...]]:
    with suppress(KeyFormatError, UnicodeEncodeError):
        parts = decode_key(name.encode("ascii"))
        if len(parts) > 2:
            yield parts
