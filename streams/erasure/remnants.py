"""Finds what still names a user, and so shows that an erasure has worked.

It looks into every topic and changelog, into the vector store, and among the erasures that are under way.
"""

import asyncio
import re
import zlib
from dataclasses import dataclass, replace
from typing import Final

import orjson

from memory.errors import KeyFormatError
from memory.keys import decode_key
from memory.topics import ALL, USAGE, TopicSpec
from retrieval.stores.port import MemoryStore, TenantScope
from runtime.erasures_under_way import ErasuresUnderWay
from runtime.errors import TopicMissingError
from runtime.kafka import read_topic
from runtime.redis import GuardedRedis
from runtime.settings import Settings
from streams.delivery.state import unpack
from streams.stages import STAGES, StageSpec

STORE: Final = "vector store"
UNDER_WAY: Final = "erasures under way"
"""In Redis, until the erasure is done."""

_AT_ONCE: Final = 6
"""Topics that are read beside each other."""
_NAMELESS: Final = frozenset({USAGE.name})
"""Topics that bear no user's name."""
_ROW_KIND: Final = re.compile(rb"^#[a-z]+/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remnant:
    """What names a user in one place."""

    place: str
    """A topic's name on the broker, :data:`STORE` or :data:`UNDER_WAY`."""
    standing: int
    """What is read there, and stays: of a compacted topic the newest of each key; of one that keeps records for some days, nothing."""
    on_disk: int
    """Records that the disk has still, those included that retention deletes, or that a tombstone names and compaction has not come to."""


class Naming:
    """Tells whether a record names a user of a tenant. Pure.

    It errs on the safe side: a record counts where the tenant and the user stand in it as whole texts, whatever they stand for there.

    Args:
        tenant: Whose user.
        user: Who.
    """

    def __init__(self, tenant: str, user: str) -> None:
        self._tenant, self._user = tenant, user
        self._words = orjson.dumps(tenant), orjson.dumps(user)
        self._parts = {tenant, user}

    def is_in(self, key: bytes, value: bytes) -> bool:
        """Whether a record names the user.

        Args:
            key: Its key; a changelog's too.
            value: Its value, or a row's without its position.
        """
        parts = _parts_of(key)
        if self._parts <= parts:
            return True
        text = _plain(value)
        tenant_word, user_word = self._words
        return (self._user in parts or user_word in text) and (self._tenant in parts or tenant_word in text)


async def remnants(settings: Settings, tenant: str, user: str, *, store: MemoryStore, redis: GuardedRedis) -> list[Remnant]:
    """What names a user, place by place; places where nothing does are told, too.

    Args:
        settings: Where Kafka is.
        tenant: Whose user.
        user: Who.
        store: The vector store.
        redis: Has whom erasures are about that are under way.

    Raises:
        KafkaUnavailableError: If no broker answers.
        StoreUnavailableError: If the store is away.
        RedisUnavailableError: If Redis is away.
    """
    naming, turns = Naming(tenant, user), asyncio.Semaphore(_AT_ONCE)

    async def in_topic(spec: TopicSpec) -> Remnant:
        async with turns:
            found = await _in_topic(settings.topic(spec.name), naming, settings, is_compacted=spec.cleanup == "compact")
        return found if spec.retention_ms < 0 else replace(found, standing=0)

    async def in_changelog(stage: StageSpec) -> Remnant:
        async with turns:
            changelog = stage.changelog(settings.kafka.topic_prefix)
            return await _in_topic(changelog, naming, settings, is_compacted=True, has_rows=True)

    topics = [in_topic(spec) for spec in ALL if spec.name not in _NAMELESS]
    changelogs = [in_changelog(stage) for stage in STAGES.values() if stage.has_table]
    found = await asyncio.gather(*topics, *changelogs)
    count = await store.count(TenantScope(tenant, user))
    named = sum((each.tenant, each.user) == (tenant, user) for each in await ErasuresUnderWay(redis=redis).every())
    return [*found, Remnant(place=STORE, standing=count, on_disk=count), Remnant(place=UNDER_WAY, standing=named, on_disk=named)]


async def _in_topic(topic: str, naming: Naming, settings: Settings, *, is_compacted: bool, has_rows: bool = False) -> Remnant:
    on_disk = 0
    standing: set[tuple[int, bytes]] = set()
    try:
        async for record in read_topic(topic, settings.kafka):
            row = record.partition, record.key or b""
            value = record.value
            if value is not None and naming.is_in(row[1], unpack(value)[1] if has_rows else value):
                on_disk += 1
                standing.add(row)
            elif is_compacted:
                standing.discard(row)
    except TopicMissingError:
        return Remnant(place=topic, standing=0, on_disk=0)  # its stage has never run
    return Remnant(place=topic, standing=len(standing) if is_compacted else on_disk, on_disk=on_disk)


def _parts_of(key: bytes) -> set[str]:
    """The parts of a key, and those of an entity's key among them. What tells a stage's rows apart, before a session's key, is none."""
    try:
        parts = decode_key(_ROW_KIND.sub(b"", key))
    except KeyFormatError:
        return set()
    found = set(parts)
    for part in parts:
        try:
            found.update(decode_key(part.encode()))
        except KeyFormatError:
            continue
    return found


def _plain(value: bytes) -> bytes:
    try:
        return zlib.decompress(value)
    except zlib.error:
        return value
