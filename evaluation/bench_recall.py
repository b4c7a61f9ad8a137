"""Measures the latency of a recall through the Edge owner's socket, and in-process: ``python -m evaluation.bench_recall``.

Writes ``build/reports/recall.json``: p50 and p95 in milliseconds of both, their ratio, and the upserts per second through the socket.
The points are random unit vectors and random words. Each has as many terms and token vectors as the offline extractor's events have on
LoCoMo. Each query asks for ten results of one tenant.
"""

import argparse
import asyncio
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from memory.ids import event_id
from memory.records import Memory
from models.embedding.port import Embedding, Vector
from retrieval.errors import StoreUnavailableError
from retrieval.stores.edge.client import EdgeStore
from retrieval.stores.edge.shard import Shard, best
from retrieval.stores.points import memory_of
from retrieval.stores.port import Point, RecallQuery, ScoredMemory, TenantScope
from retrieval.stores.position import FeedPosition
from retrieval.stores.query_plan import plan_query

DIMENSION = 384
LATE_DIMENSION = 64
MODEL = "random"
LATE_ROWS = 50
QUERY_ROWS = 14
WORDS_IN_TEXT = 22
WORDS_IN_QUERY = 6
VOCABULARY = 20_000
BATCH = 128
START = datetime(2024, 1, 1, tzinfo=UTC)


class RandomData:
    """Random points and queries, reproducible by seed.

    Args:
        seed: Of the random generator.
        tenants: Among how many tenants the points are distributed.
    """

    def __init__(self, *, seed: int, tenants: int) -> None:
        self._random = np.random.default_rng(seed)
        self._tenants = tenants

    def point(self, index: int) -> Point:
        """The memory of that index, with random vectors."""
        tenant = f"tenant-{index % self._tenants}"
        memory = Memory(
            id=event_id(tenant, index),
            tenant=tenant,
            user=f"user-{index % 7}",
            kind="event",
            type="conversation_event",
            content=self._words(WORDS_IN_TEXT),
            keywords=["alpha", "beta"],
            event_time=START + timedelta(minutes=index),
            message_ids=[f"m{index}"],
        )
        return Point(memory, Embedding(self._unit(DIMENSION), self._unit(LATE_ROWS, LATE_DIMENSION)), FeedPosition(0, index, index))

    def query(self, index: int) -> RecallQuery:
        """The query of that index, with random vectors."""
        embedding = Embedding(self._unit(DIMENSION), self._unit(QUERY_ROWS, LATE_DIMENSION))
        return RecallQuery(scope=TenantScope(f"tenant-{index % self._tenants}"), text=self._words(WORDS_IN_QUERY), embedding=embedding)

    def _unit(self, *shape: int) -> Vector:
        vectors = self._random.standard_normal(shape, dtype=np.float32)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), dtype=np.float32)

    def _words(self, count: int) -> str:
        return " ".join(f"w{rank % VOCABULARY}" for rank in self._random.zipf(1.3, count))


@contextmanager
def owner_process(folder: Path, socket: Path) -> Iterator[None]:
    """Runs an owner process on a folder within the block."""
    command = [sys.executable, "-m", "retrieval.stores.edge", "--data", str(folder), "--socket", str(socket)]
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


async def wait_until_ready(store: EdgeStore, *, within_s: float = 60.0) -> None:
    """Waits until the owner responds."""
    deadline = time.monotonic() + within_s
    while True:
        try:
            return await store.ping()
        except StoreUnavailableError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.05)


async def fill(store: EdgeStore, data: RandomData, count: int) -> float:
    """Writes points.

    Args:
        store: The store to write to.
        data: Makes the points.
        count: How many points.

    Returns:
        The seconds that the store took.
    """
    seconds = 0.0
    for start in range(0, count, BATCH):
        points = [data.point(index) for index in range(start, min(count, start + BATCH))]
        started = time.perf_counter()
        await store.upsert(points)
        seconds += time.perf_counter() - started
    return seconds


async def latencies(queries: list[RecallQuery], recall: Callable[[RecallQuery], Awaitable[list[ScoredMemory]]]) -> list[float]:
    """The milliseconds of each query, one after another. A tenth of them run before, as a warm-up."""
    for query in queries[: len(queries) // 10]:
        await recall(query)
    milliseconds: list[float] = []
    for query in queries:
        started = time.perf_counter()
        found = await recall(query)
        milliseconds.append((time.perf_counter() - started) * 1000)
        assert len(found) == query.limit
    return milliseconds


def in_process(shard: Shard) -> Callable[[RecallQuery], Awaitable[list[ScoredMemory]]]:
    """The same query to the shard itself: the cost of the engine and of reading records, without the socket."""

    async def recall(query: RecallQuery) -> list[ScoredMemory]:
        plan = plan_query(query)
        records = best(shard.recall(plan, explain=query.explain), plan.limit)
        return [ScoredMemory(memory_of(each.record), each.score, each.parts) for each in records]

    return recall


def summary(milliseconds: list[float]) -> dict[str, float]:
    """p50 and p95 of latencies, in milliseconds."""
    return {"p50_ms": round(float(np.percentile(milliseconds, 50)), 3), "p95_ms": round(float(np.percentile(milliseconds, 95)), 3)}


async def measure(*, points: int, tenants: int, queries: int, folder: Path) -> dict[str, Any]:
    """Fills a shard, then queries it through the socket and in-process.

    Args:
        points: How many points.
        tenants: How many tenants have them.
        queries: How many queries to measure.
        folder: Holds the shard and the socket.
    """
    data = RandomData(seed=1, tenants=tenants)
    shard_folder, socket = folder / "edge", folder / "edge.sock"
    with owner_process(shard_folder, socket):
        store = EdgeStore(path=socket, timeout_s=60)
        await wait_until_ready(store)
        await store.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
        seconds = await fill(store, data, points)
        recall_queries = [data.query(index) for index in range(queries)]
        socket_ms = await latencies(recall_queries, store.recall)
        await store.close()
    shard = Shard(shard_folder)
    in_process_ms = await latencies(recall_queries, in_process(shard))
    shard.close()
    socket_summary, in_process_summary = summary(socket_ms), summary(in_process_ms)
    return {
        "points": points,
        "tenants": tenants,
        "queries": queries,
        "socket": socket_summary,
        "in_process": in_process_summary,
        "ratio_p50": round(socket_summary["p50_ms"] / in_process_summary["p50_ms"], 3),
        "ratio_p95": round(socket_summary["p95_ms"] / in_process_summary["p95_ms"], 3),
        "upserts_per_s": round(points / seconds, 1),
        "python": platform.python_version(),
    }


def main() -> None:
    """Measures, prints and writes the report."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.bench_recall", description=__doc__)
    parser.add_argument("--points", type=int, default=50_000)
    parser.add_argument("--tenants", type=int, default=50)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--report", type=Path, default=Path("build/reports/recall.json"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="varve-bench-") as folder:
        report = asyncio.run(measure(points=arguments.points, tenants=arguments.tenants, queries=arguments.queries, folder=Path(folder)))
    text = orjson.dumps(report, option=orjson.OPT_INDENT_2)
    arguments.report.parent.mkdir(parents=True, exist_ok=True)
    arguments.report.write_bytes(text)
    print(text.decode())


if __name__ == "__main__":
    main()
