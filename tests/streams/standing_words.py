"""Everything that still has words of users: records that stay, history, Redis, and files of local tables."""

import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from redis.asyncio import Redis

from memory.topics import ALL
from runtime.kafka import TopicReader
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from stores.port import MemoryStore, TenantScope, all_steps
from streams.engine.state.partition_state import changelog_topic, unpack
from streams.operations.erasure.remnants import remnants
from streams.operations.rebuild import snapshot
from streams.stages.catalog import STAGES

_COMPRESSED: Final = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
"""Begins what zlib has written."""


async def standing_records(settings: Settings, *, generations: Iterable[str] = (), without: Iterable[str] = ()) -> dict[str, list[bytes]]:
    """The keys and values of the records that stay in each topic and changelog.

    Args:
        settings: The settings in force.
        generations: Those with a second extraction worker.
        without: Stages that have never run.
    """
    prefix, found = settings.kafka.topic_prefix, dict[str, list[bytes]]()
    topics = [(settings.topic(each.name), each.cleanup == "compact", False) for each in ALL if each.retention_ms < 0]
    topics += [(each.changelog(prefix), True, True) for each in STAGES.values() if each.has_table and each.name not in without]
    topics += [(changelog_topic(STAGES["extraction"].group(prefix, each)), True, True) for each in generations]
    async with TopicReader(kafka=settings.kafka) as reader:
        for topic, is_compacted, has_rows in topics:
            rows: dict[tuple[int, bytes | int], list[bytes]] = {}
            async for record in reader.records(topic):
                key, value = record.key or b"", record.value
                row = record.partition, key if is_compacted else record.offset
                rows.pop(row, None)
                if value is not None:
                    rows[row] = [key, unpack(value)[1] if has_rows else value]
            found[topic] = [part for parts in rows.values() for part in parts]
    return found


async def places_naming(settings: Settings, tenant: str, user: str, *, store: MemoryStore, redis: GuardedRedis) -> dict[str, int]:
    """The places that name a user, as `varve erasures check` shows them."""
    return {each.place: each.standing for each in await remnants(settings, tenant, user, store=store, redis=redis) if each.standing}


async def stored_contents(store: MemoryStore, tenant: str) -> list[bytes]:
    """The memories and history steps of a tenant."""
    found = [line async for line in snapshot(store, tenant)]
    return found + [each.to_json() async for each in all_steps(store, TenantScope(tenant), None)]


async def redis_contents(settings: Settings) -> dict[str, list[bytes]]:
    """The keys and values in Redis, by family of keys."""
    found: dict[str, list[bytes]] = {}
    async with Redis.from_url(settings.redis.url) as client:
        async for key in client.scan_iter(match=f"{settings.redis.prefix}*"):
            family = key.decode().removeprefix(settings.redis.prefix).split(":")[0]
            found.setdefault(f"redis {family}", []).extend([key, *await _values(client, key)])
    return found


async def _values(client: Any, key: bytes) -> list[bytes]:
    match await client.type(key):
        case b"hash":
            return [part for pair in (await client.hgetall(key)).items() for part in pair]
        case b"list":
            return [*await client.lrange(key, 0, -1)]
        case b"zset":
            return [*await client.zrange(key, 0, -1)]
        case b"set":
            return [*await client.smembers(key)]
    return [await client.get(key) or b""]


def table_contents(settings: Settings) -> Iterator[bytes]:
    """The files of the local tables."""
    for file in (settings.data / "tables").rglob("*"):
        if file.suffix in {".sst", ".log"}:
            yield _read_if_there(file)


def _read_if_there(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:  # its store has removed it meanwhile
        return b""


def words_in(contents: Iterable[bytes], word: re.Pattern[bytes]) -> set[bytes]:
    """The words in contents, of which parts may be compressed."""
    return {found for content in contents for form in (content, *_inflated(content)) for found in word.findall(form)}


def _inflated(content: bytes) -> Iterator[bytes]:
    for start in _COMPRESSED.finditer(content):
        try:
            yield zlib.decompressobj().decompress(content[start.start() :])
        except zlib.error:
            continue
