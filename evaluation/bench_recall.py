"""Random memories and queries, an Edge owner to ask, and how long it takes: what the benchmarks of recall are made of.

The points are random unit vectors and random words. Each has as many terms and token vectors as the offline extractor's events have on
LoCoMo.
"""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from memory.ids import event_id
from memory.records import Memory
from models.embedding.port import Embedding, Vector
from models.embedding.weights import DIMENSION, LATE_DIMENSION
from stores.edge.client import EdgeStore
from stores.edge.search import best
from stores.edge.shard import Shard
from stores.errors import StoreUnavailableError
from stores.points import memory_of
from stores.port import MemoryFilter, Point, RecallQuery, ScoredMemory, TenantScope
from stores.position import FeedPosition
from stores.query_plan import plan_query

MODEL = "random"
LATE_ROWS = 40
QUERY_ROWS = 14
WORDS_IN_TEXT = 22
WORDS_IN_QUERY = 6
VOCABULARY = 20_000
BATCH = 128
ENTITY_TYPE = "user_profile"
"""One that the schema ``companion`` has."""
START = datetime(2024, 1, 1, tzinfo=UTC)


class RandomData:
    """Random points and queries, reproducible by seed.

    Args:
        seed: Seed of the random generator.
        tenants: Among how many tenants the points are distributed.
        users: Among how many users, ``user-0`` and so on, those of each tenant are.
        entity_every: Each so-manieth memory of a tenant is an entity; 0: all are events.
    """

    def __init__(self, *, seed: int, tenants: int, users: int = 7, entity_every: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        self._tenants = tenants
        self._users = users
        self._entity_every = entity_every

    def point(self, index: int) -> Point:
        """The memory of that index, with random vectors."""
        tenant = f"tenant-{index % self._tenants}"
        is_entity = bool(self._entity_every) and (index // self._tenants + 1) % self._entity_every == 0
        memory = Memory(
            id=event_id(tenant, index),
            tenant=tenant,
            user=f"user-{index % self._users}",
            kind="entity" if is_entity else "event",
            type=ENTITY_TYPE if is_entity else "conversation_event",
            content=self._words(WORDS_IN_TEXT),
            keywords=["alpha", "beta"],
            event_time=START + timedelta(minutes=index),
            message_ids=[f"m{index}"],
        )
        return Point(memory, Embedding(self._unit(DIMENSION), self._unit(LATE_ROWS, LATE_DIMENSION)), FeedPosition(0, index, index))

    def query(self, index: int) -> RecallQuery:
        """The query of that index, with random vectors."""
        embedding = Embedding(self._unit(DIMENSION), self._unit(QUERY_ROWS, LATE_DIMENSION))
        return RecallQuery(
            filter=MemoryFilter(scope=TenantScope(f"tenant-{index % self._tenants}")), text=self._words(WORDS_IN_QUERY), embedding=embedding
        )

    def _unit(self, *shape: int) -> Vector:
        vectors = self._random.standard_normal(shape, dtype=np.float32)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), dtype=np.float32)

    def _words(self, count: int) -> str:
        return " ".join(f"w{rank % VOCABULARY}" for rank in self._random.zipf(1.3, count))


@contextmanager
def owner_process(folder: Path, socket: Path) -> Iterator[None]:
    """Runs an owner process on a folder within the block."""
    command = [sys.executable, "-m", "stores.edge", "--data", str(folder), "--socket", str(socket)]
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


async def wait_until_ready(store: EdgeStore) -> None:
    """Waits until the owner responds, for a minute at most."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return await store.ping()
        except StoreUnavailableError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.05)


async def fill(store: EdgeStore, data: RandomData, count: int, *, first: int = 0) -> float:
    """Writes points.

    Args:
        store: The store to write to.
        data: Makes the points.
        count: How many points there are then.
        first: How many there are already.

    Returns:
        The seconds that the store took.
    """
    seconds = 0.0
    for start in range(first, count, BATCH):
        points = [data.point(index) for index in range(start, min(count, start + BATCH))]
        started = time.perf_counter()
        await store.upsert(points)
        seconds += time.perf_counter() - started
    return seconds


def in_process(shard: Shard) -> Callable[[RecallQuery], Awaitable[list[ScoredMemory]]]:
    """The same query to the shard itself: the cost of the engine and of reading records, without the socket."""

    async def recall(query: RecallQuery) -> list[ScoredMemory]:
        plan = plan_query(query)
        records = best(shard.recall(plan, explain=query.explain), plan.limit)
        return [ScoredMemory(memory_of(each.record), each.score, each.parts) for each in records]

    return recall
