from datetime import UTC, datetime, timedelta

import pytest
from redis.asyncio import Redis

from memory.records import Event, Extraction, Memory, Message, NotedEvent, Segment, Window
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily
from runtime.redis.session_history import MAX_ROUTINES, MAX_WINDOWS, EarlierWindows, NotedRoutine, SessionHistory
from tests.made_records import made_window

pytestmark = pytest.mark.integration

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def window(sequence: int, *, tenant: str = "acme", user: str = "ann") -> Window:
    message = Message(tenant=tenant, user=user, session="s", id="m", text="hi", event_time=NOON)
    return made_window([message], id=f"w{sequence}", sequence=sequence)


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
        segments=[Segment(id=f"{sequence}-{index}", topic=topic, ranges=[(0, 0)]) for index, topic in enumerate(topics)],
        events=[]
        if says is None
        else [
            Event(
                id="e",
                type="drink",
                date="2024-05-01",
                content=says,
                properties={"cups": 2},
                message_ids=["m"],
                extractor="offline",
                **event,
            )
        ],
        window_end=NOON,
    )


async def test_a_window_sees_only_results_of_earlier_windows(redis: GuardedRedis) -> None:
    history = SessionHistory(redis=redis, ttl_s=60)
    assert await history.before(window(0), "") == EarlierWindows()
    for number in range(3):
        await history.add(extraction(number, f"topic {number}", "tea", says=f"Ann had tea {number}."))
    had = [NotedEvent("drink", f"Ann had tea {number}.", {"cups": 2}, NOON, "2024-05-01") for number in range(3)]
    assert await history.before(window(2), "") == EarlierWindows(("topic 0", "tea", "topic 1", "tea"), tuple(had[:2]))
    await history.add(extraction(1, "coffee"))
    assert await history.before(window(2), "") == EarlierWindows(("topic 0", "tea", "coffee"), (had[0],))
    assert await history.before(window(2), "v2") == EarlierWindows()
    assert await history.before(window(2, tenant="umbrella"), "") == EarlierWindows()


async def test_only_the_latest_windows_are_kept(redis: GuardedRedis, client: Redis) -> None:
    history = SessionHistory(redis=redis, ttl_s=60)
    for number in range(40):
        await history.add(extraction(number, str(number)))
    assert (await history.before(window(40), "")).topics == tuple(str(number) for number in range(40 - MAX_WINDOWS, 40))
    (key,) = [key async for key in client.scan_iter(match=redis.key(KeyFamily.SESSION_HISTORY, "*"))]
    assert await client.hlen(key) == 2 * MAX_WINDOWS
    assert 0 < await client.ttl(key) <= 60


async def test_a_forgotten_session_has_no_earlier_windows(redis: GuardedRedis, client: Redis) -> None:
    history = SessionHistory(redis=redis, ttl_s=60)
    for generation in ("", "v2"):
        await history.add(extraction(0, "tea").model_copy(update={"generation": generation}))
    await history.forget("acme", "ann", ["s", "never"], [""])
    assert await history.before(window(1), "") == EarlierWindows()
    assert await history.before(window(1), "v2") == EarlierWindows(("tea",), ())
    assert len([key async for key in client.scan_iter(match=redis.key(KeyFamily.SESSION_HISTORY, "*"))]) == 1


async def test_users_of_a_session_have_separate_histories(redis: GuardedRedis) -> None:
    history = SessionHistory(redis=redis, ttl_s=60)
    await history.add(extraction(0, "Ann's illness"))
    await history.add(extraction(1, "Bob's flat").model_copy(update={"user": "bob"}))
    assert (await history.before(window(2), "")).topics == ("Ann's illness",)
    assert (await history.before(window(2, user="bob"), "")).topics == ("Bob's flat",)
    await history.forget("acme", "bob", ["s"], [""])
    assert (await history.before(window(2), "")).topics == ("Ann's illness",)
    assert await history.before(window(2, user="bob"), "") == EarlierWindows()


async def test_gaps_of_other_sessions_do_not_extend_history(redis: GuardedRedis, client: Redis) -> None:
    history = SessionHistory(redis=redis, ttl_s=60)
    numbers = [number * number for number in range(40)]
    for number in numbers:
        await history.add(extraction(number, str(number)))
    assert (await history.before(window(2000), "")).topics == tuple(map(str, numbers[-MAX_WINDOWS:]))
    (key,) = [key async for key in client.scan_iter(match=redis.key(KeyFamily.SESSION_HISTORY, "*"))]
    assert await client.hlen(key) == 2 * MAX_WINDOWS


def routines_of(window: str, *contents: str, days: int = 0) -> tuple[Extraction, list[NotedEvent]]:
    events = [NotedEvent("note", content, {"n": 1}, NOON + timedelta(days=days), None) for content in contents]
    return extraction(0).model_copy(update={"window_id": window, "session": f"s-{window}"}), events


async def test_a_users_routines_span_sessions_and_are_bounded(redis: GuardedRedis, client: Redis) -> None:
    history = SessionHistory(redis=redis, ttl_s=60)
    for number in range(MAX_ROUTINES + 5):
        await history.add_routines(*routines_of(f"w{number}", f"routine {number}", days=number))
    found = await history.routines(window(7), "")
    assert sorted(each.event.event_time for each in found) == [NOON + timedelta(days=number) for number in range(5, MAX_ROUTINES + 5)]
    assert NotedRoutine("w5", NotedEvent("note", "routine 5", {"n": 1}, NOON + timedelta(days=5), None)) in found
    (key,) = [key async for key in client.scan_iter(match=redis.key(KeyFamily.SESSION_HISTORY, "*"))]
    assert 0 < await client.ttl(key) <= 60
    for other in (window(7, user="bob"), window(7, tenant="umbrella")):
        assert await history.routines(other, "") == []
    assert await history.routines(window(7), "v2") == []


async def test_a_repeated_extraction_replaces_its_routines(redis: GuardedRedis) -> None:
    history = SessionHistory(redis=redis, ttl_s=60)
    await history.add_routines(*routines_of("w1", "one", "two"))
    await history.add_routines(*routines_of("w2", "three"))
    await history.add_routines(*routines_of("w1", "two", "four"))
    assert {(each.window_id, each.event.content) for each in await history.routines(window(7), "")} == {
        ("w1", "two"),
        ("w1", "four"),
        ("w2", "three"),
    }
    await history.add_routines(*routines_of("w1"))
    assert [each.window_id for each in await history.routines(window(7), "")] == ["w2"]
    await history.forget("acme", "ann", [], [""])
    assert await history.routines(window(7), "") == []


def memory(content: str, *, window_id: str) -> Memory:
    return Memory(
        id="e", tenant="acme", user="ann", kind="event", type="drink", content=content, session="s", window_id=window_id, event_time=NOON
    )


async def test_a_wrong_event_leaves_the_notes_at_once(redis: GuardedRedis, client: Redis) -> None:
    history = SessionHistory(redis=redis, ttl_s=60)
    for generation in ("", "v2"):
        for number in range(2):
            both = extraction(number, f"topic {number}", says=f"Ann had tea {number}.")
            other = both.events[0].model_copy(update={"content": f"Ann had cake {number}."})
            await history.add(both.model_copy(update={"generation": generation, "events": [*both.events, other]}))
    await history.forget_event(memory("Ann had tea 0.", window_id="w0"), ["", "v2"])
    for generation in ("", "v2"):
        left = await history.before(window(2), generation)
        assert left.topics == ("topic 1",)
        assert [each.content for each in left.events] == ["Ann had cake 0.", "Ann had tea 1.", "Ann had cake 1."]
    await history.forget_event(memory("as corrected before", window_id="w1"), [""])
    assert [each.content for each in (await history.before(window(2), "")).events] == ["Ann had cake 0."]
    assert all([0 < await client.ttl(key) <= 60 async for key in client.scan_iter(match=redis.key(KeyFamily.SESSION_HISTORY, "*"))])


async def test_a_wrong_event_leaves_the_routines_at_once(redis: GuardedRedis) -> None:
    history = SessionHistory(redis=redis, ttl_s=60)
    await history.add_routines(*routines_of("w1", "Ann had tea.", "Ann had cake."))
    await history.forget_event(memory("Ann had tea.", window_id="w1"), [""])
    assert [each.event.content for each in await history.routines(window(7), "")] == ["Ann had cake."]
    await history.forget_event(memory("as corrected before", window_id="w1"), [""])
    assert await history.routines(window(7), "") == []
