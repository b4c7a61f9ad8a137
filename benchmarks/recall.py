"""``python -m benchmarks.recall``: latency of recalls by number of tenants, memories and callers.

Writes ``build/reports/recall.json``. Its ``cells`` have a line for each shape (tenants x memories of each) and number of callers; each
caller asks one question after another. Random memories (:mod:`evaluation.bench_recall`) in a real Edge owner; times in milliseconds:

* ``store_p95_ms``: the query of a recall to the store, with the parts of the scores, through the owner's socket;
* ``without_embedding_p50_ms``, ``without_embedding_p95_ms``: a whole recall whose query is already embedded: the store and the ranking;
* ``http_p50_ms``, ``http_p95_ms`` and ``per_second``: calls of the service, with real Kafka and Redis, including the embedding;
* ``ratio_to_embedding_alone``: ``per_second`` relative to ``embedding_alone_per_second``, the query embeddings a second of as many models
  as there are cores, before the store is filled: the upper bound of any recall that embeds its query;
* ``cpu_ms_per_recall``, of the same calls: the CPU time of each process, which shows the limit;
* ``ratio_to_dense_only``: ``without_embedding_p95_ms`` relative to a query by the dense vector alone, through the same socket;
* ``socket_to_in_process``, for one caller: the store's p95 relative to the same queries to the engine in this process;
* ``bytes_per_memory``: the shard's size on disk per memory, with the write-ahead log.

The questions are those of an application: they name the user, so the user's entities are searched as well, and every second one names a
person, so it is also compared in the first person. All memories of a tenant belong to one user, and each fiftieth is an entity: a recall
searches all memories of the cell, the hardest case. ``--plain`` searches the whole tenant, with events of seven users, and names no person.
Figures up to 2026-11-25 were measured this way if they do not say otherwise; they cannot be compared with the default.

``--curve 10000 100000`` fills one tenant to each size in turn instead, and writes ``curve``, with ``resident_bytes``: the memory of the
owner's process, including mapped pages of its files.
"""

import argparse
import asyncio
import json
import os
import platform
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.callers import Caller, Service, question, statuses
from benchmarks.processes import cpu_seconds, resident_bytes
from benchmarks.reports import benchmark_parser, p50, p95, write_report
from benchmarks.service import EDGE_FOLDER, SOCKET, edge_owner, running_service
from benchmarks.store_recalls import USER, as_recalled, asked_by, memories, of_store, questions
from evaluation.bench_recall import fill, in_process
from models.embedding.build import build_embedder
from models.embedding.port import Embedder
from models.embedding.weights import DIMENSION, LATE_DIMENSION, MODEL_NAME
from runtime.settings import Settings
from stores.edge.client import EdgeStore
from stores.edge.folder import bytes_on_disk
from stores.edge.shard import Shard
from stores.port import RecallQuery

SHAPES: Final = ((1000, 100), (100, 1000), (1, 100_000))
"""Tenants, and memories of each."""
CALLERS: Final = (1, 16, 64)
_ASKED: Final = 64
"""Most tenants that are queried."""


async def embeddings_per_second(*, callers: int, seconds: float) -> float:
    """How many questions the embedding model embeds a second, with a model per core.

    Args:
        callers: Number of concurrent callers of each model.
        seconds: Duration.
    """
    settings = Settings()
    embedders = [build_embedder(settings.embedding, cache=settings.cache_path) for _ in range(os.cpu_count() or 1)]
    done = 0

    async def embed(embedder: Embedder, caller: str, until: float) -> None:
        nonlocal done
        number = 0
        while time.monotonic() < until:
            number += 1
            await embedder.embed_query(question(f"{caller}{until:.0f}", number, names_persons=True))
            done += 1

    try:
        for duration in (min(1.0, seconds), seconds):  # The first is a warm-up.
            done, until = 0, time.monotonic() + duration
            await asyncio.gather(
                *(embed(embedder, f"cell{model}-{each}", until) for model, embedder in enumerate(embedders) for each in range(callers))
            )
    finally:
        for embedder in embedders:
            await embedder.close()
    return done / seconds


async def of_service(service: Service, *, callers: int, seconds: float, plain: bool) -> dict[str, Any]:
    """The figures of a cell that are measured through the service.

    Args:
        service: A running service.
        callers: Number of concurrent callers.
        seconds: Duration.
        plain: Whether the questions name neither their user nor a person.
    """
    tenants = [*service.keys]
    named: dict[str, Any] = {} if plain else {"names_persons": True, "user": USER}
    asking = [Caller(service, tenants[each % len(tenants)], f"cell{callers}-{each}", **named) for each in range(callers)]
    until, pids = time.monotonic() + seconds, {**service.pids, "callers": os.getpid()}
    before = cpu_seconds(pids)
    await asyncio.gather(*(each.run(until) for each in asking))
    cpu_s = {name: after - before[name] for name, after in cpu_seconds(pids).items()}
    answered = [s * 1000 for caller in asking for s in caller.seconds]
    return {
        "http_p50_ms": p50(answered) if answered else None,
        "http_p95_ms": p95(answered) if answered else None,
        "per_second": round(len(answered) / seconds, 1),
        "cpu_ms_per_recall": {name: round(each * 1000 / max(1, len(answered)), 2) for name, each in sorted(cpu_s.items())},
        "statuses": statuses(asking),
    }


async def measure_shape(folder: Path, *, tenants: int, each: int, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """The cells of one shape.

    Args:
        folder: An empty folder; its path must be short, for the Edge's socket.
        tenants: Number of tenants.
        each: Memories of each.
        arguments: The arguments of the command.
    """
    cells: list[dict[str, Any]] = []
    alone = await embeddings_per_second(callers=max(arguments.callers), seconds=arguments.seconds / 2)
    asked, plain = min(tenants, _ASKED), arguments.plain
    queries = questions(arguments.queries, tenants=asked, plain=plain)
    data = memories(seed=1, tenants=tenants, plain=plain)
    async with running_service(folder, points=each, tenants=tenants, with_keys=asked, data=data) as service:
        store = EdgeStore(path=folder / SOCKET, timeout_s=60)
        await of_service(service, callers=4, seconds=arguments.seconds / 2, plain=plain)  # a warm-up
        for callers in arguments.callers:
            cell = {"tenants": tenants, "memories_per_tenant": each, "concurrency": callers}
            cell |= await of_store(store, queries, callers=callers)
            cell |= await of_service(service, callers=callers, seconds=arguments.seconds, plain=plain)
            cell["embedding_alone_per_second"] = round(alone, 1)
            cell["ratio_to_embedding_alone"] = round(cell["per_second"] / alone, 3)
            cell["bytes_per_memory"] = bytes_per_memory(folder, tenants * each)
            print(json.dumps(cell), flush=True)
            cells.append(cell)
        await store.close()
    shard = Shard(folder / EDGE_FOLDER)
    direct = await _of_engine(shard, await as_recalled(queries))
    shard.close()
    for cell in cells:
        if cell["concurrency"] == 1:
            cell["socket_to_in_process"] = round(cell["store_p95_ms"] / direct, 2)
    return cells


async def _of_engine(shard: Shard, queries: Sequence[RecallQuery]) -> float:
    """The p95 of the engine in this process, which has answered the same queries before, like the owner."""
    recall = in_process(shard)
    for query in queries:
        await recall(query)
        shard.read_on()
    return p95(await asked_by(1, queries, recall))


async def curve(folder: Path, sizes: Sequence[int], *, queries: int, plain: bool) -> list[dict[str, float]]:
    """One line for each size, with one caller and one growing store.

    Args:
        folder: An empty folder; its path must be short, for the Edge's socket.
        sizes: Memories of the tenant.
        queries: Number of queries at each size.
        plain: See :func:`benchmarks.store_recalls.questions`.
    """
    data, asked = memories(seed=1, tenants=1, plain=plain), questions(queries, tenants=1, plain=plain)
    lines: list[dict[str, float]] = []
    held = 0
    async with edge_owner(folder) as owner:
        store = EdgeStore(path=folder / SOCKET, timeout_s=60)
        await store.prepare(model=MODEL_NAME, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
        for size in sorted(sizes):
            await fill(store, data, size, first=held)
            held = size
            line = {
                "points": size,
                **await of_store(store, asked, callers=1),
                "bytes_per_memory": bytes_per_memory(folder, size),
                "resident_bytes": resident_bytes(owner),
            }
            print(json.dumps(line), flush=True)
            lines.append(line)
        await store.close()
    return lines


def bytes_per_memory(folder: Path, memories: int) -> int:
    """The disk space of a folder's shard per memory, the write-ahead log included."""
    return round(bytes_on_disk(folder / EDGE_FOLDER) / memories)


async def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    measured: dict[str, Any] = {}
    if arguments.curve:
        with tempfile.TemporaryDirectory(prefix="varve-") as folder:
            measured["curve"] = await curve(Path(folder), arguments.curve, queries=arguments.queries, plain=arguments.plain)
    else:
        measured["cells"] = []
        for tenants, each in SHAPES:
            with tempfile.TemporaryDirectory(prefix="varve-") as folder:
                smaller = max(1, int(each * arguments.scale))
                measured["cells"] += await measure_shape(Path(folder), tenants=tenants, each=smaller, arguments=arguments)
        measured["scale"] = arguments.scale
    about = {"plain": arguments.plain, "load_average": os.getloadavg(), "python": platform.python_version()}
    return measured | about


def main() -> None:
    """Measures, prints and writes the report."""
    parser = benchmark_parser("recall", __doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of each tenant's memories; below 1 for a quick look")
    parser.add_argument("--callers", type=int, nargs="*", default=[*CALLERS], help="numbers of concurrent callers")
    parser.add_argument("--queries", type=int, default=400, help="queries to the store, per cell")
    parser.add_argument("--seconds", type=float, default=8.0, help="time of recalls over HTTP, per cell")
    parser.add_argument("--plain", action="store_true", help="recall from the whole tenant and name nobody, as older figures did")
    parser.add_argument("--curve", type=int, nargs="+", metavar="MEMORIES", help="grow one tenant to these sizes instead")
    arguments = parser.parse_args()
    write_report(arguments.report, asyncio.run(_run(arguments)))


if __name__ == "__main__":
    main()
