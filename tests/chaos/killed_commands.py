"""Commands that drop state, killed after each of their steps in turn, as `kill -9` would, and run again. Nothing may be lost or doubled."""

from collections.abc import Awaitable, Callable
from itertools import count

from streams.operations.replay import ReplayStart, replay
from tests.chaos.run import STALL_S, FaultContext, Injection
from tests.streams.durable_steps import Killed, killed_after
from varve.lag import wait_for_zero_lag

_FEWEST = 3


def replay_killed_at_each_step() -> Injection:
    """Replays sessions; the stages then run on."""

    async def inject(context: FaultContext) -> None:
        cluster = context.cluster
        await cluster.stop_stages()
        kills = await killed_at_each_step(lambda: replay(cluster.settings, "sessions", ReplayStart()))
        context.expect(kills >= _FEWEST, f"the replay was killed {kills} times only")
        await cluster.start_stages()
        await wait_for_zero_lag(cluster.settings, stall_s=STALL_S)

    return inject


async def killed_at_each_step(command: Callable[[], Awaitable[object]]) -> int:
    """Runs a command again and again, each time killed one step later, until it succeeds; returns how often it was killed."""
    for step in count(1):
        try:
            with killed_after(step):
                await command()
        except Killed:
            continue
        return step - 1
    raise AssertionError("a command has an end")
