"""Latency of recalls by tenants, memories and callers: ``python -m benchmarks.recall``.

Writes ``build/reports/recall.json``; its ``cells`` have a line for each shape (tenants x memories of each) and number of callers, who ask
one question after another. Random memories (:mod:`evaluation.bench_recall`) on a real Edge owner; all p95 in milliseconds:

* ``store_p95_ms``: the store's answer to what a recall asks it, with its scores' parts, through the owner's socket;
* ``without_embedding_p95_ms``: a whole recall whose query is embedded already: the store and the ranking;
* ``http_p95_ms`` and ``per_second``: calls of the service, on real Kafka and Redis, embedding included;
* ``cpu_ms_per_recall``, of the same calls: the computing time of each process, on all cores together, which tells what the limit is;
* ``ratio_to_dense_only``: ``without_embedding_p95_ms`` to that of a plain query by the dense vector alone, through the same socket;
* ``socket_to_in_process``, of one caller: the store's p95 to that of the same queries to the engine in this process.
"""

import argparse
import asyncio
import json
import os
import platform
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from benchmarks.callers import Caller, Service, statuses
from benchmarks.processes import cpu_seconds
from benchmarks.service import EDGE_FOLDER, SOCKET, running_service
from evaluation.bench_recall import DIMENSION, LATE_DIMENSION, START, RandomData, in_process
from models.embedding.port import Embedding
from models.embedding.weights import MODEL_NAME
from retrieval.recall import Recall, RecallRequest
from retrieval.stores.edge.client import EdgeStore
from retrieval.stores.edge.shard import Shard
from retrieval.stores.port import RecallQuery
from runtime.clocks import SystemClock
from runtime.settings import RecallSettings

T = TypeVar("T")

SHAPES: Final = ((1000, 100), (100, 1000), (1, 100_000))
"""Tenants, and memories of each."""
CALLERS: Final = (1, 16, 64)
_ASKED: Final = 64
"""Most tenants that are asked."""
_NO_WORD: Final = "the"
"""A query of stop words alone has no terms."""


class ReadyEmbedder:
    """An embedder whose queries are embedded already.

    Args:
        queries: By their texts.
    """

    name = MODEL_NAME
    dimension = DIMENSION
    late_dimension = LATE_DIMENSION

    def __init__(self, queries: Sequence[RecallQuery]) -> None:
        self._embeddings = {each.text: each.embedding for each in queries}

    async def embed_query(self, text: str) -> Embedding:
        """The query's."""
        return self._embeddings[text]

    async def embed_documents(self, texts: list[str]) -> list[Embedding]:
        """The texts', if they are queries."""
        return [self._embeddings[each] for each in texts]

    async def close(self) -> None:
        """Holds nothing."""


async def asked_by(callers: int, questions: Sequence[T], ask: Callable[[T], Awaitable[object]]) -> list[float]:
    """The milliseconds of each question, asked by so many callers, each one after another.

    Args:
        callers: How many.
        questions: All of them together.
        ask: Asks one.
    """
    left, milliseconds = iter(questions), list[float]()

    async def caller() -> None:
        for each in left:
            started = time.perf_counter()
            await ask(each)
            milliseconds.append((time.perf_counter() - started) * 1000)

    await asyncio.gather(*(caller() for _ in range(callers)))
    return milliseconds


async def of_store(store: EdgeStore, queries: Sequence[RecallQuery], *, callers: int) -> dict[str, float]:
    """The figures of a cell that need no service.

    Args:
        store: Holds the memories.
        queries: What is asked.
        callers: How many ask.
    """
    recall = Recall(store=store, embedder=ReadyEmbedder(queries), settings=RecallSettings(), clock=SystemClock())
    requests = [RecallRequest(scope=each.scope, query=each.text) for each in queries]
    dense = [replace(each, text=_NO_WORD, embedding=Embedding(each.embedding.dense, None), limit=10, prefetch=10) for each in queries]
    await asked_by(callers, requests[: len(requests) // 4], recall.recall)  # a warm-up
    dense_only = _p95(await asked_by(callers, dense, store.recall))
    without_embedding = _p95(await asked_by(callers, requests, recall.recall))
    return {
        "store_p95_ms": _p95(await asked_by(callers, [as_recalled(each) for each in queries], store.recall)),
        "without_embedding_p95_ms": without_embedding,
        "dense_only_p95_ms": dense_only,
        "ratio_to_dense_only": round(without_embedding / dense_only, 2),
    }


async def of_service(service: Service, *, callers: int, seconds: float) -> dict[str, Any]:
    """The figures of a cell that the service is asked for.

    Args:
        service: A running one.
        callers: How many ask.
        seconds: For how long.
    """
    tenants = [*service.keys]
    asking = [Caller(service, tenants[each % len(tenants)], f"cell{callers}-{each}") for each in range(callers)]
    until, pids = time.monotonic() + seconds, {**service.pids, "callers": os.getpid()}
    before = cpu_seconds(pids)
    await asyncio.gather(*(each.run(until) for each in asking))
    cpu_s = {name: after - before[name] for name, after in cpu_seconds(pids).items()}
    answered = [s * 1000 for caller in asking for s in caller.seconds]
    return {
        "http_p95_ms": _p95(answered) if answered else None,
        "per_second": round(len(answered) / seconds, 1),
        "cpu_ms_per_recall": {name: round(each * 1000 / max(1, len(answered)), 2) for name, each in sorted(cpu_s.items())},
        "statuses": statuses(asking),
    }


async def measure_shape(folder: Path, *, tenants: int, memories: int, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """The cells of one shape.

    Args:
        folder: Empty; its path must be short, for the Edge's socket.
        tenants: How many.
        memories: Of each.
        arguments: The command's.
    """
    cells: list[dict[str, Any]] = []
    asked = min(tenants, _ASKED)
    data = RandomData(seed=2, tenants=asked)
    queries = [replace(each, text=f"{each.text} w{number}") for number, each in enumerate(map(data.query, range(arguments.queries)))]
    async with running_service(folder, points=memories, tenants=tenants, with_keys=asked) as service:
        store = EdgeStore(path=folder / SOCKET, timeout_s=60)
        await of_service(service, callers=4, seconds=arguments.seconds / 2)  # a warm-up
        for callers in arguments.callers:
            cell = {"tenants": tenants, "memories_per_tenant": memories, "concurrency": callers}
            cell |= await of_store(store, queries, callers=callers)
            cell |= await of_service(service, callers=callers, seconds=arguments.seconds)
            print(json.dumps(cell), flush=True)
            cells.append(cell)
        await store.close()
    shard = Shard(folder / EDGE_FOLDER)
    direct = _p95(await asked_by(1, [as_recalled(each) for each in queries], in_process(shard)))
    shard.close()
    for cell in cells:
        if cell["concurrency"] == 1:
            cell["socket_to_in_process"] = round(cell["store_p95_ms"] / direct, 2)
    return cells


def as_recalled(query: RecallQuery) -> RecallQuery:
    """The query as a recall asks it: with the parts of the scores of all candidates, since the ranking model looks at them."""
    prefetch = RecallSettings().prefetch
    return replace(query, limit=prefetch, prefetch=prefetch, explain=True, alive_at=START)


def _p95(milliseconds: Sequence[float]) -> float:
    return round(float(np.percentile(milliseconds, 95)), 2)


async def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    cells: list[dict[str, Any]] = []
    for tenants, memories in SHAPES:
        with tempfile.TemporaryDirectory(prefix="varve-") as folder:
            smaller = max(1, int(memories * arguments.scale))
            cells += await measure_shape(Path(folder), tenants=tenants, memories=smaller, arguments=arguments)
    return {"cells": cells, "scale": arguments.scale, "load_average": os.getloadavg(), "python": platform.python_version()}


def main() -> None:
    """Measures, prints and writes the report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.recall", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=float, default=1.0, help="part of each tenant's memories: less for a quick look")
    parser.add_argument("--callers", type=int, nargs="*", default=[*CALLERS], help="how many ask at once")
    parser.add_argument("--queries", type=int, default=400, help="asked of the store, in each cell")
    parser.add_argument("--seconds", type=float, default=8.0, help="for which the service is asked, in each cell")
    parser.add_argument("--report", type=Path, default=Path("build/reports/recall.json"))
    arguments = parser.parse_args()
    report = asyncio.run(_run(arguments))
    arguments.report.parent.mkdir(parents=True, exist_ok=True)
    arguments.report.write_text(json.dumps(report, indent=2) + "\n")
    print(arguments.report.read_text())


if __name__ == "__main__":
    main()
