from datetime import UTC, datetime

import pytest
from redis.asyncio import Redis

from memory.records import Event, Extraction, Message, NotedEvent, Segment, Window
from runtime.errors import RedisUnavailableError
from runtime.redis import connect_redis
from runtime.session_notes import KEPT_WINDOWS, Notes, SessionNotes
from runtime.settings import RedisSettings

pytestmark = pytest.mark.integration

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def window(sequence: int, *, tenant: str = "acme") -> Window:
    message = Message(tenant=tenant, user="ann", session="s", id="m", text="hi", event_time=NOON)
    return Window(
        id=f"w{sequence}",
        tenant=tenant,
        user="ann",
        session="s",
        sequence=sequence,
        messages=[message],
        closed_by="flush",
        source_partition=0,
        first_offset=0,
        last_offset=0,
    )


def extraction(sequence: int, *topics: str, says: str | None = None) -> Extraction:
    event = {"tenant": "acme", "user": "ann", "session": "s", "window_id": f"w{sequence}", "event_time": NOON, "said_at": NOON}
    return Extraction(
        window_id=f"w{sequence}",
        tenant="acme",
        user="ann",
        session="s",
        sequence=sequence,
        extractor="offline",
        schema_name="tests",
        message_ids=["m"],
        segments=[Segment(id=f"{sequence}-{place}", topic=topic, ranges=[(0, 0)]) for place, topic in enumerate(topics)],
        events=[]
        if says is None
        else [Event(id="e", type="drink", content=says, properties={"cups": 2}, message_ids=["m"], extractor="offline", **event)],
        window_end=NOON,
    )


async def test_a_window_sees_what_those_before_it_gave_and_none_behind(client: Redis, topic_prefix: str) -> None:
    notes = SessionNotes(client=client, prefix=topic_prefix, ttl_s=60)
    assert await notes.before(window(0), "") == Notes()
    for number in range(3):
        await notes.note(extraction(number, f"topic {number}", "tea", says=f"Ann had tea {number}."))
    had = [NotedEvent("drink", f"Ann had tea {number}.", {"cups": 2}, NOON) for number in range(3)]
    assert await notes.before(window(2), "") == Notes(("topic 0", "tea", "topic 1", "tea"), tuple(had[:2]))
    await notes.note(extraction(1, "coffee"))
    assert await notes.before(window(2), "") == Notes(("topic 0", "tea", "coffee"), (had[0],))
    assert await notes.before(window(2), "v2") == Notes()
    assert await notes.before(window(2, tenant="umbrella"), "") == Notes()


async def test_only_the_latest_windows_are_kept(client: Redis, topic_prefix: str) -> None:
    notes = SessionNotes(client=client, prefix=topic_prefix, ttl_s=60)
    for number in range(40):
        await notes.note(extraction(number, str(number)))
    assert (await notes.before(window(40), "")).topics == tuple(str(number) for number in range(40 - KEPT_WINDOWS, 40))
    (key,) = [key async for key in client.scan_iter(match=f"{topic_prefix}notes:*")]
    assert await client.hlen(key) == 2 * KEPT_WINDOWS
    assert 0 < await client.ttl(key) <= 60


async def test_a_redis_that_is_away_is_said_to_be() -> None:
    async with connect_redis(RedisSettings(url="redis://127.0.0.1:1/0", timeout_s=0.5)) as nowhere:
        notes = SessionNotes(client=nowhere, prefix="p", ttl_s=60)
        with pytest.raises(RedisUnavailableError):
            await notes.before(window(1), "")
        with pytest.raises(RedisUnavailableError):
            await notes.note(extraction(1, "tea"))
