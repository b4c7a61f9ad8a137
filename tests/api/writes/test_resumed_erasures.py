"""Two services on one Redis: one continues the erasures of the other, which has stopped."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest

from api.writes.erasures import Erasures
from control.tenants import TenantDirectory
from control.unfinished_erasures import UnfinishedErasures
from runtime.clocks import ManualClock
from runtime.errors import KafkaUnavailableError
from runtime.redis.client import GuardedRedis
from streams.errors import ErasureUnfinishedError
from tests.api.held_eraser import STORE, HeldEraser, asked_for, now_begun, now_done
from tests.control_log import known_tenants
from tests.erased_users import ASKED_AT
from tests.streams.harness import until

pytestmark = pytest.mark.integration

ANN, BOB = (asked_for("acme", user, by="operator o") for user in ("ann", "bob"))


class Process:
    """One of the services."""

    def __init__(self, redis: GuardedRedis, tenants: TenantDirectory) -> None:
        self.eraser = HeldEraser()
        self.clock = ManualClock(ASKED_AT)
        self.erasures = Erasures(eraser=self.eraser, store=STORE, redis=redis, tenants=tenants, clock=self.clock)

    async def is_at(self, count: int) -> None:
        """Returns when it has begun so many runs."""
        await until(lambda: len(self.eraser.calls) == count)


@pytest.fixture
def tenants() -> TenantDirectory:
    return known_tenants({"acme": "companion"})


@pytest.fixture
async def processes(redis: GuardedRedis, tenants: TenantDirectory) -> AsyncIterator[tuple[Process, Process]]:
    async with AsyncExitStack() as stack:
        both = Process(redis, tenants), Process(redis, tenants)
        for each in both:
            stack.push_async_callback(each.erasures.close)
        yield both


async def running(process: Process, tenants: TenantDirectory) -> set[str]:
    return await process.erasures.running(tenants.draft().erasures("acme"))


async def test_another_process_resumes_an_unfinished_erasure(
    processes: tuple[Process, Process], tenants: TenantDirectory, redis: GuardedRedis
) -> None:
    asked, other = processes
    for each in (ANN, BOB):
        assert await asked.erasures.note(each)
        now_begun(tenants, "acme", each.user)
        asked.erasures.start(each)
    await asked.is_at(1)
    await other.erasures.resume_unfinished()
    assert [other.erasures.is_here("acme", each.subject) for each in (ANN, BOB)] == [False, False], "bob is next where ann is"
    assert await running(other, tenants) == {ANN.subject}
    await asked.erasures.close()
    assert await running(other, tenants) == set()
    looking = asyncio.create_task(other.erasures.look())
    await other.is_at(1)
    looking.cancel()
    ((tenant, users, by),) = other.eraser.calls
    assert (tenant, {*users}, by) == ("acme", {"ann", "bob"}, "operator o")
    assert await running(asked, tenants) == {ANN.subject, BOB.subject}
    other.eraser.may_go_on.release()
    await until(lambda: not other.erasures.is_here("acme", ANN.subject))
    assert len(await UnfinishedErasures(redis=redis).every()) == 2, "the process that writes the receipt forgets them"


async def test_a_name_without_an_erasure_is_removed(
    processes: tuple[Process, Process], tenants: TenantDirectory, redis: GuardedRedis
) -> None:
    process, _ = processes
    under_way = UnfinishedErasures(redis=redis)
    await under_way.note([ANN, BOB])
    now_done(tenants, "acme", "ann")
    await process.erasures.resume_unfinished()
    assert await under_way.every() == [BOB], "that may be about to begin"
    process.clock.advance(timedelta(hours=2))
    await process.erasures.resume_unfinished()
    assert await under_way.every() == []
    assert process.eraser.calls == []


async def test_an_erasure_that_a_newer_varve_wrote_is_left(
    processes: tuple[Process, Process], tenants: TenantDirectory, redis: GuardedRedis
) -> None:
    process, _ = processes
    under_way = UnfinishedErasures(redis=redis)
    await under_way.note([ANN, BOB])
    for each in (ANN, BOB):
        now_begun(tenants, "acme", each.user)
    state = tenants._view.state
    state.take(state.erasures[ANN.subject].key, b"{", offset=state.position)
    process.clock.advance(timedelta(hours=2))
    await process.erasures.resume_unfinished()
    await process.is_at(1)
    assert process.eraser.calls == [("acme", ["bob"], "operator o")]
    assert len(await under_way.every()) == 2


async def test_an_interrupted_erasure_waits_unless_requested_again(processes: tuple[Process, Process], tenants: TenantDirectory) -> None:
    first, second = processes
    first.eraser.problem = ErasureUnfinishedError("sessions has 3 records before it")
    await first.erasures.note(ANN)
    now_begun(tenants, "acme", "ann")
    first.erasures.start(ANN)
    first.eraser.may_go_on.release()
    await until(lambda: first.erasures.problem_of(ANN.subject) is not None)
    await second.erasures.resume_unfinished()
    assert not second.erasures.is_here("acme", ANN.subject)
    assert await running(second, tenants) == set()
    second.erasures.start(ANN)
    await second.is_at(1)


async def test_a_fenced_process_leaves_erasures_to_others(processes: tuple[Process, Process], tenants: TenantDirectory) -> None:
    stranger, other = processes
    stranger.eraser.problem = KafkaUnavailableError("not authorized")
    await stranger.erasures.note(ANN)
    now_begun(tenants, "acme", "ann")
    await stranger.erasures.resume_unfinished()
    stranger.eraser.may_go_on.release()
    await until(lambda: stranger.erasures.problem_of(ANN.subject) is not None)
    await stranger.erasures.resume_unfinished()
    assert not stranger.erasures.is_here("acme", ANN.subject)
    await other.erasures.resume_unfinished()
    await other.is_at(1)
    await other.erasures.close()
    stranger.clock.advance(timedelta(minutes=16))
    await stranger.erasures.resume_unfinished()
    await stranger.is_at(2)


async def test_after_redis_data_loss_only_requests_resume_erasures(
    processes: tuple[Process, Process], tenants: TenantDirectory, redis: GuardedRedis
) -> None:
    first, second = processes
    await first.erasures.note(ANN)
    now_begun(tenants, "acme", "ann")
    first.erasures.start(ANN)
    await first.is_at(1)
    await redis.drop_keys()
    await first.erasures.close()
    await second.erasures.resume_unfinished()
    assert second.eraser.calls == []
    await second.erasures.note(ANN)
    second.erasures.start(ANN)
    await second.is_at(1)
