"""An erasure that is interrupted anywhere ends with a receipt that is true, whatever is rebuilt in between."""

import os
from unittest.mock import patch

import pytest

from control.erasure import Erasure
from control.errors import ErasureUnderWayError
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.errors import ErasureUnfinishedError
from streams.operations.erasure.erase import erase
from streams.operations.erasure.run import ErasureRun
from streams.operations.rebuild import rebuild, snapshot
from streams.operations.replay import ReplayStart, replay
from streams.stages.catalog import STAGES
from tests.streams.durable_steps import Killed
from tests.streams.flow import TENANT, caught_up, flush, send_sample, serving
from tests.streams.standing_words import places_naming

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

LEAVING, STAYING = "ada", "bob"
EVERY_STEP = (
    "_drop_open_windows",
    "_skip_windows",
    "_forget_touched_events",
    "_command_stages",
    "_retract",
    "_trace_later_records",
    "_remove_records",
)
KILLED_AFTER = EVERY_STEP if os.environ.get("VARVE_TEST_ERASURE_EXAMPLES") else ("_skip_windows", "_command_stages", "_remove_records")
WITHOUT_RECALLS = [name for name in STAGES if name != "recalls"]
"""Nothing recalls here, so that stage may never have run."""


async def test_a_rebuild_during_an_erasure_restores_nothing(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    """The stages' states are rebuilt without the user, and do not know what the feed still has."""
    await send_sample(leased, session="s-1", user=LEAVING)
    await send_sample(leased, session="s-2", user=STAYING)
    async with serving(leased):
        await flush(leased)
        await caught_up(leased, WITHOUT_RECALLS)
        others = await memories_of(store, STAYING)
        with pytest.raises(Killed):
            await erase_until(leased, "_command_stages", store=store, redis=redis)
    await rebuild(leased, store=store, redis=redis, despite_erasures=True)
    async with serving(leased):
        await caught_up(leased, WITHOUT_RECALLS)
        with (
            patch("streams.operations.erasure.run.note_published", nothing),
            pytest.raises(ErasureUnfinishedError, match=r"has left \d+ records in .*memories"),
        ):
            await erase(leased, TENANT, [LEAVING], by="test", store=store, redis=redis)
        (receipt,) = await erase(leased, TENANT, [LEAVING], by="test", store=store, redis=redis)
        assert receipt.finished_at is not None
        assert receipt.remains == ()
        assert await places_naming(leased, TENANT, LEAVING, store=store, redis=redis) == {}
    await replay(leased, "index", ReplayStart())
    async with serving(leased):
        await caught_up(leased, WITHOUT_RECALLS)
        assert await memories_of(store, LEAVING) == []
        assert len(await memories_of(store, STAYING)) == len(others) > 0


async def nothing(*_: object, **__: object) -> None:
    """A step that does not do its work."""


async def test_an_erasure_killed_after_steps_ends_truthfully(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    await send_sample(leased, session="s-1", user=LEAVING)
    await send_sample(leased, session="s-2", user=STAYING)
    async with serving(leased):
        await flush(leased)
        await caught_up(leased, WITHOUT_RECALLS)
        others = await memories_of(store, STAYING)
        for step in KILLED_AFTER:
            with pytest.raises(Killed):
                await erase_until(leased, step, store=store, redis=redis, is_done=True)
            with pytest.raises(ErasureUnderWayError, match=r"a rebuild has to wait .* `varve erase TENANT USER`"):
                await rebuild(leased, store=store, redis=redis)
            with pytest.raises(ErasureUnderWayError, match="a replay of events has to wait"):
                await replay(leased, "events", ReplayStart())
        (receipt,) = await erase(leased, TENANT, [LEAVING], by="test", store=store, redis=redis)
        assert (receipt.finished_at is not None, receipt.remains) == (True, ())
    await rebuild(leased, store=store, redis=redis)
    async with serving(leased):
        await caught_up(leased, WITHOUT_RECALLS)
    for stage in ("extraction", "events", "index"):
        await replay(leased, stage, ReplayStart())
    async with serving(leased):
        await caught_up(leased, WITHOUT_RECALLS)
        assert await places_naming(leased, TENANT, LEAVING, store=store, redis=redis) == {}
        assert len(await memories_of(store, STAYING)) == len(others) > 0
        await send_sample(leased, session="s-3", user=LEAVING)
        await flush(leased)
        await caught_up(leased, WITHOUT_RECALLS)
        assert len(await memories_of(store, LEAVING)) > 0, "what the user says afterwards is kept"


async def erase_until(settings: Settings, step: str, *, store: MemoryStore, redis: GuardedRedis, is_done: bool = False) -> list[Erasure]:
    """Erases the user; the process is killed before a step, or after it."""
    done = getattr(ErasureRun, step)

    async def killed(erasing: ErasureRun, *arguments: object) -> None:
        if is_done:
            await done(erasing, *arguments)
        raise Killed

    with patch.object(ErasureRun, step, killed):
        return await erase(settings, TENANT, [LEAVING], by="test", store=store, redis=redis)


async def memories_of(store: MemoryStore, user: str) -> list[bytes]:
    """The memories of a user in the store."""
    named = f'"user":"{user}"'.encode()
    return [line async for line in snapshot(store, TENANT) if named in line]
