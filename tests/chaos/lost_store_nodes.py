"""The loss of nodes of a Qdrant server that keeps two copies of each shard on three nodes."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from stores.build import open_store
from stores.errors import StoreUnavailableError
from stores.port import TenantScope
from tests.chaos.restarted_process import RestartedProcess
from tests.chaos.run import FaultContext, Injection
from tests.chaos.waiting import until

_DOWN_S: Final = 20.0
"""Longer than the time-out of a request to the store."""
_RECALL_INTERVAL_S: Final = 0.2
_RECALL_TIMEOUT_S: Final = 30.0
_NO_ANSWER: Final = 0
"""In place of an HTTP status: the connection failed."""
_ORDER: Final = (2, 0, 1)
"""All processes begin with the first node. So first one is lost that they do not ask; then, twice, the one that they ask."""


@dataclass(slots=True)
class Recalls:
    """The answers to recalls that were asked for at a constant rate."""

    answers: Counter[int] = field(default_factory=Counter)
    """Number of answers by HTTP status, or :data:`_NO_ANSWER`."""
    slowest_s: float = 0.0
    longest_silence_s: float = 0.0
    """Longest time between two recalls that succeeded."""

    def as_json(self) -> dict[str, Any]:
        """Its figures for the report."""
        answers = {str(status): number for status, number in sorted(self.answers.items())}
        return {"answers": answers, "slowest_s": round(self.slowest_s, 2), "longest_silence_s": round(self.longest_silence_s, 2)}


def lose_each_store_node() -> Injection:
    """Kills each node and returns it 20 s later: recalls succeed, and new memories are written, all the time."""
    return _disturb_each_store_node("without {}", RestartedProcess.held_down)


def hang_each_store_node() -> Injection:
    """Freezes each node and wakes it 20 s later: its connections stay open, and requests to it get no answer."""
    return _disturb_each_store_node("while {} hangs", RestartedProcess.frozen)


def _disturb_each_store_node(when: str, disturbed: Callable[[RestartedProcess], AbstractAsyncContextManager[object]]) -> Injection:
    async def inject(context: FaultContext) -> None:
        await store_is_whole(context)
        for number in _ORDER:
            node = context.cluster.stores[number]
            async with recalled(context, when.format(node.name)):
                async with disturbed(node):
                    await _written(context, node)
                    await asyncio.sleep(_DOWN_S)
                await _returned(context, node)

    return inject


@asynccontextmanager
async def recalled(context: FaultContext, when: str, *, restarts: bool = False) -> AsyncIterator[None]:
    """Recalls all the time during a block. Each recall must succeed, or be answered 503.

    Args:
        context: Parts of the fault.
        when: The block in words, for the report.
        restarts: Whether the query service is restarted meanwhile, so that connections may fail.
    """
    recalls = Recalls()
    asking = asyncio.create_task(_recall(context, recalls))
    try:
        yield
    finally:
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking
    context.measured[when] = recalls.as_json()
    context.expect(recalls.answers[httpx.codes.OK] > 0, f"{when}, no recall succeeded")
    other = recalls.answers.keys() - {httpx.codes.OK, httpx.codes.SERVICE_UNAVAILABLE} - ({_NO_ANSWER} if restarts else set())
    context.expect(not other, f"{when}, recalls were answered {sorted(other)}")


async def store_is_whole(context: FaultContext) -> None:
    """Waits until each copy of each shard is complete in the view of every node, and a recall succeeds: the collection has its indexes."""
    await until(lambda: _are_active(context), "all copies of all shards are active")
    await until(lambda: _is_recalled(context), "a recall succeeds")


async def prove(context: FaultContext) -> None:
    """Makes the tenant's memories again from the log, and compares them with the store's: ``varve prove``."""
    code, output = await context.cluster.command("prove", context.tenant)
    context.expect(code == 0, f"the store differs from the log: {output}")


async def _is_recalled(context: FaultContext) -> bool:
    async with context.cluster.client(context.tenant, timeout_s=_RECALL_TIMEOUT_S) as http:
        return await _status_of_recall(http) == httpx.codes.OK


async def _status_of_recall(http: httpx.AsyncClient) -> int:
    with suppress(httpx.TransportError):
        return (await http.post("/v1/recall", json={"query": "Which score did they reach?", "limit": 3})).status_code
    return _NO_ANSWER


async def _recall(context: FaultContext, recalls: Recalls) -> None:
    answered = time.monotonic()
    async with context.cluster.client(context.tenant, timeout_s=_RECALL_TIMEOUT_S) as http:
        while True:
            began = time.monotonic()
            status = await _status_of_recall(http)
            now = time.monotonic()
            recalls.answers[status] += 1
            recalls.slowest_s = max(recalls.slowest_s, now - began)
            if status == httpx.codes.OK:
                recalls.longest_silence_s = max(recalls.longest_silence_s, now - answered)
                answered = now
            await asyncio.sleep(_RECALL_INTERVAL_S)


async def _written(context: FaultContext, node: RestartedProcess) -> None:
    """Waits until the store has more memories of the tenant: the load continues."""
    began, before = time.monotonic(), 0
    async with open_store(context.cluster.settings) as store:

        async def count() -> int:
            with suppress(StoreUnavailableError):
                return await store.count(TenantScope(context.tenant))
            return 0

        async def was_counted() -> bool:
            nonlocal before
            before = await count()
            return before > 0

        async def has_more() -> bool:
            return await count() > before

        await until(was_counted, f"the store answers without {node.name}")
        await until(has_more, f"new memories are written without {node.name}")
    context.measured.setdefault("written_after_s", []).append(round(time.monotonic() - began, 1))


async def _returned(context: FaultContext, node: RestartedProcess) -> None:
    began = time.monotonic()
    await node.ready()
    await store_is_whole(context)
    context.measured.setdefault("active_again_s", []).append(round(time.monotonic() - began, 1))


async def _are_active(context: FaultContext) -> bool:
    store = context.cluster.settings.store
    for address in store.addresses:
        async with httpx.AsyncClient(base_url=address, timeout=5.0) as http:
            try:
                answer = await http.get(f"/collections/{store.collection}/cluster")
            except httpx.TransportError:
                return False
        if not answer.is_success:
            return False
        placed = answer.json()["result"]
        shards = [*placed["local_shards"], *placed["remote_shards"]]
        if placed["shard_transfers"] or not shards or any(each["state"] != "Active" for each in shards):
            return False
    return True
