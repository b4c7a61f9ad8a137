"""An erasure leaves no word of the user in Redis or in the workers' tables, even if a worker wrote late or could not write."""

import asyncio
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import pytest
from redis.asyncio import Redis

from control import Draft, read_control
from extraction.offline.extractor import OfflineExtractor
from extraction.port import ExtractionContext
from memory.keys import encode_key
from memory.records import Extraction, Message, Window
from memory.schema.model import MemorySchema
from runtime.errors import RedisUnavailableError
from runtime.kafka import Producer
from runtime.redis.client import GuardedRedis
from runtime.redis.session_tail import SessionTail, TailUpdate
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.operations.erasure.erase import erase
from streams.run import serve_stage
from streams.stages.catalog import STAGES
from tests.streams.flow import TENANT, caught_up, flush, serving
from tests.streams.harness import until, until_true

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

USER: Final = "ada"
DONE, IN_CALL, OPEN = "s-done", "s-call", "s-open"
WORD: Final = "ZQX"
"""Begins every word that only the user has said."""
STAGES_HERE = [name for name in STAGES if name != "recalls"]


class HeldExtractor:
    """Holds the first call about the user's words until it is released, and keeps what each call was shown."""

    def __init__(self) -> None:
        self.released = asyncio.Event()
        self.shown: list[tuple[str, ExtractionContext]] = []

    def install(self) -> Any:
        """Puts it around the extractor of all workers of this process."""
        extract = OfflineExtractor.extract

        async def held(extractor: OfflineExtractor, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
            self.shown.append((window.session, context))
            if any(WORD in each.text for each in window.messages):
                await self.released.wait()
            return await extract(extractor, window, schema, context)

        return patch.object(OfflineExtractor, "extract", held)


class RefusedTails:
    """Redis, which refuses the sessions worker's writes while ``is_refusing`` is set."""

    def __init__(self) -> None:
        self.is_refusing = False
        self.refused = 0

    def install(self) -> Any:
        """Puts it before the tails of all workers of this process."""
        write: Callable[[SessionTail, Iterable[TailUpdate]], Awaitable[None]] = SessionTail.write

        async def refused(tail: SessionTail, updates: Iterable[TailUpdate]) -> None:
            if self.is_refusing:
                self.refused += 1
                raise RedisUnavailableError("writing session tails failed: a time-out")
            await write(tail, updates)

        return patch.object(SessionTail, "write", refused)


async def test_an_erasure_clears_redis_and_local_tables(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    """A window is in a model's call, and Redis refuses the write that empties an open window before the sessions worker is restarted."""
    extractor, tails, notices = HeldExtractor(), RefusedTails(), list[str]()
    tail = SessionTail(redis=redis)
    with extractor.install(), tails.install():
        async with serving(leased, [name for name in STAGES_HERE if name != "sessions"]):
            async with sessions_worker(leased):
                await say(leased, f"I moved to {WORD}ville in May.", session=DONE)
                await flush(leased)
                extractor.released.set()
                await caught_up(leased, STAGES_HERE)
                extractor.released.clear()
                extractor.shown.clear()
                assert files_with_word(leased.data) != {}
                await say(leased, f"I have been told that I carry the {WORD}GENE mutation.", session=IN_CALL)
                await flush(leased)
                await until(lambda: bool(extractor.shown))
                await say(leased, f"My PIN is {WORD}4711.", session=OPEN)
                await until_true(lambda: shows(tail, OPEN, f"{WORD}4711"))
                assert await words_in_redis(leased) != {}
                tails.is_refusing = True
                erasing = asyncio.create_task(erase(leased, TENANT, [USER], by="test", store=store, redis=redis, notice=notices.append))
                await until(lambda: tails.refused > 0 and any("open windows" in each for each in notices))
            tails.is_refusing = False
            async with sessions_worker(leased):
                await until_true(lambda: reaches_windows(leased))
                extractor.released.set()
                (receipt,) = await erasing
                assert (receipt.finished_at is not None, receipt.found["windows"]) == (True, 2)
                assert (await tail.read(TENANT, OPEN)).messages == ()
                assert await words_in_redis(leased) == {}
                await until(lambda: files_with_word(leased.data) == {})
                await say(leased, "Hello again, I am back from the sea.", session=IN_CALL)
                await flush(leased)
                await caught_up(leased, STAGES_HERE)
                session, context = extractor.shown[-1]
                assert (session, context.session_summary, context.session_events, context.entities) == (IN_CALL, "", (), ())
                assert len((await tail.read(TENANT, IN_CALL)).messages) == 1, "what the user has said since is readable"
                assert await words_in_redis(leased) == {}


@asynccontextmanager
async def sessions_worker(settings: Settings) -> AsyncIterator[None]:
    """A sessions worker for the length of a block."""
    stop = asyncio.Event()
    serving_sessions = asyncio.create_task(serve_stage("sessions", settings, stop))
    try:
        yield
    finally:
        stop.set()
        await serving_sessions


async def say(settings: Settings, text: str, *, session: str) -> None:
    now = datetime.now(UTC)
    said = Message(tenant=TENANT, user=USER, session=session, id=f"{session}-{now.timestamp()}", text=text, event_time=now)
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send(settings.topic("messages"), key=encode_key(TENANT, session), value=said.to_json())


async def shows(tail: SessionTail, session: str, word: str) -> bool:
    return any(word.encode() in each for each in (await tail.read(TENANT, session)).messages)


async def reaches_windows(settings: Settings) -> bool:
    """Whether the control log says that the erasure reaches into the windows."""
    return any("windows" in each.reaches for each in Draft(await read_control(settings)).erasures(TENANT))


def files_with_word(folder: Path) -> dict[str, int]:
    """How many files have a word of the user's, by folder."""
    files = (each for each in folder.rglob("*") if each.is_file())
    return dict(Counter(str(each.parent.relative_to(folder)) for each in files if has_word(each)))


def has_word(file: Path) -> bool:
    try:
        return WORD.encode() in file.read_bytes()
    except FileNotFoundError:  # its store has removed it meanwhile
        return False


async def words_in_redis(settings: Settings) -> dict[str, bytes]:
    """The keys whose values have a word of the user's."""
    found: dict[str, bytes] = {}
    async with Redis.from_url(settings.redis.url) as client:
        async for key in client.scan_iter(match=f"{settings.redis.prefix}*"):
            text = b"".join([plain(each) for each in await values_of(client, key)])
            if WORD.encode() in text:
                found[key.decode()] = text
    return found


async def values_of(client: Any, key: bytes) -> list[bytes]:
    kind = await client.type(key)
    if kind == b"hash":
        return [*await client.hvals(key)]
    if kind == b"list":
        return [*await client.lrange(key, 0, -1)]
    if kind == b"zset":
        return [*await client.zrange(key, 0, -1)]
    if kind == b"set":
        return [*await client.smembers(key)]
    return [await client.get(key) or b""]


def plain(value: bytes) -> bytes:
    try:
        return zlib.decompress(value)
    except zlib.error:
        return value
