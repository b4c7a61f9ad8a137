"""Unfinished erasures and the processes that run them: one at a time, and another one after the first has stopped."""

import asyncio
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime, timedelta

import pytest
from redis.asyncio import Redis

from control.erasure import Erasure, subject_of
from control.unfinished_erasures import KEYS, LEASE_S, LONGEST_PAUSE_S, ErasureRequest, UnfinishedErasures, WorkState
from runtime.errors import RedisUnavailableError
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily

NOON = datetime(2025, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


class Time:
    """A clock that only the test advances."""

    def __init__(self) -> None:
        self.s = NOON.timestamp()

    def __call__(self) -> float:
        return self.s * 1000


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def under_way(redis: GuardedRedis, time: Time) -> UnfinishedErasures:
    return UnfinishedErasures(redis=redis, now_ms=time)


def noted(user: str = "ann", *, at: datetime = NOON) -> ErasureRequest:
    return ErasureRequest(tenant="acme", user=user, by="operator o", asked_at=at)


ANN, BOB = noted(), noted("bob")


def receipt(*, asked_at: datetime, done: bool) -> Erasure:
    finished = asked_at + SECOND if done else None
    return Erasure(tenant="acme", subject=ANN.subject, requested_at=asked_at, finished_at=finished)


async def work_of(under_way: UnfinishedErasures, each: ErasureRequest = ANN) -> WorkState:
    return (await under_way.look([each.subject]))[each.subject]


async def taken(under_way: UnfinishedErasures, *erasures: ErasureRequest, asked: bool = False) -> list[ErasureRequest]:
    """The erasures that a process would resume now. It releases them at once."""
    async with under_way.held(erasures, asked=asked) as mine:
        return mine


async def fail(under_way: UnfinishedErasures, *, asked: bool = False) -> None:
    with suppress(ZeroDivisionError):
        async with under_way.held([ANN], asked=asked) as mine:
            assert mine == [ANN]
            raise ZeroDivisionError


@pytest.mark.parametrize(
    ("erasure", "age", "stale"),
    [
        (receipt(asked_at=NOON, done=True), SECOND, True),
        (receipt(asked_at=NOON + SECOND, done=True), SECOND, True),
        (receipt(asked_at=NOON - SECOND, done=True), SECOND, False),
        (receipt(asked_at=NOON - SECOND, done=True), timedelta(hours=2), True),
        (receipt(asked_at=NOON, done=False), timedelta(days=99), False),
        (receipt(asked_at=NOON - SECOND, done=False), timedelta(days=99), False),
        (None, timedelta(minutes=10), False),
        (None, timedelta(hours=2), True),
    ],
)
def test_a_name_is_removed_with_the_receipt(erasure: Erasure | None, age: timedelta, stale: bool) -> None:
    assert ANN.is_stale(erasure, NOON + age) is stale


async def test_without_redis_concurrent_work_is_harmless() -> None:
    under_way = UnfinishedErasures(redis=GuardedRedis(client=None, prefix="t:"))
    for _ in range(2):
        assert await taken(under_way, ANN, BOB, asked=True) == [ANN, BOB]
    with pytest.raises(RedisUnavailableError):
        await under_way.every()


@pytest.mark.integration
class TestOnRedis:
    """Against a real server."""

    async def test_a_noted_user_is_read_back(self, under_way: UnfinishedErasures) -> None:
        odd = noted('zoë "\n日本/%#')
        assert await under_way.every() == []
        await under_way.note([ANN, odd])
        assert {each.user: each for each in await under_way.every()} == {"ann": ANN, odd.user: odd}
        assert await work_of(under_way) is WorkState.FREE
        await under_way.note([])

    async def test_one_is_at_work_at_a_time(self, under_way: UnfinishedErasures) -> None:
        await under_way.note([ANN, BOB])
        async with under_way.held([ANN], asked=False) as mine:
            assert mine == [ANN]
            assert await work_of(under_way) is WorkState.AT_WORK
            assert await taken(under_way, ANN, BOB, asked=True) == [BOB]
        assert await taken(under_way, ANN) == [ANN]

    async def test_one_of_many_takes_it_up(self, under_way: UnfinishedErasures) -> None:
        await under_way.note([ANN])
        async with AsyncExitStack() as stack:
            found = [await stack.enter_async_context(under_way.held([ANN], asked=False)) for _ in range(10)]
        assert found == [[ANN], *[[]] * 9]

    async def test_a_killed_worker_is_replaced_after_its_lease(self, under_way: UnfinishedErasures, time: Time) -> None:
        await under_way.note([ANN])
        killed = under_way.held([ANN], asked=False)
        assert await killed.__aenter__() == [ANN]
        time.s += LEASE_S - 1
        assert await taken(under_way, ANN, asked=True) == []
        time.s += 1.001
        assert await work_of(under_way) is WorkState.FREE
        async with under_way.held([ANN], asked=False) as mine:
            assert mine == [ANN]
            await killed.__aexit__(None, None, None)
            assert await work_of(under_way) is WorkState.AT_WORK, "one that was only slow leaves it to the other"

    async def test_an_erasure_that_kills_workers_is_retried_more_rarely(self, under_way: UnfinishedErasures, time: Time) -> None:
        await under_way.note([ANN])
        pauses: list[float] = []
        killed = [under_way.held([ANN], asked=False) for _ in range(10)]
        for each in killed:
            assert await each.__aenter__() == [ANN]
            killed_at = time.s
            while await work_of(under_way) is not WorkState.FREE:
                time.s += LEASE_S / 2
            pauses.append(time.s - killed_at)
        assert pauses[:4] == [LEASE_S, LEASE_S * 2, LEASE_S * 4, LEASE_S * 8]
        assert pauses[-1] == LONGEST_PAUSE_S

    async def test_running_work_renews_its_lease(
        self, redis: GuardedRedis, under_way: UnfinishedErasures, time: Time, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("control.unfinished_erasures._RENEW_S", 0.01)
        await under_way.note([ANN])
        async with asyncio.timeout(60), under_way.held([ANN], asked=False):
            time.s += LEASE_S - 1
            later = UnfinishedErasures(redis=redis, now_ms=lambda: time() + 2000)
            while await work_of(later) is not WorkState.AT_WORK:  # noqa: ASYNC110 - Redis is asked, as another process would
                await asyncio.sleep(0)

    async def test_an_orderly_stop_releases_the_lease_immediately(self, under_way: UnfinishedErasures) -> None:
        await under_way.note([ANN])
        has_begun = asyncio.Event()

        async def work() -> None:
            async with under_way.held([ANN], asked=False):
                has_begun.set()
                await asyncio.Event().wait()

        working = asyncio.create_task(work())
        await has_begun.wait()
        working.cancel()
        await asyncio.wait([working])
        assert working.cancelled()
        assert await taken(under_way, ANN) == [ANN]

    async def test_a_failed_erasure_is_retried_later(self, under_way: UnfinishedErasures, time: Time) -> None:
        await under_way.note([ANN])
        for tries in range(3):
            await fail(under_way)
            pause = LEASE_S * 2**tries
            time.s += pause - 1
            assert await work_of(under_way) is WorkState.PUT_OFF
            assert await taken(under_way, ANN) == []
            time.s += 1.001
        await fail(under_way)
        await fail(under_way, asked=True)
        time.s += LEASE_S + 0.001
        assert await taken(under_way, ANN) == [ANN], "the waiting process counts from the start again"

    async def test_a_finished_erasure_is_forgotten(self, under_way: UnfinishedErasures, redis: GuardedRedis, client: Redis) -> None:
        await under_way.note([ANN, BOB])
        async with under_way.held([ANN, BOB], asked=False):
            await under_way.forget({ANN.subject: NOON, BOB.subject: NOON + SECOND, subject_of("acme", "nobody"): NOON})
        assert await taken(under_way, ANN) == [], "who comes late does not erase it again"
        assert await under_way.every() == []
        assert [each async for each in client.scan_iter(match=redis.prefix + "*")] == []

    async def test_a_name_requested_during_the_work_is_kept(self, under_way: UnfinishedErasures) -> None:
        again = noted(at=NOON + SECOND)
        await under_way.note([ANN])
        async with under_way.held([ANN], asked=False):
            await under_way.note([again])
            assert await work_of(under_way) is WorkState.AT_WORK
            await under_way.forget({ANN.subject: NOON})
        assert await taken(under_way, *await under_way.every()) == [again]

    async def test_a_missing_note_is_written_on_request(self, under_way: UnfinishedErasures) -> None:
        """Redis was unavailable a moment ago."""
        async with under_way.held([ANN], asked=True) as mine:
            assert mine == [ANN]
            assert await under_way.every() == [ANN]

    async def test_more_than_a_script_takes(self, under_way: UnfinishedErasures) -> None:
        many = [noted(f"user-{number}") for number in range(1001)]
        await under_way.note(many)
        async with under_way.held(many, asked=False) as mine:
            assert mine == many
            assert set((await under_way.look([each.subject for each in many])).values()) == {WorkState.AT_WORK}
        await under_way.forget({each.subject: NOON for each in many})
        assert await under_way.every() == []

    async def test_a_rebuild_leaves_the_names(self, under_way: UnfinishedErasures, redis: GuardedRedis, client: Redis) -> None:
        await under_way.note([ANN])
        await client.set(redis.key(KeyFamily.OPEN, "s"), "1")
        assert await redis.drop_keys(but=KEYS) == 1
        assert await under_way.every() == [ANN]

    async def test_an_unreadable_entry_is_kept(self, under_way: UnfinishedErasures, redis: GuardedRedis, client: Redis) -> None:
        await under_way.note([ANN, BOB])
        await client.hset(redis.key(KeyFamily.ERASING, BOB.subject), "erasure", '{"of": "a newer Varve"}')
        assert await under_way.every() == [ANN]
