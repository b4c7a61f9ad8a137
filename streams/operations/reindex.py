"""A second vector store with another embedding model, filled from the change feed while the present one serves. No LLM is called.

Its index workers have a separate consumer group, which begins at the start of the feed. They run until they are stopped, so the second
store stays as new as the present one.
"""

import time
from dataclasses import dataclass
from typing import Final

from memory.errors import RecordError
from memory.records import Memory, MemoryChange
from memory.topics import MEMORIES
from models.embedding.build import build_embedder
from runtime.interruption import pause
from runtime.kafka import KafkaOffsets
from runtime.kafka.bulk import read_range
from runtime.settings import Settings
from stores.index_writer import embed_memories
from streams.stages.catalog import STAGES

_SAMPLE: Final = 200
"""Texts that are embedded for an estimate."""
_READ: Final = 400
"""Records read for it from the end of each partition."""
_LATE_TOKENS: Final = 25
"""Typical number of tokens in a memory."""
_INDEX_FACTOR: Final = 1.3
"""Indexes and free space, relative to vectors and payload: from 5.2 kB per memory on Edge."""
_PATIENCE_S: Final = 5.0
_POLL_S: Final = 0.2
_WRITING_S: Final = 0.0003
"""Time of the store for one memory, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexPlan:
    """Estimate of a second store."""

    model: str
    dimension: int
    memories: int
    """At most: compaction leaves offsets without records."""
    point_bytes: float
    embedding_s: float
    """Measured time to embed one text on this machine."""

    @property
    def size(self) -> float:
        """Bytes of the second store."""
        return self.memories * self.point_bytes

    @property
    def duration_s(self) -> float:
        """Time of one worker to fill the store."""
        return self.memories * (self.embedding_s + _WRITING_S)


@dataclass(frozen=True, slots=True)
class ReindexProgress:
    """Progress of the second index workers."""

    read: int
    total: int
    lag: int
    """Records that the present store's workers have read and these have not."""

    @property
    def is_complete(self) -> bool:
        """Whether the second store is as new as the present one. Under load neither is ever at the end of the feed."""
        return self.lag == 0


def second_group(settings: Settings, name: str) -> str:
    """The consumer group of the second index workers."""
    return STAGES["index"].group(settings.kafka.topic_prefix, suffix=name)


async def plan_reindex(settings: Settings) -> ReindexPlan:
    """Estimates size and time of a store with the embedding model of the settings. Embeds a few memories; writes nothing.

    Raises:
        KafkaUnavailableError: No broker responds.
        ModelError: The model is unavailable or not configured.
    """
    sample, upserts, found, total = await _sample(settings)
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    try:
        await embed_memories(embedder, sample[:1])  # loads the model
        started = time.monotonic()
        await embed_memories(embedder, sample[1:])
        elapsed_s = time.monotonic() - started
        late = embedder.late_dimension
        dimension, model = embedder.dimension, embedder.name
    finally:
        await embedder.close()
    payload = sum(len(each.to_json()) for each in sample) / max(1, len(sample))
    vectors = dimension + (0 if late is None else _LATE_TOKENS * late / 2)
    return ReindexPlan(
        model=model,
        dimension=dimension,
        memories=round(total * upserts / found) if found else 0,
        point_bytes=(payload + vectors) * _INDEX_FACTOR,
        embedding_s=elapsed_s / max(1, len(sample) - 1),
    )


async def read_reindex(settings: Settings, name: str, *, patience_s: float = _PATIENCE_S) -> ReindexProgress:
    """The progress of the second index workers.

    Args:
        settings: Kafka's address.
        name: The name of the second store's workers.
        patience_s: How long they may take to read what the present store's workers have read at the beginning of the call, in seconds.

    Raises:
        KafkaUnavailableError: No broker responds.
    """
    topic = settings.topic(MEMORIES.name)
    deadline = time.monotonic() + patience_s
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        present = await offsets.committed_offsets(STAGES["index"].group(settings.kafka.topic_prefix), [topic])
        while True:
            second = await offsets.committed_offsets(second_group(settings, name), [topic])
            lag = sum(max(0, offset - second.get(place, 0)) for place, offset in present.items())
            if not lag or time.monotonic() >= deadline:
                break
            await pause(_POLL_S)
        ends = await offsets.end_offsets([topic])
    return ReindexProgress(sum(min(second.get(place, 0), end) for place, end in ends.items()), sum(ends.values()), lag)


async def _sample(settings: Settings) -> tuple[list[Memory], int, int, int]:
    """Some memories; the number of read records that have a memory; the number of read records; and that of all records."""
    topic = settings.topic(MEMORIES.name)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        begins, ends = await offsets.beginning_offsets([topic]), await offsets.end_offsets([topic])
    memories: list[Memory] = []
    upserts = found = 0
    for place, end in ends.items():
        async for records in read_range(place, settings.kafka, begin=max(begins[place], end - _READ), end=end):
            for record in records:
                found += 1
                memory = _memory_in(record.value)
                upserts += memory is not None
                if memory is not None and len(memories) < _SAMPLE:
                    memories.append(memory)
    return memories, upserts, found, sum(end - begins[place] for place, end in ends.items())


def _memory_in(value: bytes | None) -> Memory | None:
    try:
        return None if value is None else MemoryChange.from_json(value).memory
    except RecordError:
        return None
