"""What the latest windows of each session gave, in Redis: what they were about, and the events that they laid down."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

import orjson
from redis.asyncio import Redis

from memory.keys import encode_key
from memory.records import Extraction, NotedEvent, Window
from runtime.redis import redis_faults

KEPT_WINDOWS: Final = 5
"""Windows of a session that are remembered."""
KEPT_EVENTS: Final = 40
"""Events of one window that are remembered, the latest."""


@dataclass(frozen=True, slots=True)
class Notes:
    """What the windows before one gave, oldest first."""

    topics: tuple[str, ...] = ()
    events: tuple[NotedEvent, ...] = ()

    @property
    def summary(self) -> str:
        """What the session was about so far, as an extractor is told it."""
        return "; ".join(dict.fromkeys(self.topics))


class SessionNotes:
    """Remembers what a session's latest windows gave, by the window's number, so that a repetition sees what the first try saw.

    Every method raises RedisUnavailableError while Redis is away: an extraction then goes without.

    Args:
        client: As :func:`runtime.redis.connect_redis` makes it.
        prefix: Put before every key.
        ttl_s: How long a session's notes are kept behind its newest window.
    """

    def __init__(self, *, client: Redis, prefix: str, ttl_s: float) -> None:
        if ttl_s < 1:
            raise ValueError(f"notes are kept for at least 1 s, got {ttl_s}")
        self._client = client
        self._prefix = prefix
        self._ttl_ms = int(ttl_s * 1000)

    async def before(self, window: Window, generation: str) -> Notes:
        """What the windows before one gave.

        Args:
            window: The window.
            generation: Empty for the first one.
        """
        numbers = range(max(0, window.sequence - KEPT_WINDOWS), window.sequence)
        if not numbers:
            return Notes()
        key = self._key(window.tenant, window.session, generation)
        with redis_faults("reading what a session's windows gave"):
            packed = cast(list[bytes | None], await self._client.hmget(key, [str(number) for number in numbers]))
        noted: list[dict[str, Any]] = [orjson.loads(each) for each in packed if each is not None]
        return Notes(
            topics=tuple(topic for each in noted for topic in each["topics"]),
            events=tuple(
                NotedEvent(kind, content, properties, datetime.fromisoformat(event_time))
                for each in noted
                for kind, content, properties, event_time in each["events"]
            ),
        )

    async def note(self, extraction: Extraction) -> None:
        """Notes what a window gave; a window extracted again replaces what it said."""
        key = self._key(extraction.tenant, extraction.session, extraction.generation)
        packed = orjson.dumps(
            {
                "topics": [segment.topic for segment in extraction.segments],
                "events": [(each.type, each.content, each.properties, each.event_time) for each in extraction.events[-KEPT_EVENTS:]],
            }
        )
        with redis_faults("noting what a session's window gave"):
            async with self._client.pipeline(transaction=True) as pipe:
                pipe.hset(key, str(extraction.sequence), packed)
                pipe.hdel(key, str(extraction.sequence - 2 * KEPT_WINDOWS))
                pipe.pexpire(key, self._ttl_ms)
                await pipe.execute()

    def _key(self, tenant: str, session: str, generation: str) -> str:
        return f"{self._prefix}notes:{encode_key(tenant, session, generation or '-').decode('ascii')}"
