"""Generations of a tenant's memories side by side: laid down by a second extraction worker, switched to, and dropped.

A generation is made under its own schema, prompt and model while the live one serves recalls. Its extractions, events, entities and points
carry its name, so the two never meet. (Another embedding model is no generation: one collection holds one model's vectors. Set the
model and rebuild.)

A generation is dropped through the log: for each of its windows an empty extraction follows the last, and the stages take back exactly
what it had laid down. So a rebuild finds it gone, too.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from memory.keys import decode_key
from memory.records import Extraction
from memory.topics import EXTRACTIONS
from runtime.kafka import ConsumerGroups, KafkaOffsets, OutgoingRecord, Producer, TopicPartition, read_topic
from runtime.settings import Settings
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
        incomplete: Switch even if windows that the live one has are missing in it.
        notice: Told in one line how it goes on.

    Raises:
        ReplayRefusedError: If the generation lacks windows that the live one has.
        TenantsFileError: If the tenant has no such generation.
        UnknownTenantError: If there is no such tenant.
        KafkaUnavailableError: If no broker answers.
    """
    second = _group(settings, generation)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        live = await offsets.committed_offsets(_group(settings, None), [_windows(settings)])
        missing = await _behind(offsets, second, live)
        if missing and not incomplete:
            raise ReplayRefusedError(
                f"generation {instance_of(generation)} has {missing} windows less than the live one: let "
                f"`varve replay extraction --generation {instance_of(generation)}` catch up first, or say --incomplete"
            )
        set_generation(settings.tenants_path, tenant, generation)
        notice(f"generation {instance_of(generation)} of tenant {tenant} is live")
        if incomplete:
            return
        await asyncio.sleep(_NOTICED_S)
        begun = await offsets.end_offsets([_windows(settings)])
        while missing := await _behind(offsets, second, begun):
            if not (await ConsumerGroups(kafka=settings.kafka).members([second]))[second]:
                raise ReplayRefusedError(
                    f"{missing} windows may still lack the new generation: run `varve replay extraction --generation "
                    f"{instance_of(generation)}` until it has no more before it"
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
    async for record in read_topic(topic, settings.kafka):
        if record.value is None or decode_key(record.key or b"-")[0] != tenant:
            continue
        extraction = Extraction.from_json(record.value)
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
    if not (extraction.segments or extraction.events or extraction.patches):
        return None
    nothing = extraction.model_copy(update={"segments": [], "events": [], "patches": [], "dropped": [], "usage": []})
    return OutgoingRecord(topic=topic, key=key, value=nothing.to_json(), partition=partition)


async def _behind(offsets: KafkaOffsets, group: str, wanted: Mapping[TopicPartition, int]) -> int:
    committed = await offsets.committed_offsets(group, {place.topic for place in wanted})
    return sum(max(0, offset - committed.get(place, 0)) for place, offset in wanted.items())


def _windows(settings: Settings) -> str:
    return settings.topic(_EXTRACTION.source.name)


def _group(settings: Settings, generation: str | None) -> str:
    return _EXTRACTION.group(settings.kafka.topic_prefix, instance="" if generation is None else instance_of(generation))
