"""Users who are asked for while others are erased wait, and are erased together."""

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest

from retrieval.service.erasures import Erasures
from retrieval.stores.port import MemoryStore
from runtime.control.erasure import subject_of
from runtime.redis import GuardedRedis
from streams.errors import ErasureUnfinishedError
from tests.streams.harness import until

STORE, REDIS = cast(MemoryStore, "the store"), cast(GuardedRedis, "redis")


class HeldEraser:
    """Takes note of whom it is told to erase, and is done when it is let go."""

    def __init__(self) -> None:
        self.told: list[tuple[str, list[str], str]] = []
        self.may_go_on = asyncio.Semaphore(0)
        self.problem: Exception | None = None

    async def __call__(self, tenant: str, users: Sequence[str], *, by: str, store: MemoryStore, redis: GuardedRedis) -> None:
        assert (store, redis) == (STORE, REDIS)
        self.told.append((tenant, [*users], by))
        await self.may_go_on.acquire()
        if self.problem is not None:
            raise self.problem


@pytest.fixture
def eraser() -> HeldEraser:
    return HeldEraser()


@pytest.fixture
def erasures(eraser: HeldEraser) -> Erasures:
    return Erasures(eraser=eraser, store=STORE, redis=REDIS)


def running(erasures: Erasures, tenant: str, *users: str) -> list[bool]:
    return [erasures.is_running(tenant, subject_of(tenant, user)) for user in users]


async def begun(eraser: HeldEraser, count: int) -> None:
    await until(lambda: len(eraser.told) == count)


async def ended(erasures: Erasures, tenant: str, *users: str) -> None:
    await until(lambda: not any(running(erasures, tenant, *users)))


async def test_who_is_asked_for_meanwhile_goes_together(erasures: Erasures, eraser: HeldEraser) -> None:
    erasures.start("acme", "ann", by="x")
    await begun(eraser, 1)
    for user in ("bob", "eve"):
        erasures.start("acme", user, by="x")
    assert running(erasures, "acme", "ann", "bob", "eve", "nobody") == [True, True, True, False]
    eraser.may_go_on.release()
    await begun(eraser, 2)
    assert running(erasures, "acme", "ann", "bob", "eve") == [False, True, True]
    eraser.may_go_on.release()
    await ended(erasures, "acme", "bob", "eve")
    assert eraser.told == [("acme", ["ann"], "x"), ("acme", ["bob", "eve"], "x")]


async def test_what_one_operator_asks_for_is_no_others(erasures: Erasures, eraser: HeldEraser) -> None:
    for user, by in (("ann", "x"), ("bob", "y"), ("eve", "x")):
        erasures.start("acme", user, by=by)
    eraser.may_go_on.release()
    eraser.may_go_on.release()
    await ended(erasures, "acme", "ann", "bob", "eve")
    assert eraser.told == [("acme", ["ann", "eve"], "x"), ("acme", ["bob"], "y")]


async def test_a_tenant_waits_for_no_other(erasures: Erasures, eraser: HeldEraser) -> None:
    erasures.start("acme", "ann", by="x")
    erasures.start("umbrella", "ann", by="x")
    await begun(eraser, 2)
    assert running(erasures, "umbrella", "ann") == [True]
    await erasures.close()


async def test_who_is_asked_for_once_more_is_erased_again(erasures: Erasures, eraser: HeldEraser) -> None:
    """What the user says meanwhile may lie behind what a run that has begun reaches."""
    erasures.start("acme", "ann", by="x")
    await begun(eraser, 1)
    erasures.start("acme", "ann", by="x")
    eraser.may_go_on.release()
    await begun(eraser, 2)
    assert running(erasures, "acme", "ann") == [True]
    eraser.may_go_on.release()
    await ended(erasures, "acme", "ann")
    assert eraser.told == [("acme", ["ann"], "x")] * 2


async def test_a_user_comes_again_once_erased(erasures: Erasures, eraser: HeldEraser) -> None:
    for _ in range(2):
        erasures.start("acme", "ann", by="x")
        eraser.may_go_on.release()
        await ended(erasures, "acme", "ann")
    assert eraser.told == [("acme", ["ann"], "x")] * 2


@pytest.mark.parametrize(
    ("error", "told"),
    [(ErasureUnfinishedError("sessions has 3 records before it"), "sessions has 3"), (RuntimeError("bug"), "a defect in Varve")],
)
async def test_a_failed_batch_says_why(erasures: Erasures, eraser: HeldEraser, error: Exception, told: str) -> None:
    eraser.problem = error
    erasures.start("acme", "ann", by="x")
    await begun(eraser, 1)
    erasures.start("acme", "bob", by="x")
    eraser.may_go_on.release()
    await begun(eraser, 2)
    assert told in str(erasures.problem_of(subject_of("acme", "ann")))
    assert erasures.problem_of(subject_of("acme", "bob")) is None
    eraser.problem = None
    eraser.may_go_on.release()
    await ended(erasures, "acme", "bob")
    erasures.start("acme", "ann", by="x")
    assert erasures.problem_of(subject_of("acme", "ann")) is None, "it is tried again"
    await erasures.close()


async def test_what_is_running_is_broken_off_at_the_end(erasures: Erasures, eraser: HeldEraser) -> None:
    erasures.start("acme", "ann", by="x")
    await begun(eraser, 1)
    erasures.start("acme", "bob", by="x")
    await erasures.close()
    assert running(erasures, "acme", "ann", "bob") == [False, False]
    assert len(eraser.told) == 1


async def test_a_process_without_an_eraser_begins_nothing() -> None:
    erasures = Erasures(eraser=None, store=STORE, redis=REDIS)
    erasures.start("acme", "ann", by="x")
    assert not erasures.is_equipped
    assert running(erasures, "acme", "ann") == [False]
    await erasures.close()
