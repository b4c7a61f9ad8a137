"""Recalls, bytes on disk and bytes in memory as one tenant grows."""

import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes import resident_bytes
from benchmarks.service import EDGE_FOLDER, SOCKET, edge_owner
from benchmarks.store_recalls import memories, of_store, questions
from evaluation.bench_recall import fill
from models.embedding.projection import LATE_DIMENSION
from models.embedding.weights import DIMENSION, MODEL_NAME
from runtime.disk_usage import bytes_on_disk
from stores.edge.client import EdgeStore


async def curve(folder: Path, sizes: Sequence[int], *, queries: int, plain: bool) -> list[dict[str, float]]:
    """One line for each size, of one caller and one store that grows.

    Args:
        folder: Empty; its path must be short, for the Edge's socket.
        sizes: Memories of the tenant.
        queries: How many are asked at each size.
        plain: As :func:`benchmarks.store_recalls.questions` has it.
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
