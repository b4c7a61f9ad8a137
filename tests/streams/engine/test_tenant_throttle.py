"""When a tenant's records are parked, and when they resume."""

import pytest

from runtime.kafka import TopicPartition
from streams.engine.keyed.scheduler import Scheduler
from streams.engine.keyed.tenant_throttle import TenantThrottle
from streams.errors import TransientError

PARTITION = TopicPartition("windows", 0)


class ThrottleHarness:
    """A throttle that parks after a minute, on a clock of the test's."""

    def __init__(self) -> None:
        self.now = 0.0
        scheduler: Scheduler[str] = Scheduler(slots=1, tenant_share=1.0, max_in_flight=10, max_span=10)
        scheduler.assign({PARTITION}, 1)
        for offset, tenant in enumerate(("acme", "globex")):
            scheduler.deliver(PARTITION, offset, key=offset, tenant=tenant, record=tenant)
        self.throttle = TenantThrottle(scheduler=scheduler, on_resumed=lambda: None, park_after_s=60.0, clock=lambda: self.now)

    def refuse(self, at: float, *, tenant: str = "acme", retry_after_s: float | None = None) -> bool:
        self.now = at
        failure = TransientError("wait", dependency="budget", retry_after_s=retry_after_s, counts_as_attempt=False)
        return self.throttle.pause(tenant, failure)


@pytest.mark.parametrize(("retry_after_s", "parks"), [(59.9, False), (60.0, True), (86_400.0, True), (None, False)])
async def test_a_long_wait_by_its_own_word_parks(retry_after_s: float | None, parks: bool) -> None:
    harness = ThrottleHarness()
    assert harness.refuse(0.0, retry_after_s=retry_after_s) == parks
    assert harness.throttle.parks("acme") == parks
    assert not harness.throttle.parks("globex")


async def test_a_wait_without_a_word_parks_in_time() -> None:
    harness = ThrottleHarness()
    assert [harness.refuse(at) for at in (10.0, 40.0, 69.9, 70.0, 75.0)] == [False, False, False, True, False]
    assert harness.throttle.parks("acme")


async def test_a_record_that_gets_through_ends_it() -> None:
    harness = ThrottleHarness()
    harness.refuse(0.0)
    harness.throttle.on_handled("acme")
    assert not harness.refuse(61.0), "its wait starts again"
    assert harness.refuse(121.0)
    harness.throttle.on_handled("acme")
    assert not harness.throttle.parks("acme")
    assert harness.refuse(122.0, retry_after_s=3600.0), "it begins again"
