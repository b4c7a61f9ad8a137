"""One run: a load, a fault during it, and a verdict on the result."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx

from runtime.kafka import KafkaOffsets
from stores.build import build_store
from tests.chaos.cluster import TIMELINE_GRACE_S, Cluster
from tests.chaos.dead_letters import dead_letter_problems, redrive
from tests.chaos.load import EDITS, Ledger, Load
from tests.chaos.messages import MessageGenerator, TrafficProfile
from tests.chaos.shape import SINGLE, ClusterShape
from tests.chaos.topic_log import LogHistory
from tests.chaos.verdict import Verdict, judge
from varve.lag import wait_for_zero_lag

STALL_S = 240.0
_FLUSH_INTERVAL_S = 0.5
_TIMERS_S = TIMELINE_GRACE_S + 3.0
"""A timer that is due fires within a second of its grace."""
_MAX_REDRIVES = 5
"""A window refused more often counts as missing."""


@dataclass(frozen=True, slots=True)
class FaultContext:
    """The parts of a run that a fault uses."""

    cluster: Cluster
    tenant: str
    rng: Random
    ledger: Ledger
    history: LogHistory
    methods: bool = False
    """Whether the tenants have the operators of the memory methods."""
    others: dict[str, Ledger] = field(default_factory=dict)
    """Further tenants that the fault has made, which are judged, too."""
    violations: list[str] = field(default_factory=list)
    measured: dict[str, Any] = field(default_factory=dict)
    """Figures of the fault for the report."""

    def expect(self, holds: bool, violation: str) -> None:
        """Records a violation unless the expectation holds."""
        if not holds:
            self.violations.append(violation)


Injection = Callable[[FaultContext], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault, and the load during which it is injected."""

    name: str
    inject: Injection
    """Injects the fault; on return all processes may run again."""
    traffic: TrafficProfile = field(default_factory=TrafficProfile)
    messages: int = 400
    """At least so many; at most four times as many, as long as the fault lasts."""
    pause_s: float = 0.25
    """Between two batches of ten messages."""
    recalls: float = 0.3
    """Share of the batches after which something is recalled, so that it lives on, and maybe corrected."""
    afterwards: Injection | None = None
    """Steps of an operator once no stage has any lag; the run is judged when that is so again."""
    shape: ClusterShape = SINGLE
    """The cluster that it needs."""
    kills_rebuild: bool = False
    """Whether the rebuild that follows is killed after each of its steps."""
    spoils_log: bool = False
    """Whether records are missing after it: the next fault gets another cluster."""


@dataclass(slots=True)
class Outcome:
    """The result of a run."""

    fault: str
    seed: int
    verdict: Verdict
    seconds: float
    load_average: float = field(default_factory=lambda: os.getloadavg()[2])
    """The machine's load over the last 15 minutes: times depend on it."""
    measured: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Its line in the report."""
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
            "summaries": verdict.summaries,
            "written": verdict.written,
            "expired": verdict.expired,
            "touched": verdict.touched,
            "corrected": verdict.corrected,
            "method_memories": verdict.method_memories,
            "edits": verdict.edits,
            "problems": verdict.problems,
            "seconds": round(self.seconds, 1),
            "load_average": round(self.load_average, 1),
            **self.measured,
        }


def tenant_of(fault: Fault, seed: int) -> str:
    """The tenant of a run: each run has its own."""
    return f"{fault.name}-{seed}"


async def run_fault(cluster: Cluster, fault: Fault, *, seed: int) -> Outcome:
    """Injects a fault under load, waits until no stage has any lag, and judges.

    Args:
        cluster: Ready; its processes are ready again on return.
        fault: The fault.
        seed: Seed of the draws of the load and the fault.
    """
    started = time.monotonic()
    tenant, methods = tenant_of(fault, seed), fault.traffic.methods
    await cluster.add_tenant(tenant, methods=methods)
    load = Load(
        cluster=cluster,
        tenant=tenant,
        messages=MessageGenerator(tenant=tenant, seed=seed, traffic=fault.traffic),
        rng=Random(f"{seed}/{tenant}/load"),
        pause_s=fault.pause_s,
        recalls=fault.recalls,
        edits=EDITS if methods else 0.0,
    )
    injected = asyncio.Event()
    context = FaultContext(cluster, tenant, Random(f"{seed}/{tenant}/fault"), load.ledger, LogHistory(cluster.settings), methods)
    async with asyncio.TaskGroup() as work:
        work.create_task(load.run(minimum=fault.messages, maximum=4 * fault.messages, until=injected))
        work.create_task(_inject(fault, context, injected))
    await cluster.ready()
    tenants = {tenant: load.ledger} | context.others
    await settle(cluster, tenants)
    if fault.afterwards is not None:
        await fault.afterwards(context)
        await cluster.ready()
        await settle(cluster, tenants)
    verdict = await judge_run(cluster, tenants, context.history, methods=methods)
    context.expect(verdict.expired > 0, "no timeline has aged so far that one of its events expired")
    context.expect(verdict.method_memories > 0 or not methods, "the operators of the memory methods made no memory")
    verdict.problems += context.violations
    return Outcome(fault.name, seed, verdict, time.monotonic() - started, measured=context.measured)


async def flood(context: FaultContext, tenant: str, messages: int) -> None:
    """A further tenant sends messages, as fast as they are taken; it is judged, too.

    Args:
        context: Parts of the fault.
        tenant: The tenant, which there is.
        messages: How many.
    """
    seed = context.rng.randrange(2**31)
    load = Load(
        cluster=context.cluster,
        tenant=tenant,
        messages=MessageGenerator(tenant=tenant, seed=seed, traffic=TrafficProfile(methods=context.methods)),
        rng=Random(f"{seed}/{tenant}/load"),
        pause_s=0.05,
        recalls=0.3,
        edits=EDITS if context.methods else 0.0,
    )
    context.others[tenant] = load.ledger
    ended = asyncio.Event()
    ended.set()
    await load.run(minimum=messages, maximum=messages, until=ended)


async def settle(cluster: Cluster, tenants: Iterable[str]) -> None:
    """Closes all windows of some tenants, and waits until no stage has any lag."""
    # Misrouted messages must be forwarded first: a flush does not close what arrives after it.
    await wait_for_zero_lag(cluster.settings, stall_s=STALL_S)
    for tenant in tenants:
        await flush(cluster, tenant)
    redriven: set[str] = set()
    await wait_for_zero_lag(cluster.settings, stall_s=STALL_S)
    for _ in range(_MAX_REDRIVES):
        if not await redrive(cluster.settings, redriven):
            break
        await wait_for_zero_lag(cluster.settings, stall_s=STALL_S)
    await _timers_fired(cluster)


async def _timers_fired(cluster: Cluster) -> None:
    """Returns once no timeline has anything more to do: its ticks, and the records that follow from them, go through the extractions."""
    async with KafkaOffsets(kafka=cluster.settings.kafka) as offsets, asyncio.timeout(STALL_S):
        topics = [cluster.settings.topic(name) for name in ("extractions", "recalls")]
        before: object = None
        while before != (before := await offsets.end_offsets(topics)):
            await asyncio.sleep(_TIMERS_S)
            await wait_for_zero_lag(cluster.settings, stall_s=STALL_S)


async def flush(cluster: Cluster, tenant: str) -> None:
    """Closes all of a tenant's windows, through the query service."""
    async with cluster.client(tenant) as http:
        while True:
            with suppress(httpx.TransportError):
                if (await http.post("/v1/flush", json={})).status_code == httpx.codes.OK:
                    return
            await asyncio.sleep(_FLUSH_INTERVAL_S)


async def judge_run(cluster: Cluster, tenants: Mapping[str, Ledger], history: LogHistory, *, methods: bool = False) -> Verdict:
    """Judges the run of each tenant, with or without the operators of the memory methods, and the dead letters of all runs so far."""
    verdict = Verdict()
    store = build_store(cluster.settings)
    try:
        for tenant, ledger in tenants.items():
            verdict.add(await judge(settings=cluster.settings, store=store, tenant=tenant, ledger=ledger, history=history, methods=methods))
    finally:
        await store.close()
    verdict.record("dead letters", await dead_letter_problems(cluster.settings, history))
    return verdict


async def _inject(fault: Fault, context: FaultContext, injected: asyncio.Event) -> None:
    await fault.inject(context)
    injected.set()
