"""Attempts of a record over hours: the keyed driver with the settings of a deployment, in virtual time."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from models.errors import ModelError, OverloadedError, TransientModelError
from models.llm.limiter import Limiter
from models.llm.limits import Limits
from runtime.kafka import OutgoingRecord
from runtime.redis.client import GuardedRedis
from runtime.resilience import Backoff, CircuitBreaker
from runtime.settings import DeliverySettings
from streams.engine.failures.dependency_health import DependencyHealth, RetryPolicy
from streams.engine.keyed.attempts import HealthCheck
from streams.engine.records import ConsumedRecord
from streams.errors import transient
from tests.streams.engine.keyed_harness import DriverHarness, reasons
from tests.streams.engine.virtual_time import run_in_virtual_time

CALL_S = 2.0
HOUR_S = 3600.0

Call = Callable[[int], Awaitable[None]]
"""Response of an endpoint to a record, by its offset."""


class Deployment(DriverHarness):
    """A keyed driver with the retries and breakers of a deployment, before an endpoint."""

    def __init__(self, call: Call, serves: HealthCheck | None) -> None:
        super().__init__(serves=serves)
        self._call = call
        delivery = DeliverySettings()
        backoff = Backoff(
            initial_interval_s=delivery.retry_initial_interval_s,
            backoff_coefficient=delivery.retry_backoff_coefficient,
            maximum_interval_s=delivery.retry_maximum_interval_s,
        )
        self.context.task.dependencies = DependencyHealth(
            metrics=self.context.task.metrics,
            retry_policy=RetryPolicy(backoff=backoff, maximum_attempts=delivery.retry_maximum_attempts),
            new_breaker=lambda: CircuitBreaker(failures=delivery.breaker_failures, reset_s=delivery.breaker_reset_s),
        )
        self.maximum_attempts = delivery.retry_maximum_attempts

    @property
    def tries(self) -> Counter[int]:
        return Counter(self.handled)

    @property
    def extracted(self) -> set[int]:
        return {int(each.value or b"") for each in self.sent if each.topic == "out"}

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        self.handled.append(record.offset)
        try:
            await self._call(record.offset)
        except TransientModelError as error:
            raise transient(error) from error
        return [OutgoingRecord("out", record.key, b"%d" % record.offset)]

    async def put_every(self, interval_s: float, offsets: range) -> None:
        """Each under its own key."""
        for offset in offsets:
            await asyncio.sleep(interval_s)
            await self.put(offset, key=b"%d" % offset)


@asynccontextmanager
async def deployed(call: Call, serves: HealthCheck | None = None) -> AsyncIterator[Deployment]:
    harness = Deployment(call, serves)
    await harness.assign(0)
    try:
        yield harness
    finally:
        await harness.driver.stop()


async def done(harness: Deployment, *, within_s: float) -> None:
    """Waits until nothing is left to do; `until` would look for hours every two milliseconds."""
    async with asyncio.timeout(within_s):
        while harness.driver.backlog:  # noqa: ASYNC110 - the driver has no event for it
            await asyncio.sleep(10)
    assert harness.driver.failure is None


def failing_for(*offsets: int, error: ModelError) -> Call:
    """An endpoint that fails some records, whatever it is asked first, and takes every other."""

    async def call(offset: int) -> None:
        await asyncio.sleep(CALL_S)
        if offset in offsets:
            raise error

    return call


@pytest.mark.parametrize("interval_s", [1.0, 8.0, 30.0, 600.0])
@pytest.mark.parametrize("broken", [1, 3])
def test_a_record_failing_alone_is_given_up(monkeypatch: pytest.MonkeyPatch, interval_s: float, broken: int) -> None:
    async def scenario() -> None:
        async with deployed(failing_for(*range(broken), error=TransientModelError("500"))) as harness:
            for offset in range(broken):
                await harness.put(offset, key=b"user-%d" % offset)
                await harness.put(broken + offset, key=b"user-%d" % offset)
            served = iter(range(100, 200))
            while len(reasons(harness.sent)) < broken:
                await asyncio.sleep(interval_s)
                await harness.put(next(served), key=b"others")
            await done(harness, within_s=HOUR_S)
            assert reasons(harness.sent) == [b"gave_up"] * broken
            assert harness.extracted == {*range(broken, 2 * broken), *range(100, next(served))}
            assert all(harness.tries[offset] >= harness.maximum_attempts for offset in range(broken))

    run_in_virtual_time(scenario(), monkeypatch)


def test_a_lone_record_ends_while_pings_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        async def serves(dependency: str, tenant: str) -> bool:
            await asyncio.sleep(CALL_S)
            return (dependency, tenant) == ("llm", "acme")

        async with deployed(failing_for(0, error=TransientModelError("500")), serves) as harness:
            for offset in range(3):
                await harness.put(offset, key=b"the-only-user")
            await done(harness, within_s=600)
            assert (reasons(harness.sent), harness.extracted) == ([b"gave_up"], {1, 2})
            assert harness.tries[0] > harness.maximum_attempts

    run_in_virtual_time(scenario(), monkeypatch)


@pytest.mark.parametrize("records", [1, 3, 40])
def test_an_outage_of_hours_gives_up_no_record(monkeypatch: pytest.MonkeyPatch, records: int) -> None:
    async def scenario() -> None:
        ends_at = time.monotonic() + 3 * HOUR_S

        async def call(offset: int) -> None:
            await asyncio.sleep(CALL_S)
            if time.monotonic() < ends_at:
                raise TransientModelError("away")

        async def serves(dependency: str, tenant: str) -> bool:
            return time.monotonic() >= ends_at

        async with deployed(call, serves) as harness:
            await harness.put_all(range(records))
            await done(harness, within_s=4 * HOUR_S)
            assert (reasons(harness.sent), harness.extracted) == ([], set(range(records)))

    run_in_virtual_time(scenario(), monkeypatch)


def test_a_record_failing_like_all_others_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        ends_at = time.monotonic() + HOUR_S

        async def call(offset: int) -> None:
            await asyncio.sleep(CALL_S)
            if time.monotonic() < ends_at:
                raise TransientModelError("too busy for more than a word")

        async def serves(dependency: str, tenant: str) -> bool:
            return True

        async with deployed(call, serves) as harness:
            await harness.put_all(range(20))
            await done(harness, within_s=2 * HOUR_S)
            assert (reasons(harness.sent), harness.extracted) == ([], set(range(20)))

    run_in_virtual_time(scenario(), monkeypatch)


@pytest.mark.parametrize("interval_s", [20.0, 300.0])
@pytest.mark.parametrize("up_s", [30.0, 120.0])
def test_consecutive_outages_give_up_no_record(monkeypatch: pytest.MonkeyPatch, interval_s: float, up_s: float) -> None:
    async def scenario() -> None:
        def is_unavailable() -> bool:
            return time.monotonic() % 600 > up_s

        async def call(offset: int) -> None:
            await asyncio.sleep(CALL_S)
            if is_unavailable():
                raise TransientModelError("away")

        async def serves(dependency: str, tenant: str) -> bool:
            return not is_unavailable()

        async with deployed(call, serves) as harness:
            await harness.put_every(interval_s, range(int(2 * HOUR_S / interval_s)))
            await done(harness, within_s=3 * HOUR_S)
            assert reasons(harness.sent) == []

    run_in_virtual_time(scenario(), monkeypatch)


def limited(**limits: int) -> Limiter:
    redis = GuardedRedis(client=None, prefix="p:")
    return Limiter(endpoint="e", limits=Limits(concurrency=8, **limits), redis=redis, queue_timeout_s=60, lease_s=30)


@pytest.mark.parametrize("limits", [{"tokens_per_minute": 10_000}, {"tokens_per_minute": 30_000}, {"requests_per_minute": 2}])
def test_a_record_waiting_for_a_rate_limit_is_kept(monkeypatch: pytest.MonkeyPatch, limits: dict[str, int]) -> None:
    async def scenario() -> None:
        limiter = limited(**limits)

        async def call(offset: int) -> None:
            async with limiter.lease(7500) as lease:
                await asyncio.sleep(6 * random.uniform(0.8, 1.2))
                lease.used = 4400

        async with deployed(call) as harness:
            await harness.put_all(range(50))
            await done(harness, within_s=3 * HOUR_S)
            assert (reasons(harness.sent), harness.extracted) == ([], set(range(50)))

    run_in_virtual_time(scenario(), monkeypatch)


@pytest.mark.parametrize("retry_after_s", [None, 5.0, 20.0])
def test_a_record_answered_with_429_is_kept(monkeypatch: pytest.MonkeyPatch, retry_after_s: float | None) -> None:
    async def scenario() -> None:
        taken: list[float] = []

        async def call(offset: int) -> None:
            await asyncio.sleep(0.2)
            now = time.monotonic()
            if len([each for each in taken if each > now - 60]) >= 2:
                raise OverloadedError("429", retry_after_s=retry_after_s)
            taken.append(now)
            await asyncio.sleep(CALL_S)

        async with deployed(call) as harness:
            await harness.put_all(range(50))
            await done(harness, within_s=3 * HOUR_S)
            assert (reasons(harness.sent), harness.extracted) == ([], set(range(50)))
            assert max(harness.tries.values()) > harness.maximum_attempts

    run_in_virtual_time(scenario(), monkeypatch)
