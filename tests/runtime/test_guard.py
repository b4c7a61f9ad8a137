"""A guarded dependency: the waits when it hangs, the effect of one bad call, and its recovery."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from memory.errors import MalformedRecordError, VarveError
from runtime.errors import RedisUnavailableError
from runtime.guard import Guard

DEADLINE_S = 60
TIMEOUT_S = 0.1


class Dependency:
    """Answers, hangs, or is unavailable, as a test sets it; separately for calls and for the guard's probes."""

    def __init__(self) -> None:
        self.answers = asyncio.Event()
        self.answers.set()
        self.is_unavailable = False
        self.calls = 0
        self.called: asyncio.Queue[None] = asyncio.Queue()
        self.questions = 0

    async def call(self) -> str:
        self.calls += 1
        self.called.put_nowait(None)
        return await self._answer()

    async def ask(self) -> str:
        self.questions += 1
        return await self._answer()

    async def _answer(self) -> str:
        if self.is_unavailable:
            raise RedisUnavailableError("away")
        await self.answers.wait()
        return "answer"


@asynccontextmanager
async def guarded(dependency: Dependency, *, timeout_s: float = TIMEOUT_S) -> AsyncIterator[Guard]:
    guard = Guard(
        name="it",
        probe=dependency.ask,
        outage=RedisUnavailableError,
        unavailable=RedisUnavailableError,
        timeout_s=timeout_s,
        probe_timeout_s=TIMEOUT_S,
        retry_s=0.01,
    )
    async with asyncio.timeout(DEADLINE_S):
        yield guard
    await guard.close()


async def opened(guard: Guard, is_open: bool = True) -> None:
    while guard.is_open is not is_open:  # noqa: ASYNC110 - the guard has no event
        await asyncio.sleep(0.001)


async def test_an_answer_and_a_refusal_pass_through() -> None:
    async def refuse() -> None:
        raise MalformedRecordError("no")

    dependency = Dependency()
    async with guarded(dependency) as guard:
        assert await guard.run(dependency.call) == "answer"
        with pytest.raises(MalformedRecordError):
            await guard.run(refuse)
    assert dependency.questions == 0


async def test_only_the_first_caller_waits_for_a_hanging_dependency() -> None:
    dependency = Dependency()
    dependency.answers.clear()
    async with guarded(dependency) as guard:
        with pytest.raises(RedisUnavailableError, match="did not answer within"):
            await guard.run(dependency.call)
        await opened(guard)
        for _ in range(100):
            with pytest.raises(RedisUnavailableError, match="it is unavailable"):
                await guard.run(dependency.call)
    assert dependency.calls == 1


async def test_waiting_callers_fail_when_an_outage_is_detected() -> None:
    dependency = Dependency()
    dependency.answers.clear()
    async with guarded(dependency, timeout_s=1000) as guard:
        waiting = [asyncio.create_task(guard.run(dependency.call)) for _ in range(5)]
        for _ in range(5):
            await dependency.called.get()
        guard.suspect()
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert {str(each) for each in outcomes} == {"it became unavailable while this call was pending"}


async def test_one_failing_call_is_no_outage_for_others() -> None:
    async def fail() -> None:
        raise RedisUnavailableError("of this call alone")

    async def hang() -> None:
        await asyncio.Event().wait()

    dependency = Dependency()
    async with guarded(dependency) as guard:
        for number, bad in enumerate((fail, hang), 1):
            with pytest.raises(RedisUnavailableError):
                await guard.run(bad)
            while dependency.questions < number:
                assert await guard.run(dependency.call) == "answer"
                await asyncio.sleep(0)
        assert not guard.is_open


async def test_recovery_is_detected_without_a_callers_trial() -> None:
    dependency = Dependency()
    dependency.is_unavailable = True
    with capture_logs() as lines:
        async with guarded(dependency) as guard:
            with pytest.raises(RedisUnavailableError):
                await guard.run(dependency.call)
            await opened(guard)
            dependency.is_unavailable = False
            await opened(guard, False)
            assert await guard.run(dependency.call) == "answer"
            assert dependency.calls == 2
            # A second outage is found like the first.
            dependency.is_unavailable = True
            with pytest.raises(RedisUnavailableError):
                await guard.run(dependency.call)
            await opened(guard)
    assert [line["event"] for line in lines] == ["dependency_lost", "dependency_recovered", "dependency_lost"]


async def test_a_check_that_hangs_opens_it_without_callers() -> None:
    dependency = Dependency()
    async with guarded(dependency) as guard:
        await guard.check()
        dependency.answers.clear()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(TIMEOUT_S):
                await guard.check()
        await opened(guard)
        with pytest.raises(VarveError):
            await guard.check()


async def test_a_leaving_caller_cancels_its_call() -> None:
    dependency = Dependency()
    dependency.answers.clear()
    left = asyncio.Event()

    async def call() -> None:
        try:
            await dependency.call()
        finally:
            left.set()

    async with guarded(dependency, timeout_s=1000) as guard:
        caller = asyncio.create_task(guard.run(call))
        await dependency.called.get()
        caller.cancel()
        await left.wait()
    assert dependency.questions == 0


async def test_a_cancelled_wait_of_the_client_is_an_outage() -> None:
    async def cancelled_inside() -> None:
        inner: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        inner.cancel()
        await inner

    async with guarded(Dependency()) as guard:
        with pytest.raises(RedisUnavailableError, match="became unavailable while this call was pending"):
            await guard.run(cancelled_inside)


async def test_a_deadline_of_the_caller_is_no_outage() -> None:
    dependency = Dependency()
    dependency.answers.clear()
    async with guarded(dependency, timeout_s=1000) as guard:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await guard.run(dependency.call)
        assert (guard.is_open, dependency.questions) == (False, 0)
