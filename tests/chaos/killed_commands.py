"""Commands that drop state, killed after each of their steps in turn, as `kill -9` would, and run again. Nothing may be lost or doubled."""

from collections.abc import Awaitable, Callable
from itertools import count

from retrieval.stores.build import build_store
from runtime.redis import open_redis
from streams.rebuild import rebuild
from streams.replay import ReplayStart, replay
from tests.chaos.cluster import Cluster
from tests.chaos.run import STALL_S, FaultContext, Injection
from tests.streams.durable_steps import Killed, killed_after
from varve.lag import wait_for_zero_lag

_FEWEST_STEPS = 3


def killed_at_each_step() -> Injection:
    """Replays sessions, then rebuilds; the stages run on after each."""

    async def inject(context: FaultContext) -> None:
        for command in (_replay_sessions, _rebuild):
            await context.cluster.stop_stages()
            kills = await _kills(command, context.cluster)
            context.expect(kills >= _FEWEST_STEPS, f"{command.__name__} was killed {kills} times only")
            await context.cluster.start_stages()
            await wait_for_zero_lag(context.cluster.settings, stall_s=STALL_S)

    return inject


async def _kills(command: Callable[[Cluster], Awaitable[object]], cluster: Cluster) -> int:
    """How often a command was killed, each time one step later, before it ran to its end."""
    for step in count(1):
        try:
            with killed_after(step):
                await command(cluster)
        except Killed:
            continue
        return step - 1
    raise AssertionError("a command has an end")


async def _replay_sessions(cluster: Cluster) -> None:
    await replay(cluster.settings, "sessions", ReplayStart())


async def _rebuild(cluster: Cluster) -> None:
    store = build_store(cluster.settings)
    try:
        async with open_redis(cluster.settings.redis) as redis:
            await rebuild(cluster.settings, store=store, redis=redis)
    finally:
        await store.close()
