"""Generations of a tenant's memories side by side: made by a second extraction worker, switched to, and dropped.

A generation is made under its own schema, prompt and model while the live one serves recalls. Its extractions, events, entities and points
carry its name, so the two never mix. (Another embedding model needs no generation but a rebuild: a collection holds the vectors of one
model.)

A generation is dropped through the log. A mark in each partition says that what was begun before counts no more, however late it comes.
Then an empty extraction follows the last one of each of its windows, and the stages retract exactly what that one published. So a rebuild
finds it gone, too.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeAlias, TypeVar

from aiokafka import ConsumerRecord

from memory.errors import KeyFormatError, MalformedRecordError
from memory.headers import GENERATION_DROP, KIND
from memory.keys import decode_key, encode_key
from memory.records import Extraction, GenerationDrop, Window
from memory.topics import EXTRACTIONS
from runtime.control import ControlWriter, Draft, read_control
from runtime.control.tenant_changes import count_drop, set_generation
from runtime.kafka import ConsumerGroups, KafkaOffsets, OutgoingRecord, Producer, TopicPartition, read_topic
from runtime.settings import Settings
from streams.delivery.parked_note import read_parked
from streams.errors import ReplayRefusedError
from streams.stages import STAGES

FIRST: Final = "-"
"""Stands for the first generation, whose name is empty, where a name is needed."""

_EXTRACTION: Final = STAGES["extraction"]
_POLL_S: Final = 0.5
_BATCH_SIZE: Final = 500

_Offsets: TypeAlias = Mapping[TopicPartition, int]
_Raw: TypeAlias = "ConsumerRecord[bytes | None, bytes | None]"
_Read = TypeVar("_Read", Extraction, Window)


def generation_name(generation: str) -> str:
    """A generation's name in messages and as a consumer group's suffix, where an empty one will not do."""
    return generation or FIRST


async def set_start(settings: Settings, generation: str, *, since: datetime | None) -> None:
    """Sets where the workers of a generation start.

    Args:
        settings: The settings in force.
        generation: The generation; empty: the first.
        since: Windows that closed at this moment or later (aware; wall clock). None: the workers go on where they were, or start at the
            beginning of the windows.

    Raises:
        GroupInUseError: If a worker of it runs already.
        KafkaUnavailableError: If no broker answers.
    """
    groups = ConsumerGroups(kafka=settings.kafka)
    group = _group(settings, generation)
    if since is None:
        # A group that has committed nothing has lost what lies before the log's beginning; this one was never to see it.
        async with KafkaOffsets(kafka=settings.kafka) as offsets:
            known = await offsets.committed_offsets(group, [_windows(settings)])
            begins = await offsets.beginning_offsets([_windows(settings)])
        await groups.commit(group, {partition: begin for partition, begin in begins.items() if begin and partition not in known})
        return
    await groups.require_empty([group])
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        await groups.commit(group, await offsets.offsets_since([_windows(settings)], since))


async def switch(
    settings: Settings,
    tenant: str,
    generation: str,
    *,
    by: str,
    incomplete: bool = False,
    notice: Callable[[str], None] = lambda line: None,
) -> None:
    """Makes a generation the live one, for recalls and for what is extracted from now on.

    The second worker still extracts the windows that the live workers had begun under the old generation. This returns when it has.

    Args:
        settings: The settings in force.
        tenant: Whose.
        generation: One of the tenant's; empty: the first.
        by: Who switches, for the audit.
        incomplete: Switch even if windows that the live one has are missing in it, and do not wait for a worker that is behind already.
        notice: Called with a line of progress.

    Raises:
        ReplayRefusedError: If the generation lacks windows that the live one has; says how many.
        ChangeRefusedError: If the tenant has no such generation.
        UnknownTenantError: If there is no such tenant.
        KafkaUnavailableError: If no broker answers.
    """
    name = generation_name(generation)
    second = _group(settings, generation)
    windows = _windows(settings)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        live = await offsets.committed_offsets(_group(settings, None), [windows])
        candidate = await offsets.committed_offsets(second, [windows])
        behind = _lag(candidate, live)
        if not incomplete:
            if behind:
                raise ReplayRefusedError(
                    f"generation {name} has {behind} windows less than the live one: let "
                    f"`varve replay extraction --generation {name}` catch up first, or say --incomplete"
                )
            if missing := await _windows_only_in_live(settings, tenant, generation, offsets, live=live, candidate=candidate):
                raise ReplayRefusedError(
                    f"{missing} windows of tenant {tenant} are in the live generation only; {name} passed them over, parked them, or was "
                    f"dropped: let `varve replay extraction --generation {name} --from-time T` do them, T before they closed, while "
                    "`windows` still has them, or say --incomplete to go on without"
                )
        writer = ControlWriter(settings=settings)
        await writer.write(lambda draft: set_generation(draft, tenant, generation), action="generation switch", by=by)
        notice(f"generation {name} of tenant {tenant} is live")
        if behind:
            return
        # By then no worker takes a window on under the old generation: each knows of the switch, or has no word of the log and waits.
        await writer.settle()
        ends = await offsets.end_offsets([windows])
        while remaining := _lag(await offsets.committed_offsets(second, [windows]), ends):
            if not (await ConsumerGroups(kafka=settings.kafka).members([second]))[second]:
                raise ReplayRefusedError(
                    f"{remaining} windows may still lack the new generation: run `varve replay extraction --generation {name}` "
                    "until it has no more before it"
                )
            await asyncio.sleep(_POLL_S)
        parked = await read_parked(offsets, second, [windows])
    if parked.count:
        notice(
            f"the second worker has {parked.count} windows parked, most of them of {', '.join(parked.tenants)}: let it run until their "
            f"budgets have room, or {name} lacks them"
        )
        return
    notice("the second worker has done its part: stop it, unless other tenants still wait for it")


async def drop(settings: Settings, tenant: str, generation: str, *, by: str, notice: Callable[[str], None] = lambda line: None) -> int:
    """Retracts all that a generation has published.

    Args:
        settings: The settings in force.
        tenant: Whose.
        generation: Which; empty: the first.
        by: Who drops it, for the audit.
        notice: Called with a line of progress.

    Returns:
        How many windows were retracted. The running stages carry it out.

    Raises:
        ChangeRefusedError: If it is the live one.
        UnknownTenantError: If there is no such tenant.
        GroupInUseError: If a second worker makes it.
        KafkaUnavailableError: If no broker answers.
    """
    await ConsumerGroups(kafka=settings.kafka).require_empty([_group(settings, generation)])
    topic = settings.topic(EXTRACTIONS.name)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        partitions = list(await offsets.end_offsets([topic]))
    counted = await ControlWriter(settings=settings).write(
        lambda draft: count_drop(draft, tenant, generation), action="generation drop", by=by
    )
    drops = counted.result
    newest: dict[str, OutgoingRecord | None] = {}
    async with Producer(kafka=settings.kafka) as producer:
        # Before the log is read: what lies behind the marks is passed over, what lies before them is read and retracted.
        await producer.send_many(_marks(partitions, GenerationDrop(tenant=tenant, generation=generation, drops=drops)))
        async for record, extraction in _records_of(Extraction, topic, settings, tenant):
            if extraction.generation == generation:
                newest[extraction.window_id] = _retraction_of(extraction, topic, record.key, record.partition, drops=drops)
        retractions = [each for each in newest.values() if each is not None]
        for start in range(0, len(retractions), _BATCH_SIZE):
            await producer.send_many(retractions[start : start + _BATCH_SIZE])
    notice(f"{len(retractions)} windows of generation {generation_name(generation)} are taken back as the stages go on")
    return len(retractions)


def _marks(partitions: Sequence[TopicPartition], drop: GenerationDrop) -> list[OutgoingRecord]:
    """A drop's mark for each partition of the extractions."""
    key, value = encode_key(drop.tenant, generation_name(drop.generation)), drop.to_json()
    return [
        OutgoingRecord(topic=each.topic, key=key, value=value, partition=each.partition, headers=((KIND, GENERATION_DROP),))
        for each in partitions
    ]


def _retraction_of(extraction: Extraction, topic: str, key: bytes | None, partition: int, *, drops: int) -> OutgoingRecord | None:
    """An empty extraction of the same window; None if this one is empty, too, or was begun behind the drop."""
    if not _has_content(extraction) or extraction.drops >= drops:
        return None
    empty = extraction.model_copy(update={"segments": [], "events": [], "patches": [], "dropped": [], "usage": [], "drops": drops})
    return OutgoingRecord(topic=topic, key=key, value=empty.to_json(), partition=partition)


def _has_content(extraction: Extraction) -> bool:
    return bool(extraction.segments or extraction.events or extraction.patches)


def _may_be_retraction(extraction: Extraction) -> bool:
    return not (_has_content(extraction) or extraction.dropped or extraction.usage)


async def _windows_only_in_live(
    settings: Settings, tenant: str, generation: str, offsets: KafkaOffsets, *, live: _Offsets, candidate: _Offsets
) -> int:
    """How many windows the live generation has, or may be getting now, that another one neither has nor will reach.

    Offsets alone do not tell. A second worker that started at a later time has skipped windows, and those of a dropped one were retracted.

    Args:
        settings: The settings in force.
        tenant: Whose.
        generation: The other one.
        offsets: Where the topics end.
        live: What the live workers had committed before this call.
        candidate: What the second worker had committed before this call.
    """
    known = Draft(await read_control(settings)).tenant(tenant)
    old = known.generation
    if old == generation:
        return 0
    in_live: set[str] = set()
    in_other: dict[str, bool] = {}
    before_drop: set[str] = set()
    """Windows of the other one whose newest extraction was begun before it was dropped."""
    async for _, extraction in _records_of(Extraction, settings.topic(EXTRACTIONS.name), settings, tenant):
        window_id = extraction.window_id
        if extraction.generation == old:
            (in_live.add if _has_content(extraction) else in_live.discard)(window_id)
        elif extraction.generation == generation:
            if _has_content(extraction) and extraction.drops < known.drops_of(generation):
                in_other.pop(window_id, None)
                before_drop.add(window_id)
                continue
            # A window without content was extracted, too. But no content after some content retracts the window.
            if (in_other.get(window_id) or window_id in before_drop) and _may_be_retraction(extraction):
                in_other.pop(window_id, None)
            else:
                in_other[window_id] = _has_content(extraction)
            before_drop.discard(window_id)
    # Only now, so that these include a window that came and was extracted after the offsets were read.
    start = {partition: live.get(partition, 0) for partition in await offsets.end_offsets([_windows(settings)])}
    ahead: set[str] = set()
    async for record, window in _records_of(Window, _windows(settings), settings, tenant, start=start):
        passed = record.offset < candidate.get(TopicPartition(record.topic, record.partition), 0)
        (in_live if passed else ahead).add(window.id)
    return len(in_live - in_other.keys() - ahead)


async def _records_of(
    kind: type[_Read], topic: str, settings: Settings, tenant: str, *, start: _Offsets | None = None
) -> AsyncIterator[tuple[_Raw, _Read]]:
    """A tenant's records of a topic, without those that no stage can read."""
    async for record in read_topic(topic, settings.kafka, start=start):
        try:
            if record.value is None or decode_key(record.key or b"")[0] != tenant:
                continue
            read = kind.from_json(record.value)
        except (KeyFormatError, MalformedRecordError):
            continue
        yield record, read


def _lag(committed: _Offsets, target: _Offsets) -> int:
    return sum(max(0, offset - committed.get(partition, 0)) for partition, offset in target.items())


def _windows(settings: Settings) -> str:
    return settings.topic(_EXTRACTION.source.name)


def _group(settings: Settings, generation: str | None) -> str:
    return _EXTRACTION.group(settings.kafka.topic_prefix, suffix="" if generation is None else generation_name(generation))
