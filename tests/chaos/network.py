"""A worker whose network fails while it runs: other workers get its partitions, and it does not learn of it."""

import asyncio
from collections.abc import Collection
from typing import Final

from tests.chaos.proxy import ALL_REQUESTS, GROUP_REQUESTS
from tests.chaos.run import FaultContext, Injection

_BEYOND_SESSION_S: Final = 3.0
"""Long enough for a successor to take over and to write; short enough for late requests to be there still, and not given up."""


def silent_coordinator(stage: str, *, seconds: float = 20.0) -> Injection:
    """A worker's requests to its group's coordinator are held back, and no others: without the fence, it could write."""
    return _behind_proxy(stage, GROUP_REQUESTS, times=1, seconds=seconds)


def network_delay(stage: str, *, times: int = 2) -> Injection:
    """All that a worker sends comes late by more than its session: also the commits that were under way."""
    return _behind_proxy(stage, ALL_REQUESTS, times=times, seconds=None)


def _behind_proxy(stage: str, keys: Collection[int], *, times: int, seconds: float | None) -> Injection:
    async def inject(context: FaultContext) -> None:
        proxy, settings = context.cluster.proxy, context.cluster.settings
        async with context.cluster.second_worker(stage, bootstrap=proxy.bootstrap) as second:
            for _ in range(times):
                await asyncio.sleep(context.rng.uniform(1.0, 3.0))
                before = proxy.held
                with proxy.holding(keys):
                    await asyncio.sleep(seconds or settings.kafka.session_timeout_s + _BEYOND_SESSION_S)
                context.expect(proxy.held > before, f"nothing that {second.name} sent was held back")
                await second.ready()

    return inject
