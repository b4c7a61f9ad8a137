"""A tenant without budget that floods every partition: other tenants continue, and its windows are extracted when it has a budget again."""

import asyncio
import signal
from collections.abc import Mapping
from typing import Final

from memory.headers import KIND
from memory.records import Extraction, Window
from tests.chaos.dead_letters import read_letters
from tests.chaos.run import FaultContext, Injection, flood
from tests.chaos.topic_log import read_log
from tests.chaos.waiting import until_none_left

_SPAN: Final = 20
_WORKER: Final = {"VARVE_DELIVERY__MAX_UNACKED_SPAN": str(_SPAN), "VARVE_DELIVERY__PARK_AFTER_S": "2"}
"""A flood of some hundred windows is far more than the worker has in view, and none waits long before it is parked."""


def flood_without_budget(*, messages: int = 500, kills: int = 2) -> Injection:
    """A second tenant, which may spend nothing, sends far more than a worker has in view; then it may.

    Args:
        messages: How many it sends.
        kills: How often the extraction worker is killed while its windows wait.
    """

    async def inject(context: FaultContext) -> None:
        cluster = context.cluster
        worker = cluster.workers["extraction"][0]
        poor = f"{context.tenant}-poor"
        await cluster.add_tenant(poor)
        await cluster.grant(poor, 0)
        cluster.extra_environment[worker.name] = _WORKER
        try:
            async with worker.held_down(signal.SIGTERM):
                pass
            await flood(context, poor, messages)
            for _ in range(kills):
                await asyncio.sleep(context.rng.uniform(2.0, 6.0))
                worker.send_signal(signal.SIGKILL)
                await worker.ready()
            others_closed, waiting = await _closed(context, context.tenant), await _closed(context, poor)
            await until_none_left(lambda: _unextracted(context, others_closed), "the other tenant's windows are extracted")
            context.expect(not await _extracted(context) & waiting.keys(), "windows were extracted without a budget")
            context.expect(len(waiting) > 2 * _SPAN, f"a flood of {len(waiting)} windows only")
        finally:
            await cluster.grant(poor, None)
        await until_none_left(lambda: _unextracted(context, waiting), "the windows that waited are extracted")
        del cluster.extra_environment[worker.name]

    return inject


async def _unextracted(context: FaultContext, windows: Mapping[str, str]) -> int:
    """The number of windows, given with the places of their records, that have neither an extraction nor a dead letter."""
    refused = {letter.source for letter in await read_letters(context.cluster.settings)}
    extracted = await _extracted(context)
    return sum(identity not in extracted and place not in refused for identity, place in windows.items())


async def _closed(context: FaultContext, tenant: str) -> dict[str, str]:
    """The windows that a tenant has closed by now, each with the place of its record."""
    closed: dict[str, str] = {}
    for record in await read_log(context.cluster.settings, "windows"):
        window = None if record.poison is not None else Window.from_json(record.value or b"")
        if window is not None and window.tenant == tenant:
            closed[window.id] = str(record.position)
    return closed


async def _extracted(context: FaultContext) -> set[str]:
    log = await read_log(context.cluster.settings, "extractions")
    # The topic also has ticks, touches, expiries and corrections; each says its kind.
    return {Extraction.from_json(record.value or b"").window_id for record in log if record.poison is None and record.header(KIND) is None}
