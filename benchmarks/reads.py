"""One tenant's recalls while another floods the service, and recalls by number of callers: ``python -m benchmarks.reads``.

The service, the Edge store, Kafka and Redis are real processes. Writes ``build/reports/reads.json``: of the quiet tenant, which asks one
question after another, p50 and p95 without and with the flood in turns, and ``p95_ratio`` of the two; of the flood (callers that ask for
1,000 results each, one after another, and heed no ``Retry-After``), how many were answered and how many refused; and recalls a second
with few and with many callers of one tenant.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import aiohttp

from benchmarks.processes import broker_and_redis, environment, python_process, running_process
from evaluation.bench_recall import DIMENSION, LATE_DIMENSION, RandomData, fill
from models.embedding.weights import MODEL_NAME
from retrieval.stores.edge.client import EdgeStore
from runtime.control import ControlWriter, Draft
from runtime.control.documents import hash_key, new_api_key
from runtime.control.key_changes import add_key
from runtime.control.tenant_changes import add_tenant
from runtime.kafka import create_topics
from runtime.settings import Settings
from varve.embedded.edge import EmbeddedEdge
from varve.embedded.ports import HOST, free_port

_QUIET: Final = "tenant-0"
_FLOOD: Final = "tenant-1"
_TENANTS: Final = (_QUIET, _FLOOD)
_START_S: Final = 60.0
_PAUSE_S: Final = 0.05
"""Between two questions of the quiet tenant."""


@dataclass(frozen=True, slots=True)
class Service:
    """A running service, and its tenants' keys."""

    url: str
    keys: dict[str, str]

    def body(self, caller: str, number: int, **fields: object) -> dict[str, object]:
        """A question that nobody has asked before: its embedding is in no cache."""
        return {"query": f"what does {caller} say of w{number} and w{number * 7 % 1000}", **fields}


@asynccontextmanager
async def running_service(folder: Path, *, points: int) -> AsyncIterator[Service]:
    """A service whose store holds random memories of two tenants, for the length of a block.

    Args:
        folder: Holds all data; its path must be short, for the Edge's socket.
        points: How many memories each tenant has.
    """
    async with AsyncExitStack() as resources:
        settings = await resources.enter_async_context(broker_and_redis(folder))
        await create_topics(settings)
        keys = {tenant: new_api_key() for tenant in _TENANTS}

        def add_all(draft: Draft) -> None:
            for tenant, key in keys.items():
                add_tenant(draft, tenant, schema="companion")
                add_key(draft, tenant, hash_key(key), now=datetime.now(UTC))

        await ControlWriter(settings=settings).write(add_all, action="tenants of a benchmark", by="a benchmark")
        edge = EmbeddedEdge(data=folder / "edge", socket_path=settings.edge_socket, log=folder / "edge.log")
        await resources.enter_async_context(running_process(edge.prepare()))
        store = EdgeStore(path=settings.edge_socket, timeout_s=60)
        await store.prepare(model=MODEL_NAME, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
        await fill(store, RandomData(seed=1, tenants=len(_TENANTS)), points * len(_TENANTS))
        await store.close()
        port = free_port()
        variables = environment(settings, VARVE_SERVICE__PORT=str(port), VARVE_CACHE=str(Settings().cache_path))
        await resources.enter_async_context(python_process(("-m", "varve", "serve"), variables))
        service = Service(f"http://{HOST}:{port}", keys)
        await _answers(service)
        yield service


async def _answers(service: Service) -> None:
    deadline = time.monotonic() + _START_S
    async with aiohttp.ClientSession() as http:
        while True:
            try:
                async with http.get(f"{service.url}/healthz"):
                    return
            except aiohttp.ClientConnectionError:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.2)


class Caller:
    """One client with one connection, which asks one question after another.

    Args:
        service: Whom it asks.
        tenant: Whose memories.
        name: Part of its questions.
        fields: Further fields of its recalls.
    """

    def __init__(self, service: Service, tenant: str, name: str, **fields: object) -> None:
        self._service = service
        self._tenant = tenant
        self._name = name
        self._fields = fields
        self.seconds: list[float] = []
        """Of the recalls that were answered."""
        self.statuses: Counter[int] = Counter()

    async def run(self, until: float, *, pause_s: float = 0.0) -> None:
        """Asks.

        Args:
            until: When to stop, by ``time.monotonic``.
            pause_s: Between two questions, in seconds.
        """
        headers = {"Authorization": f"Bearer {self._service.keys[self._tenant]}"}
        async with aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=1)) as http:
            number = 0
            while time.monotonic() < until:
                number += 1
                started = time.perf_counter()
                body = self._service.body(f"{self._name}{until:.0f}", number, **self._fields)
                async with http.post(f"{self._service.url}/v1/recall", json=body) as response:
                    await response.read()
                self.statuses[response.status] += 1
                if response.status == 200:
                    self.seconds.append(time.perf_counter() - started)
                await asyncio.sleep(pause_s)


async def fairness(service: Service, *, callers: int, seconds: float, rounds: int) -> dict[str, object]:
    """The quiet tenant's latency without and with the flood, in turns.

    Args:
        service: A running one.
        callers: Of the flood.
        seconds: Of each turn.
        rounds: How many pairs of turns.
    """
    quiet: dict[bool, list[Caller]] = {False: [], True: []}
    flood: list[Caller] = []
    for number in range(rounds * 2):
        is_flooded = number % 2 == 1
        until = time.monotonic() + seconds
        asker = Caller(service, _QUIET, f"quiet{number}", user="user-2")
        quiet[is_flooded].append(asker)
        flooders = [Caller(service, _FLOOD, f"flood{number}-{each}", limit=1000) for each in range(callers * is_flooded)]
        flood += flooders
        await asyncio.gather(asker.run(until, pause_s=_PAUSE_S), *(each.run(until) for each in flooders))
    alone, flooded = (_latencies([s for caller in quiet[key] for s in caller.seconds]) for key in (False, True))
    return {
        "p95_ratio": round(flooded["p95_ms"] / alone["p95_ms"], 2),
        "p50_ratio": round(flooded["p50_ms"] / alone["p50_ms"], 2),
        "without_flood": alone,
        "with_flood": flooded,
        "quiet_statuses": _statuses([*quiet[False], *quiet[True]]),
        "flood_statuses": _statuses(flood),
        "flood": _latencies([s for caller in flood for s in caller.seconds]),
        "callers": callers,
    }


async def throughput(service: Service, *, callers: int, seconds: float) -> dict[str, object]:
    """Recalls a second of one tenant, whose callers each ask one question after another.

    Args:
        service: A running one.
        callers: How many.
        seconds: For how long.
    """
    until = time.monotonic() + seconds
    asking = [Caller(service, _FLOOD, f"many{callers}-{each}", user="user-3") for each in range(callers)]
    await asyncio.gather(*(each.run(until) for each in asking))
    answered = [s for caller in asking for s in caller.seconds]
    return {"per_second": round(len(answered) / seconds, 1), **_latencies(answered), "statuses": _statuses(asking)}


def _statuses(callers: Sequence[Caller]) -> dict[int, int]:
    return dict(sum((caller.statuses for caller in callers), Counter()))


def _latencies(seconds: Sequence[float]) -> dict[str, float]:
    cuts = statistics.quantiles(seconds, n=20)
    return {"recalls": len(seconds), "p50_ms": round(statistics.median(seconds) * 1000, 1), "p95_ms": round(cuts[-1] * 1000, 1)}


async def run(arguments: argparse.Namespace) -> dict[str, object]:
    """Runs both benchmarks on one service."""
    with tempfile.TemporaryDirectory(prefix="varve-") as folder:
        async with running_service(Path(folder), points=arguments.points) as service:
            await throughput(service, callers=4, seconds=3)  # a warm-up
            by_callers = {str(n): await throughput(service, callers=n, seconds=arguments.seconds) for n in arguments.callers}
            return {
                "fairness": await fairness(service, callers=arguments.flood, seconds=arguments.seconds, rounds=arguments.rounds),
                "by_callers": by_callers,
                "points": arguments.points,
            }


def main() -> None:
    """Measures, prints and writes the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reads", description=__doc__)
    parser.add_argument("--points", type=int, default=2000, help="memories of each tenant")
    parser.add_argument("--flood", type=int, default=100, help="callers of the flood")
    parser.add_argument("--callers", type=int, nargs="*", default=[16, 64], help="callers whose recalls a second are counted")
    parser.add_argument("--seconds", type=float, default=8.0, help="of each turn")
    parser.add_argument("--rounds", type=int, default=3, help="pairs of turns without and with the flood")
    parser.add_argument("--report", type=Path, default=Path("build/reports/reads.json"))
    arguments = parser.parse_args()
    results = json.dumps(asyncio.run(run(arguments)), indent=2)
    arguments.report.parent.mkdir(parents=True, exist_ok=True)
    arguments.report.write_text(results + "\n")
    print(results)


if __name__ == "__main__":
    main()
