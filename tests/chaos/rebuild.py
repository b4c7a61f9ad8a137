"""Compares the state after a rebuild with the state before it, byte for byte."""

import time
from collections import Counter
from collections.abc import Sequence
from functools import partial

from memory.headers import KIND
from memory.records import Memory
from runtime.redis.client import open_redis
from stores.build import build_store
from stores.errors import StoreUnavailableError
from streams.operations.rebuild import rebuild, snapshot
from tests.chaos.cluster import Cluster
from tests.chaos.killed_commands import killed_at_each_step
from tests.chaos.run import STALL_S, Outcome
from tests.chaos.topic_log import read_log
from tests.chaos.verdict import Verdict
from tests.chaos.waiting import until
from varve.lag import wait_for_zero_lag


async def run_rebuild(cluster: Cluster, tenants: Sequence[str], *, seed: int, after_fault: str, is_killed: bool = False) -> Outcome:
    """Drops the store, Redis' keys and the tables, rebuilds them from the log, and compares.

    Args:
        cluster: Without lag; on return its stages run again and have no lag.
        tenants: The tenants whose memories are compared.
        seed: The seed of the previous run, for the report.
        after_fault: The fault of the run before, for the report.
        is_killed: Whether it is killed after each of its steps in turn, and run again.
    """
    started = time.monotonic()
    verdict = Verdict()
    before = await _snapshots(cluster, tenants)
    asked = await _asked(cluster)
    await cluster.stop_stages()
    store = build_store(cluster.settings)
    try:
        async with open_redis(cluster.settings.redis) as redis:
            run = partial(rebuild, cluster.settings, store=store, redis=redis)
            await (killed_at_each_step(run) if is_killed else run())
    finally:
        await store.close()
    remaining = await _snapshots(cluster, tenants)
    verdict.record("memories that a rebuild has left", [line for lines in remaining.values() for line in lines.values()])
    await cluster.start_stages()
    await wait_for_zero_lag(cluster.settings, stall_s=STALL_S)
    after = await _snapshots(cluster, tenants)
    for tenant in tenants:
        verdict.memories += len(before[tenant])
        verdict.lost += verdict.record(f"{tenant}: gone", [each for each in before[tenant] if each not in after[tenant]])
        verdict.duplicated += verdict.record(f"{tenant}: new", [each for each in after[tenant] if each not in before[tenant]])
        differing = [
            f"{line.decode()} is {after[tenant][each].decode()}"
            for each, line in before[tenant].items()
            if each in after[tenant] and after[tenant][each] != line
        ]
        verdict.wrong_values += verdict.record(f"{tenant}: other bytes", differing)
    if await _asked(cluster) != asked:
        verdict.problems.append("a rebuild has extracted windows or merged texts again")
    return Outcome(f"rebuild after {after_fault}", seed, verdict, time.monotonic() - started)


async def _snapshots(cluster: Cluster, tenants: Sequence[str]) -> dict[str, dict[str, bytes]]:
    """Each tenant's memories as canonical bytes, by their ids. Waits while a server creates the indexes of a new collection."""
    taken: dict[str, dict[str, bytes]] = {}
    store = build_store(cluster.settings)

    async def are_taken() -> bool:
        try:
            taken.update({tenant: {Memory.from_json(line).id: line async for line in snapshot(store, tenant)} for tenant in tenants})
        except StoreUnavailableError:
            return False
        return True

    try:
        await until(are_taken, "the store can be read")
    finally:
        await store.close()
    return taken


async def _asked(cluster: Cluster) -> Counter[str]:
    """How many windows were extracted, and how many texts had to be written. An expired event may be named once more, at no cost."""
    asked: Counter[str] = Counter()
    for topic in ("extractions", "merges"):
        asked[topic] += sum(record.header(KIND) is None for record in await read_log(cluster.settings, topic))
    return asked
