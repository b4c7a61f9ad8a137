"""Users whose erasures are requested during another erasure wait, and are erased together; here without Redis."""

import asyncio
from datetime import timedelta

import pytest

from api.writes.erasures import Erasures
from control.erasure import subject_of
from control.tenants import TenantDirectory
from runtime.clocks import ManualClock
from runtime.errors import RedisUnavailableError
from runtime.redis.client import GuardedRedis
from streams.errors import ErasureUnfinishedError
from tests.api.held_eraser import STORE, HeldEraser, asked_for, now_done
from tests.control_log import known_tenants
from tests.erased_users import ASKED_AT
from tests.streams.harness import until


@pytest.fixture
def eraser() -> HeldEraser:
    return HeldEraser()


@pytest.fixture
def tenants() -> TenantDirectory:
    return known_tenants(dict.fromkeys(("acme", "umbrella"), "companion"))


def erasing(eraser: HeldEraser | None, tenants: TenantDirectory) -> Erasures:
    redis = GuardedRedis(client=None, prefix="t:")
    return Erasures(eraser=eraser, store=STORE, redis=redis, tenants=tenants, clock=ManualClock(ASKED_AT))


@pytest.fixture
def erasures(eraser: HeldEraser, tenants: TenantDirectory) -> Erasures:
    return erasing(eraser, tenants)


def running(erasures: Erasures, tenant: str, *users: str) -> list[bool]:
    return [erasures.is_here(tenant, subject_of(tenant, user)) for user in users]


async def begun(eraser: HeldEraser, count: int) -> None:
    await until(lambda: len(eraser.calls) == count)


async def ended(erasures: Erasures, tenant: str, *users: str) -> None:
    await until(lambda: not any(running(erasures, tenant, *users)))


async def test_erasures_requested_during_a_run_are_batched(erasures: Erasures, eraser: HeldEraser) -> None:
    erasures.start(asked_for("acme", "ann", by="x"))
    await begun(eraser, 1)
    for user in ("bob", "eve"):
        erasures.start(asked_for("acme", user, by="x"))
    assert running(erasures, "acme", "ann", "bob", "eve", "nobody") == [True, True, True, False]
    eraser.may_go_on.release()
    await begun(eraser, 2)
    assert running(erasures, "acme", "ann", "bob", "eve") == [False, True, True]
    eraser.may_go_on.release()
    await ended(erasures, "acme", "bob", "eve")
    assert eraser.calls == [("acme", ["ann"], "x"), ("acme", ["bob", "eve"], "x")]


async def test_erasures_of_different_operators_run_separately(erasures: Erasures, eraser: HeldEraser) -> None:
    for user, by in (("ann", "x"), ("bob", "y"), ("eve", "x")):
        erasures.start(asked_for("acme", user, by=by))
    eraser.may_go_on.release()
    eraser.may_go_on.release()
    await ended(erasures, "acme", "ann", "bob", "eve")
    assert eraser.calls == [("acme", ["ann", "eve"], "x"), ("acme", ["bob"], "y")]


async def test_a_tenant_waits_for_no_other(erasures: Erasures, eraser: HeldEraser) -> None:
    erasures.start(asked_for("acme", "ann", by="x"))
    erasures.start(asked_for("umbrella", "ann", by="x"))
    await begun(eraser, 2)
    assert running(erasures, "umbrella", "ann") == [True]
    await erasures.close()


async def test_a_user_requested_again_is_erased_again(erasures: Erasures, eraser: HeldEraser) -> None:
    """Messages that the user sends meanwhile may be after the offsets of a run that has begun."""
    erasures.start(asked_for("acme", "ann", by="x"))
    await begun(eraser, 1)
    erasures.start(asked_for("acme", "ann", by="x"))
    eraser.may_go_on.release()
    await begun(eraser, 2)
    assert running(erasures, "acme", "ann") == [True]
    eraser.may_go_on.release()
    await ended(erasures, "acme", "ann")
    assert eraser.calls == [("acme", ["ann"], "x")] * 2


async def test_an_erased_user_can_write_again(erasures: Erasures, eraser: HeldEraser) -> None:
    for _ in range(2):
        erasures.start(asked_for("acme", "ann", by="x"))
        eraser.may_go_on.release()
        await ended(erasures, "acme", "ann")
    assert eraser.calls == [("acme", ["ann"], "x")] * 2


@pytest.mark.parametrize(
    ("error", "reason"),
    [(ErasureUnfinishedError("sessions has 3 records before it"), "sessions has 3"), (RuntimeError("bug"), "a defect in Varve")],
)
async def test_a_failed_batch_reports_the_reason(erasures: Erasures, eraser: HeldEraser, error: Exception, reason: str) -> None:
    eraser.problem = error
    erasures.start(asked_for("acme", "ann", by="x"))
    await begun(eraser, 1)
    erasures.start(asked_for("acme", "bob", by="x"))
    eraser.may_go_on.release()
    await begun(eraser, 2)
    assert reason in str(erasures.problem_of(subject_of("acme", "ann")))
    assert erasures.problem_of(subject_of("acme", "bob")) is None
    eraser.problem = None
    eraser.may_go_on.release()
    await ended(erasures, "acme", "bob")
    erasures.start(asked_for("acme", "ann", by="x"))
    assert erasures.problem_of(subject_of("acme", "ann")) is None, "it is tried again"
    await erasures.close()


async def test_running_erasures_are_cancelled_on_close(erasures: Erasures, eraser: HeldEraser) -> None:
    erasures.start(asked_for("acme", "ann", by="x"))
    await begun(eraser, 1)
    erasures.start(asked_for("acme", "bob", by="x"))
    await erasures.close()
    assert running(erasures, "acme", "ann", "bob") == [False, False]
    assert len(eraser.calls) == 1


async def test_a_swallowed_cancellation_holds_up_no_stop(erasures: Erasures, eraser: HeldEraser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.background._CANCEL_AGAIN_S", 0.01)
    eraser.swallows = 2
    erasures.start(asked_for("acme", "ann", by="x"))
    await begun(eraser, 1)
    try:
        async with asyncio.timeout(60):
            await erasures.close()
    finally:
        eraser.may_go_on.release()
    assert eraser.swallows == 0


async def test_an_erasure_completed_elsewhere_is_skipped(erasures: Erasures, eraser: HeldEraser, tenants: TenantDirectory) -> None:
    for user in ("ann", "bob"):
        erasures.start(asked_for("acme", user, by="x"))
    now_done(tenants, "acme", "ann")
    eraser.may_go_on.release()
    await ended(erasures, "acme", "ann", "bob")
    assert eraser.calls == [("acme", ["bob"], "x")]
    erasures.start(asked_for("acme", "ann", by="x", at=ASKED_AT + timedelta(seconds=1)))
    await begun(eraser, 2)
    await erasures.close()


async def test_without_redis_no_other_process_resumes(erasures: Erasures) -> None:
    assert not await erasures.note(asked_for("acme", "ann", by="x"))
    with pytest.raises(RedisUnavailableError):
        await erasures.resume_unfinished()
    looking = asyncio.create_task(erasures.look())
    await asyncio.sleep(0.05)
    assert not looking.done(), "it looks again"
    looking.cancel()
    await erasures.close()


async def test_a_process_without_an_eraser_begins_nothing(tenants: TenantDirectory) -> None:
    erasures = erasing(None, tenants)
    erasures.start(asked_for("acme", "ann", by="x"))
    assert not erasures.is_equipped
    assert running(erasures, "acme", "ann") == [False]
    await erasures.close()
