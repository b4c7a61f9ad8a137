"""Generations of a tenant's memories side by side: laid down by a second extraction worker, switched to, and dropped.

A generation is made under its own schema, prompt and model while the live one serves recalls. Its extractions, events, entities and points
carry its name, so the two never meet. (Another embedding model is no generation: one collection holds one model's vectors. Set the
model and rebuild.)

A generation is dropped through the log: for each of its windows an empty extraction follows the last, and the stages take back exactly
what it had laid down. So a rebuild finds it gone, too.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime
from typing import Final, TypeAlias, TypeVar

from aiokafka import ConsumerRecord

from memory.errors import KeyFormatError, MalformedRecordError
from memory.keys import decode_key
from memory.records import Extraction, Window
from memory.topics import EXTRACTIONS
from runtime.kafka import ConsumerGroups, KafkaOffsets, OutgoingRecord, Producer, TopicPartition, read_topic
from runtime.settings import Settings
from runtime.tenants import TenantDirectory
from runtime.tenants_file import set_generation
from streams.errors import ReplayRefusedError
from streams.stages import STAGES

FIRST: Final = "-"
"""How the first generation, whose name is empty, is named where a name is needed."""

_EXTRACTION: Final = STAGES["extraction"]
_NOTICED_S: Final = 1.0
"""By then every process has read the changed tenants' file again."""
_POLL_S: Final = 0.5
_AT_ONCE: Final = 500

_Offsets: TypeAlias = Mapping[TopicPartition, int]
_Raw: TypeAlias = "ConsumerRecord[bytes | None, bytes | None]"
_Read = TypeVar("_Read", Extraction, Window)


def instance_of(generation: str) -> str:
    """The part of the second worker's group name that says what it lays down."""
    return generation or FIRST


async def begin(settings: Settings, generation: str, *, since: datetime | None) -> None:
    """Sets where the workers of a generation begin; without a time they go on where they were, or at the beginning of the windows.

    Args:
        settings: The settings in force.
        generation: The generation; empty: the first.
        since: Windows that closed at this moment or later (aware; wall clock).

    Raises:
        GroupInUseError: If a worker of it runs already.
        KafkaUnavailableError: If no broker answers.
    """
    if since is None:
        return
    groups = ConsumerGroups(kafka=settings.kafka)
    group = _group(settings, generation)
    await groups.require_empty([group])
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        await groups.commit(group, await offsets.offsets_since([_windows(settings)], since))


async def switch(
    settings: Settings, tenant: str, generation: str, *, incomplete: bool = False, notice: Callable[[str], None] = lambda line: None
) -> None:
    """Makes a generation the live one, for recalls and for what is extracted from now on.

    What the live workers had begun under the old generation is still laid down by the second worker; this returns when it is.

    Args:
        settings: The settings in force.
        tenant: Whose.
        generation: One of the tenant's; empty: the first.
        incomplete: Switch even if windows that the live one has are missing in it, and do not wait for a worker that is behind already.
        notice: Told in one line how it goes on.

    Raises:
        ReplayRefusedError: If the generation lacks windows that the live one has; says how many.
        TenantsFileError: If the tenant has no such generation.
        UnknownTenantError: If there is no such tenant.
        KafkaUnavailableError: If no broker answers.
    """
    name = instance_of(generation)
    second = _group(settings, generation)
    windows = _windows(settings)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        live = await offsets.committed_offsets(_group(settings, None), [windows])
        done = await offsets.committed_offsets(second, [windows])
        behind = _missing(done, live)
        if not incomplete:
            if behind:
                raise ReplayRefusedError(
                    f"generation {name} has {behind} windows less than the live one: let "
                    f"`varve replay extraction --generation {name}` catch up first, or say --incomplete"
                )
            if lacking := await _only_in_live(settings, tenant, generation, offsets, live=live, done=done):
                raise ReplayRefusedError(
                    f"{lacking} windows of tenant {tenant} are in the live generation only; {name} passed them over, or was dropped: let "
                    f"`varve replay extraction --generation {name} --from-time T` do them, T before they closed, while `windows` still "
                    "has them, or say --incomplete to go on without"
                )
        set_generation(settings.tenants_path, tenant, generation)
        notice(f"generation {name} of tenant {tenant} is live")
        if behind:
            return
        await asyncio.sleep(_NOTICED_S)
        begun = await offsets.end_offsets([windows])
        while missing := _missing(await offsets.committed_offsets(second, [windows]), begun):
            if not (await ConsumerGroups(kafka=settings.kafka).members([second]))[second]:
                raise ReplayRefusedError(
                    f"{missing} windows may still lack the new generation: run `varve replay extraction --generation {name}` "
                    "until it has no more before it"
                )
            await asyncio.sleep(_POLL_S)
    notice("the second worker has done its part: stop it, unless other tenants still wait for it")


async def drop(settings: Settings, tenant: str, generation: str, *, live: str, notice: Callable[[str], None] = lambda line: None) -> int:
    """Takes back all that a generation has laid down.

    Args:
        settings: The settings in force.
        tenant: Whose.
        generation: Which; empty: the first.
        live: The tenant's live generation.
        notice: Told in one line what was done.

    Returns:
        How many windows were taken back. The running stages carry it out.

    Raises:
        ReplayRefusedError: If it is the live one.
        GroupInUseError: If a second worker lays it down.
        KafkaUnavailableError: If no broker answers.
    """
    if generation == live:
        raise ReplayRefusedError(f"generation {instance_of(generation)} of tenant {tenant} is live: switch to another one first")
    await ConsumerGroups(kafka=settings.kafka).require_empty([_group(settings, generation)])
    topic = settings.topic(EXTRACTIONS.name)
    newest: dict[str, OutgoingRecord | None] = {}
    async for record, extraction in _records_of(Extraction, topic, settings, tenant):
        if extraction.generation == generation:
            newest[extraction.window_id] = _blank(extraction, topic, record.key, record.partition)
    blanks = [blank for blank in newest.values() if blank is not None]
    async with Producer(kafka=settings.kafka) as producer:
        for start in range(0, len(blanks), _AT_ONCE):
            await producer.send_many(blanks[start : start + _AT_ONCE])
    notice(f"{len(blanks)} windows of generation {instance_of(generation)} are taken back as the stages go on")
    return len(blanks)


def _blank(extraction: Extraction, topic: str, key: bytes | None, partition: int) -> OutgoingRecord | None:
    """An extraction of the same window that lays nothing down; None where this one does not either."""
    if not _lays_down(extraction):
        return None
    nothing = extraction.model_copy(update={"segments": [], "events": [], "patches": [], "dropped": [], "usage": []})
    return OutgoingRecord(topic=topic, key=key, value=nothing.to_json(), partition=partition)


def _lays_down(extraction: Extraction) -> bool:
    return bool(extraction.segments or extraction.events or extraction.patches)


def _may_be_blank(extraction: Extraction) -> bool:
    return not (_lays_down(extraction) or extraction.dropped or extraction.usage)


async def _only_in_live(settings: Settings, tenant: str, generation: str, offsets: KafkaOffsets, *, live: _Offsets, done: _Offsets) -> int:
    """How many windows the live generation has, or may be laying down now, that another one neither has nor has before it.

    Offsets do not tell: a second worker that began at a later time has passed windows over, and one that was dropped has done them in vain.

    Args:
        settings: The settings in force.
        tenant: Whose.
        generation: The other one.
        offsets: Where the topics end.
        live: How far the live workers had come before this call.
        done: How far the second worker had come before this call.
    """
    old = TenantDirectory(path=settings.tenants_path).get(tenant).generation
    if old == generation:
        return 0
    in_live: set[str] = set()
    in_other: dict[str, bool] = {}
    async for _, extraction in _records_of(Extraction, settings.topic(EXTRACTIONS.name), settings, tenant):
        window = extraction.window_id
        if extraction.generation == old:
            (in_live.add if _lays_down(extraction) else in_live.discard)(window)
        elif extraction.generation == generation:
            # A window that gave nothing was seen all the same; but nothing behind something is how a window is taken back.
            if in_other.get(window) and _may_be_blank(extraction):
                del in_other[window]
            else:
                in_other[window] = _lays_down(extraction)
    # Only now: so a window that came, and was laid down, after the offsets were read is among these.
    open_places = {place: live.get(place, 0) for place in await offsets.end_offsets([_windows(settings)])}
    ahead: set[str] = set()
    async for record, closed in _records_of(Window, _windows(settings), settings, tenant, start=open_places):
        passed = record.offset < done.get(TopicPartition(record.topic, record.partition), 0)
        (in_live if passed else ahead).add(closed.id)
    return len(in_live - in_other.keys() - ahead)


async def _records_of(
    kind: type[_Read], topic: str, settings: Settings, tenant: str, *, start: _Offsets | None = None
) -> AsyncIterator[tuple[_Raw, _Read]]:
    """A tenant's records of a topic; without those that no stage can read either."""
    async for record in read_topic(topic, settings.kafka, start=start):
        try:
            if record.value is None or decode_key(record.key or b"")[0] != tenant:
                continue
            read = kind.from_json(record.value)
        except (KeyFormatError, MalformedRecordError):
            continue
        yield record, read


def _missing(committed: _Offsets, wanted: _Offsets) -> int:
    return sum(max(0, offset - committed.get(place, 0)) for place, offset in wanted.items())


def _windows(settings: Settings) -> str:
    return settings.topic(_EXTRACTION.source.name)


def _group(settings: Settings, generation: str | None) -> str:
    return _EXTRACTION.group(settings.kafka.topic_prefix, instance="" if generation is None else instance_of(generation))
