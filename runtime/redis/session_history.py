"""Topics and events of each user's latest windows in a session, and a user's latest events that may be routines, in Redis."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from typing import Any, Final, Self, cast

import orjson
from redis.asyncio import Redis

from memory.records import Extraction, Memory, NotedEvent, Window
from memory.records.wording import indexed_text
from memory.texts.text import content_hash
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily

MAX_WINDOWS: Final = 5
"""Number of earlier windows of the user in the session that a prompt uses; twice as many are stored, for repeated extractions."""
MAX_EVENTS: Final = 40
"""Limit for the stored events of a window; the latest are kept."""
MAX_ROUTINES: Final = 50
"""Limit for a user's stored events that may be routines, in all sessions, and for short ones; the latest are kept."""


_SHORT_TIMES: Final = 2
"""Times of a short event that are kept."""
_AT: Final = "@"


@dataclass(frozen=True, slots=True)
class EarlierWindows:
    """Topics and events of earlier windows, oldest first."""

    topics: tuple[str, ...] = ()
    events: tuple[NotedEvent, ...] = ()

    @classmethod
    def of(cls, extractions: Sequence[Extraction]) -> Self:
        """The topics and events of extractions, limited to those that are stored.

        Args:
            extractions: Extractions of one user in one session, oldest first.
        """
        return cls(
            topics=tuple(segment.topic for each in extractions for segment in each.segments),
            events=tuple(
                NotedEvent(event.type, indexed_text(event), event.properties, event.event_time, event.date)
                for extraction in extractions
                for event in extraction.events[-MAX_EVENTS:]
            ),
        )

    @property
    def summary(self) -> str:
        """The topics of the session so far, as text for a prompt."""
        return "; ".join(dict.fromkeys(self.topics))


@dataclass(frozen=True, slots=True)
class NotedRoutine:
    """An event, in any session of a user, that later events may repeat."""

    window_id: str
    event: NotedEvent


class SessionHistory:
    """Stores topics and events of a user's latest windows by window number: a repeated extraction gets the same history as the first one.

    The history excludes other users of the session: their memories are separate and repeat none of this user's.

    Every method raises RedisUnavailableError while Redis is unavailable: then an extraction has no history.

    Args:
        ttl_s: Lifetime of a session's history after its newest window, in seconds.
    """

    def __init__(self, *, redis: GuardedRedis, ttl_s: float) -> None:
        if ttl_s < 1:
            raise ValueError(f"a session's history needs ttl_s >= 1, got {ttl_s}")
        self._redis = redis
        self._ttl_ms = int(ttl_s * 1000)

    async def before(self, window: Window, generation: str) -> EarlierWindows:
        """The topics and events of the user's windows before the given one.

        Args:
            window: The window.
            generation: The generation; empty for the first one.
        """
        if window.sequence == 0:
            return EarlierWindows()
        key = self._key(window.tenant, window.user, window.session, generation)

        async def read(client: Redis) -> list[bytes | None]:
            earlier = [number for number in await _kept(client, key) if number < window.sequence]
            fields = [str(number) for number in earlier[-MAX_WINDOWS:]]
            return cast(list[bytes | None], await client.hmget(key, fields)) if fields else []

        packed = await self._redis.run("reading a session's history", read)
        windows: list[dict[str, Any]] = [orjson.loads(each) for each in packed if each is not None]
        return EarlierWindows(
            topics=tuple(topic for each in windows for topic in each["topics"]),
            events=tuple(
                NotedEvent(kind, content, properties, datetime.fromisoformat(event_time), date)
                for each in windows
                for kind, content, properties, event_time, date in each["events"]
            ),
        )

    async def add(self, extraction: Extraction) -> None:
        """Stores topics and events of a window, replacing those of its earlier extraction."""
        key = self._key(extraction.tenant, extraction.user, extraction.session, extraction.generation)
        stored = EarlierWindows.of([extraction])
        events = [(each.type, each.content, each.properties, each.event_time, each.date) for each in stored.events]
        packed = orjson.dumps({"window": extraction.window_id, "topics": stored.topics, "events": events})

        async def add(client: Redis) -> None:
            # With several users in a session, a user's window numbers have gaps, so old windows are found by counting the newer ones.
            kept = sorted({*await _kept(client, key), extraction.sequence})
            async with client.pipeline(transaction=True) as pipe:
                pipe.hset(key, str(extraction.sequence), packed)
                if surplus := kept[: -2 * MAX_WINDOWS]:
                    pipe.hdel(key, *map(str, surplus))
                pipe.pexpire(key, self._ttl_ms)
                await pipe.execute()

        await self._redis.run("storing a session's history", add)

    async def routines(self, window: Window, generation: str) -> list[NotedRoutine]:
        """The events of the user that a window's events may repeat, from all sessions.

        Args:
            window: The window.
            generation: The generation; empty for the first one.
        """
        key = self._routines_key(window.tenant, window.user, generation)

        async def read(client: Redis) -> list[bytes]:
            return cast(list[bytes], await client.hvals(key))

        return [_routine(each) for each in await self._redis.run("reading a user's routines", read)]

    async def add_routines(self, extraction: Extraction, events: Sequence[NotedEvent], short: Sequence[NotedEvent] = ()) -> None:
        """Stores a window's events that later ones may repeat, replacing those of its earlier extraction.

        Args:
            extraction: The extraction of the window.
            events: Its events that are routines if they are said again.
            short: Those that must be said several times. They have their own limit, since there are many.
        """
        key = self._routines_key(extraction.tenant, extraction.user, extraction.generation)
        added = {
            _routine_name(each, is_short=is_short): orjson.dumps(
                [extraction.window_id, each.type, each.content, each.properties, each.event_time, each.date]
            )
            for is_short, noted in ((False, events), (True, short))
            for each in noted
        }

        async def add(client: Redis) -> None:
            known = cast(dict[bytes, bytes], await client.hgetall(key))
            if not known and not added:
                return
            kept = {name.decode(): each for name, each in known.items() if _routine(each).window_id != extraction.window_id} | added
            newest = _newest(kept)
            async with client.pipeline(transaction=True) as pipe:
                if dropped := [name for name in known if name.decode() not in newest]:
                    pipe.hdel(key, *dropped)
                new: dict[Any, Any] = {name: added[name] for name in newest if name in added}
                if new:
                    pipe.hset(key, mapping=new)
                pipe.pexpire(key, self._ttl_ms)
                await pipe.execute()

        await self._redis.run("storing a user's routines", add)

    async def forget_event(self, memory: Memory, generations: Iterable[str]) -> None:
        """Forgets an event that is wrong, with the topics of its window, so that no later prompt repeats it.

        If the note has no event with the memory's text, because it was corrected before, it forgets all events of the window. The user's
        routines lose the window's events in the same way.
        """
        if memory.user is None or memory.session is None:
            return
        text = indexed_text(memory)
        for generation in generations:
            key = self._key(memory.tenant, memory.user, memory.session, generation)
            routines_key = self._routines_key(memory.tenant, memory.user, generation)

            async def forget(client: Redis, key: str = key, routines_key: str = routines_key) -> None:
                for field, packed in cast(dict[bytes, bytes], await client.hgetall(key)).items():
                    note = orjson.loads(packed)
                    if note["window"] == memory.window_id:
                        left = [each for each in note["events"] if each[1] != text]
                        events = left if len(left) < len(note["events"]) else []
                        await client.hset(key, field, orjson.dumps({**note, "topics": [], "events": events}))
                routines = cast(dict[bytes, bytes], await client.hgetall(routines_key))
                of_window = {name: _routine(each) for name, each in routines.items() if _routine(each).window_id == memory.window_id}
                wrong = [name for name, each in of_window.items() if each.event.content == text] or list(of_window)
                if wrong:
                    await client.hdel(routines_key, *wrong)

            await self._redis.run("forgetting a wrong event", forget)

    async def forget(self, tenant: str, user: str, sessions: Iterable[str], generations: Iterable[str]) -> None:
        """Forgets the results of a user's windows in some sessions, and the user's routines in all of them.

        Args:
            tenant: The tenant of the user.
            user: The user of the windows.
            sessions: The sessions.
            generations: In which generations; the first one's name is empty.
        """
        generations = list(generations)
        keys = [self._key(tenant, user, *each) for each in product(sessions, generations)]
        keys += [self._routines_key(tenant, user, each) for each in generations]
        await self._redis.unlink("forgetting sessions' histories", keys)

    def _key(self, tenant: str, user: str, session: str, generation: str) -> str:
        return self._redis.key_of(KeyFamily.SESSION_HISTORY, tenant, user, session, generation or "-")

    def _routines_key(self, tenant: str, user: str, generation: str) -> str:
        # Three parts; the key of a session has four.
        return self._redis.key_of(KeyFamily.SESSION_HISTORY, tenant, user, generation or "-")


async def _kept(client: Redis, key: str) -> list[int]:
    """The numbers of the stored windows, oldest first."""
    return sorted(int(field) for field in cast(list[bytes], await client.hkeys(key)))


def _routine_name(event: NotedEvent, *, is_short: bool) -> str:
    """The field of an event. A short one has a field for each of its times."""
    name = content_hash(f"{event.type} {event.content}")
    return f"{name}{_AT}{event.event_time.isoformat()}" if is_short else name


def _newest(kept: Mapping[str, bytes]) -> frozenset[str]:
    """The fields within the limits: of long and of short events the newest, and of each short one the newest times."""
    newest = sorted(kept, key=lambda name: (_routine(kept[name]).event.event_time, name), reverse=True)
    times: Counter[str] = Counter()
    short: list[str] = []
    for name in newest:
        content, at, _ = name.partition(_AT)
        times[content] += bool(at)
        if at and times[content] <= _SHORT_TIMES:
            short.append(name)
    return frozenset([*[name for name in newest if _AT not in name][:MAX_ROUTINES], *short[:MAX_ROUTINES]])


def _routine(packed: bytes) -> NotedRoutine:
    window_id, kind, content, properties, event_time, date = orjson.loads(packed)
    return NotedRoutine(window_id, NotedEvent(kind, content, properties, datetime.fromisoformat(event_time), date))
