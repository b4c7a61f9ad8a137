"""Finds records that still name a user, to show that an erasure has worked.

It reads every topic and changelog, the vector store, the unfinished erasures in Redis, and this machine's files.
"""

import asyncio
import mmap
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from control import read_control
from control.unfinished_erasures import UnfinishedErasures
from memory.headers import GENERATION_DROP, KIND
from memory.keys import encode_key
from memory.topics import ALL, USAGE, TopicSpec
from runtime.errors import TopicMissingError
from runtime.kafka import TopicReader
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from stores.port import MemoryStore, TenantScope, all_steps
from streams.engine.state.partition_state import changelog_topic
from streams.operations.erasure.naming import Naming
from streams.stages.catalog import STAGES

_TABLES: Final = ("tables", ("*.sst", "*.log"))
_REDIS: Final = ("redis", ("*.aof", "*.rdb"))
_EDGE: Final = ("edge", ("*",))
"""The embedded store keeps deleted points until it merges a segment."""

STORE: Final = "vector store"
UNDER_WAY: Final = "erasures under way"
"""The user's name in Redis, until the erasure is done."""

_AT_ONCE: Final = 3
"""The number of topics that are read concurrently, each with a separate client."""
_NAMELESS: Final = frozenset({USAGE.name})
"""Topics without names of users."""


def naming_files(data: Path, tenant: str, user: str) -> Counter[str]:
    """Counts the files that name a user, by folder: of local tables, the embedded Redis and the embedded vector store.

    It reads bytes: a name that a store has compressed is not found, and a user who has returned is named in new rows.
    """
    words = (encode_key(tenant, user), b'"user":' + orjson.dumps(user))
    found: Counter[str] = Counter()
    for folder, patterns in (_TABLES, _REDIS, _EDGE):
        for path in _files(data / folder, patterns):
            if _names(path, words):
                found[str(path.parent.relative_to(data))] += 1
    return found


def _files(folder: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    for pattern in patterns:
        yield from sorted(folder.rglob(pattern))


def _names(path: Path, words: tuple[bytes, ...]) -> bool:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return any(content.find(word) >= 0 for word in words)
    except (OSError, ValueError):  # rewritten in the meantime, no regular file, or empty
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Remnant:
    """The records that name a user in one place."""

    place: str
    """A topic's name on the broker, :data:`STORE`, :data:`UNDER_WAY`, or a folder of files (:func:`naming_files`)."""
    standing: int
    """Readable records that stay: in a compacted topic the newest of each key; in a topic with a retention of days, none."""
    on_disk: int
    """Records that are still on the disk, including those that retention or compaction will remove. For a folder: files with the user."""


@dataclass(frozen=True, slots=True)
class Place:
    """A topic or changelog that may name users."""

    topic: str
    """Its name on the broker."""
    spec: TopicSpec | None
    """None: a changelog."""
    stage: str = ""
    """The stage that owns the changelog."""

    @property
    def is_compacted(self) -> bool:
        """Whether readers see only the newest record of a key."""
        return self.spec is None or self.spec.cleanup == "compact"

    @property
    def is_kept(self) -> bool:
        """Whether its records are kept without a time limit."""
        return self.spec is None or self.spec.retention_ms < 0


def places_of(settings: Settings, generations: Iterable[str]) -> list[Place]:
    """Every topic and changelog that may name a user."""
    prefix = settings.kafka.topic_prefix
    topics = [Place(settings.topic(spec.name), spec) for spec in ALL if spec.name not in _NAMELESS]
    changelogs = [Place(stage.changelog(prefix), None, stage.name) for stage in STAGES.values() if stage.has_table]
    extraction = STAGES["extraction"]
    seconds = [Place(changelog_topic(extraction.group(prefix, each or "-")), None, extraction.name) for each in generations]
    return [*topics, *changelogs, *seconds]


@dataclass(frozen=True, slots=True)
class NamingRecord:
    """A record that names a user."""

    user: str
    place: Place
    partition: int
    offset: int
    key: bytes


async def remnants(settings: Settings, tenant: str, user: str, *, store: MemoryStore, redis: GuardedRedis) -> list[Remnant]:
    """The records that name a user, by place; includes places without any.

    Args:
        settings: The settings in force.
        tenant: The tenant of the user.
        user: The user.
        store: The vector store.
        redis: Has the names of unfinished erasures.

    Raises:
        KafkaUnavailableError: If no broker answers.
        StoreUnavailableError: If the store is unavailable.
        RedisUnavailableError: If Redis is unavailable.
    """
    known = (await read_control(settings)).tenants.get(tenant)
    places = places_of(settings, {"", *(each.name for each in known.generations)} if known is not None else {""})
    found = await read_places(settings, Naming(tenant, user), places)
    in_topics = [
        Remnant(
            place=each.topic,
            standing=sum(record.place == each for record in found.standing) if each.is_kept else 0,
            on_disk=found.on_disk[each.topic],
        )
        for each in places
    ]
    count = await store.count(TenantScope(tenant, user)) + await _count_steps(store, tenant, user)
    named = sum((each.tenant, each.user) == (tenant, user) for each in await UnfinishedErasures(redis=redis).every())
    files = await asyncio.to_thread(naming_files, settings.data, tenant, user)
    return [
        *in_topics,
        Remnant(place=STORE, standing=count, on_disk=count),
        Remnant(place=UNDER_WAY, standing=named, on_disk=named),
        *(Remnant(place=f"files in {folder}", standing=0, on_disk=files[folder]) for folder in sorted(files)),
    ]


async def _count_steps(store: MemoryStore, tenant: str, user: str) -> int:
    """Number of a user's history entries. No query of memories finds them."""
    count = 0
    async for step in all_steps(store, TenantScope(tenant), None):
        count += step.contribution.user == user
    return count


@dataclass(slots=True)
class FoundRecords:
    """The records of some places that name users."""

    standing: list[NamingRecord]
    """Records that a reader sees: in a compacted topic only the newest of each key."""
    on_disk: Counter[str]
    """Number of records on the disk, by topic."""


async def read_places(settings: Settings, naming: Naming, places: Iterable[Place]) -> FoundRecords:
    """Reads places to their ends, and finds the records that name users."""
    left, found = iter(places), FoundRecords([], Counter())

    async def read_on() -> None:
        async with TopicReader(kafka=settings.kafka) as reader:
            for place in left:
                found.standing.extend(await _standing(place, naming, reader, found.on_disk))

    await asyncio.gather(*(read_on() for _ in range(_AT_ONCE)))
    return found


async def _standing(place: Place, naming: Naming, reader: TopicReader, on_disk: Counter[str]) -> list[NamingRecord]:
    standing: dict[tuple[int, bytes | int], list[NamingRecord]] = {}
    try:
        async for record in reader.records(place.topic):
            key, value = record.key or b"", record.value
            row = record.partition, key if place.is_compacted else record.offset
            standing.pop(row, None)
            if value is None or (KIND, GENERATION_DROP) in record.headers:
                continue  # a generation may have the name of a user
            named = naming.in_row(place.stage, key, value) if place.spec is None else naming.in_record(place.spec, key, value)
            if named:
                on_disk[place.topic] += 1
                standing[row] = [NamingRecord(each, place, record.partition, record.offset, key) for each in sorted(named)]
    except TopicMissingError:
        return []  # its stage has never run
    return [each for records in standing.values() for each in records]
