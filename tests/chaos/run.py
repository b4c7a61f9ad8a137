"""One run: load, a fault under it, and the judgement of what it left behind."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx

from retrieval.stores.build import build_store
from tests.chaos.cluster import Cluster
from tests.chaos.letters import drive_again, misplaced_letters
from tests.chaos.load import Ledger, Load
from tests.chaos.script import Habits, Script
from tests.chaos.verdict import Verdict, judge
from varve.lag import wait_for_zero_lag

STALL_S = 240.0
_FLUSH_AGAIN_S = 0.5
_MOST_DRIVES = 5
"""What is refused so often will not be answered: it is missing in the end."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a fault has to work with."""

    cluster: Cluster
    tenant: str
    rng: Random
    ledger: Ledger
    surprises: list[str] = field(default_factory=list)

    def expect(self, holds: bool, otherwise: str) -> None:
        """Notes what should not have happened while the fault lasted."""
        if not holds:
            self.surprises.append(otherwise)


Break = Callable[[Scene], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that goes wrong under load."""

    name: str
    breaks: Break
    """Does it; on return all processes are allowed to come back."""
    habits: Habits = field(default_factory=Habits)
    messages: int = 400
    """At least so many; four times as many at most while the fault lasts."""
    pause_s: float = 0.25
    """Between two batches of ten messages."""


@dataclass(slots=True)
class Outcome:
    """A run's line in the report."""

    fault: str
    seed: int
    verdict: Verdict
    seconds: float

    def line(self) -> dict[str, Any]:
        """As JSON."""
        verdict = self.verdict
        return {
            "fault": self.fault,
            "seed": self.seed,
            "produced": verdict.produced,
            "lost": verdict.lost,
            "duplicated": verdict.duplicated,
            "out_of_order": verdict.out_of_order,
            "wrong_values": verdict.wrong_values,
            "windows": verdict.windows,
            "memories": verdict.memories,
            "problems": verdict.problems,
            "seconds": round(self.seconds, 1),
        }


def tenant_of(fault: Fault, seed: int) -> str:
    """Whose messages a run sends: every run has a tenant of its own."""
    return f"{fault.name}-{seed}"


async def run_fault(cluster: Cluster, fault: Fault, *, seed: int) -> Outcome:
    """Runs a fault under load, waits until all is quiet again, and judges.

    Args:
        cluster: Ready; its processes are ready again on return.
        fault: What goes wrong.
        seed: Of the load and of the fault's own draws.
    """
    started = time.monotonic()
    tenant = tenant_of(fault, seed)
    cluster.add_tenant(tenant)
    load = Load(
        cluster=cluster,
        tenant=tenant,
        script=Script(tenant=tenant, seed=seed, habits=fault.habits),
        rng=Random(f"{seed}/{tenant}/load"),
        pause_s=fault.pause_s,
    )
    over = asyncio.Event()
    scene = Scene(cluster, tenant, Random(f"{seed}/{tenant}/fault"), load.ledger)
    async with asyncio.TaskGroup() as work:
        work.create_task(load.run(least=fault.messages, most=4 * fault.messages, until=over))
        work.create_task(_break(fault, scene, over))
    await cluster.ready()
    await settle(cluster, tenant)
    verdict = await judge_run(cluster, tenant, load.ledger)
    verdict.problems += scene.surprises
    return Outcome(fault.name, seed, verdict, time.monotonic() - started)


async def settle(cluster: Cluster, tenant: str) -> None:
    """Closes all of a tenant's windows, and returns when every stage has done all that lies before it."""
    # What lies astray has to be forwarded first: a flush closes nothing that arrives behind it.
    await wait_for_zero_lag(cluster.settings, stall_s=STALL_S)
    await flush(cluster, tenant)
    driven: set[str] = set()
    await wait_for_zero_lag(cluster.settings, stall_s=STALL_S)
    for _ in range(_MOST_DRIVES):
        if not await drive_again(cluster.settings, driven):
            break
        await wait_for_zero_lag(cluster.settings, stall_s=STALL_S)


async def flush(cluster: Cluster, tenant: str) -> None:
    """Closes all of a tenant's windows, through the query service."""
    async with cluster.client(tenant) as http:
        while True:
            with suppress(httpx.TransportError):
                if (await http.post("/v1/flush", json={})).status_code == httpx.codes.OK:
                    return
            await asyncio.sleep(_FLUSH_AGAIN_S)


async def judge_run(cluster: Cluster, tenant: str, ledger: Ledger) -> Verdict:
    """Judges a run, and the dead letters of all runs so far."""
    store = build_store(cluster.settings)
    try:
        verdict = await judge(settings=cluster.settings, store=store, tenant=tenant, ledger=ledger)
    finally:
        await store.close()
    verdict.note("dead letters", await misplaced_letters(cluster.settings))
    return verdict


async def _break(fault: Fault, scene: Scene, over: asyncio.Event) -> None:
    await fault.breaks(scene)
    over.set()
