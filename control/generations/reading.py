"""Names of generations, and their extractions and windows in the log."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from typing import Final, TypeAlias, TypeVar

from aiokafka import ConsumerRecord

from control import Draft, read_control
from memory.errors import KeyFormatError, MalformedRecordError
from memory.headers import place_of
from memory.keys import decode_key
from memory.records import Extraction, Window
from memory.topics import EXTRACTIONS, WINDOWS, TopicSpec
from runtime.kafka import KafkaOffsets, TopicPartition, read_topic
from runtime.kafka.groups import stage_group
from runtime.settings import Settings

FIRST: Final = "-"
"""Name for the first generation where its empty name cannot be used."""
EXTRACTION: Final = "extraction"
"""The stage whose workers build generations."""


def generation_name(generation: str) -> str:
    """The name of a generation in messages and as suffix of a consumer group."""
    return generation or FIRST


def generation_named(name: str) -> str:
    """The generation for a name from :func:`generation_name`."""
    return "" if name == FIRST else name


def workers_of(settings: Settings, generation: str | None) -> str:
    """The consumer group of a generation's second workers; None: of the live workers."""
    return stage_group(settings.kafka.topic_prefix, EXTRACTION, suffix="" if generation is None else generation_name(generation))


def windows_topic(settings: Settings) -> str:
    """The workers' input topic, by its name on the broker."""
    return settings.topic(WINDOWS.name)


Offsets: TypeAlias = Mapping[TopicPartition, int]
_Raw: TypeAlias = "ConsumerRecord[bytes | None, bytes | None]"
_Read = TypeVar("_Read", Extraction, Window)


async def records_of(
    kind: type[_Read], spec: TopicSpec, settings: Settings, tenants: str | Collection[str], *, start: Offsets | None = None
) -> AsyncIterator[tuple[_Raw, _Read]]:
    """The records of a tenant or of several, in a topic that is keyed by user, without invalid and erased records."""
    owners = {tenants} if isinstance(tenants, str) else frozenset(tenants)
    known = await read_control(settings)
    async for record in read_topic(settings.topic(spec.name), settings.kafka, start=start):
        try:
            owner, *user = decode_key(record.key or b"")
            if record.value is None or owner not in owners:
                continue
            place = place_of(record.headers) or record
            if user and known.is_erased(owner, user[0], spec.name, place.partition, place.offset):
                continue
            read = kind.from_json(record.value)
        except (KeyFormatError, MalformedRecordError):
            continue
        yield record, read
        # The broker returns hundreds of records at once: let other tasks run between them.
        await asyncio.sleep(0)


def has_content(extraction: Extraction) -> bool:
    """Whether the extraction contains memories."""
    return bool(extraction.segments or extraction.events or extraction.patches)


def _may_be_retraction(extraction: Extraction) -> bool:
    return not (has_content(extraction) or extraction.dropped or extraction.usage)


async def windows_only_in_live(
    settings: Settings, tenant: str, generation: str, offsets: KafkaOffsets, *, live: Offsets, candidate: Offsets
) -> int:
    """Number of windows that the live generation has, or may be getting, and that the candidate neither has nor will reach.

    Offsets alone are not enough: a second worker may have started at a later time, and windows of a dropped generation were retracted.
    ``live`` and ``candidate`` are the offsets that the live and the second workers had committed before this call.
    """
    known = Draft(await read_control(settings)).tenant(tenant)
    old = known.generation
    if old == generation:
        return 0
    in_live, in_candidate = await _extracted_windows(settings, tenant, old, generation, drops=known.drops_of(generation))
    # Read last, to include windows that closed and were extracted after the offsets were read.
    start = {partition: live.get(partition, 0) for partition in await offsets.end_offsets([windows_topic(settings)])}
    ahead: set[str] = set()
    async for record, window in records_of(Window, WINDOWS, settings, tenant, start=start):
        passed = record.offset < candidate.get(TopicPartition(record.topic, record.partition), 0)
        (in_live if passed else ahead).add(window.id)
    return len(in_live - in_candidate - ahead)


async def _extracted_windows(settings: Settings, tenant: str, live: str, candidate: str, *, drops: int) -> tuple[set[str], set[str]]:
    """The windows with content in the live generation, and those that the candidate has extracted since it was last dropped."""
    in_live: set[str] = set()
    in_candidate: dict[str, bool] = {}
    """Whether the newest extraction has content."""
    before_drop: set[str] = set()
    """Windows of the candidate whose newest extraction was begun before a drop."""
    async for _, extraction in records_of(Extraction, EXTRACTIONS, settings, tenant):
        window_id = extraction.window_id
        if extraction.generation == live:
            (in_live.add if has_content(extraction) else in_live.discard)(window_id)
        elif extraction.generation == candidate:
            if has_content(extraction) and extraction.drops < drops:
                in_candidate.pop(window_id, None)
                before_drop.add(window_id)
                continue
            # An empty extraction counts as extracted, but an empty one after one with content is a retraction.
            if (in_candidate.get(window_id) or window_id in before_drop) and _may_be_retraction(extraction):
                in_candidate.pop(window_id, None)
            else:
                in_candidate[window_id] = has_content(extraction)
            before_drop.discard(window_id)
    return in_live, set(in_candidate)
