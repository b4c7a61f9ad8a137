"""``python -m evaluation storage``: the size of what the offline extractor stores of LoCoMo, compared with the raw turns.

VikingMem (table 3) compares the tokens of the stored memories with those of the conversation. Bytes and vectors are added here, and what
the events take on the disk of a real Edge shard: for each, and for a year of a user who talks as much as LoCoMo's.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from evaluation.bench_recall import owner_process, wait_until_ready
from evaluation.locomo import AnnotatedWindow, read_locomo
from extraction.offline.extractor import OfflineExtractor
from extraction.port import ExtractionContext
from memory.records import Memory
from memory.schema import scenario, scenario_names
from models.embedding.build import build_embedder
from models.embedding.port import Embedder, Embedding
from models.embedding.tokens import count_tokens
from operators.entities.routing import contributions_of
from runtime.settings import Settings
from stores.edge.client import EdgeStore
from stores.edge.folder import bytes_on_disk
from stores.index_writer import embed_memories
from stores.port import Point
from stores.position import FeedPosition
from streams.stages.events.corrections import PresentEvent
from streams.stages.events.ledger_entries import PublishedWindow
from streams.stages.events.publishing import fed_entities, memory_of

_LENGTH_BYTES: Final = 4
"""Both stores keep a byte for each number of a dense vector, half a byte for each of a late one, and the length."""
_YEAR: Final = timedelta(days=365.25)


@dataclass(slots=True)
class StorageSize:
    """The size of a number of stored texts."""

    count: int = 0
    tokens: int = 0
    text_bytes: int = 0
    record_bytes: int = 0
    dense_bytes: int = 0
    late_bytes: int = 0

    def add(self, text: str, record: bytes, embedding: Embedding) -> None:
        """Adds one text.

        Args:
            text: The embedded text.
            record: Its record as Kafka holds it.
            embedding: Its vectors.
        """
        self.count += 1
        self.tokens += count_tokens(text)
        self.text_bytes += len(text.encode())
        self.record_bytes += len(record)
        self.dense_bytes += embedding.dense.size + _LENGTH_BYTES
        self.late_bytes += 0 if embedding.late is None else embedding.late.size // 2 + len(embedding.late) * _LENGTH_BYTES

    def as_report(self) -> dict[str, Any]:
        """The sizes as JSON values."""
        return {
            "count": self.count,
            "tokens": self.tokens,
            "text_bytes": self.text_bytes,
            "record_bytes": self.record_bytes,
            "dense_bytes": self.dense_bytes,
            "late_bytes": self.late_bytes,
            "vectors_to_text": round((self.dense_bytes + self.late_bytes) / self.text_bytes, 2) if self.text_bytes else None,
        }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's own arguments."""
    parser.add_argument("--schema", choices=scenario_names(), default="companion", help="the memory types to extract")
    parser.add_argument("--conversations", type=int, help="how many conversations to read; default: all")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Runs the benchmark and returns its report."""
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    conversations = read_locomo(arguments.data)[: arguments.conversations]
    windows = [each.window for conversation in conversations for each in conversation]
    settings, schema = Settings(), scenario(arguments.schema)
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    turns, events, segments, patches = StorageSize(), StorageSize(), StorageSize(), 0
    memories: list[Memory] = []
    try:
        extractor = OfflineExtractor(embedder=embedder)
        for window in windows:
            extraction = await extractor.extract(window, schema, ExtractionContext())
            await _add(turns, [(message.text, message.to_json()) for message in window.messages], embedder)
            fed = fed_entities(contributions_of(extraction, schema, source="extractions/0", position=0))
            found = [memory_of(PresentEvent(event, event), PublishedWindow(0, extraction, ()), fed=fed) for event in extraction.events]
            memories += found
            await _add(events, [(each.content, each.to_json()) for each in found], embedder)
            await _add(segments, [(each.topic, each.model_dump_json().encode()) for each in extraction.segments], embedder)
            patches += len(extraction.patches)
        on_disk = await _on_disk(memories, embedder)
    finally:
        await embedder.close()
    return {
        "data": arguments.data.name,
        "extractor": extractor.name,
        "schema": arguments.schema,
        "tokenizer": "all-MiniLM-L6-v2 WordPiece",
        "windows": len(windows),
        "raw_turns": turns.as_report(),
        "events": events.as_report(),
        "segments": segments.as_report(),
        "on_disk": {**on_disk, **_by_user_year(on_disk["bytes"], conversations)},
        "patches": patches,
        "event_tokens_to_raw": round(events.tokens / turns.tokens, 4),
        "event_text_bytes_to_raw": round(events.text_bytes / turns.text_bytes, 4),
        "event_record_bytes_to_raw": round(events.record_bytes / turns.record_bytes, 4),
        "event_vector_bytes_to_turn_vectors": round((events.dense_bytes + events.late_bytes) / (turns.dense_bytes + turns.late_bytes), 4),
        "turns_per_event": round(turns.count / events.count, 3),
    }


async def _add(total: StorageSize, texts: Sequence[tuple[str, bytes]], embedder: Embedder) -> None:
    embeddings = await embedder.embed_documents([text for text, _ in texts]) if texts else []
    for (text, record), embedding in zip(texts, embeddings, strict=True):
        total.add(text, record, embedding)


async def _on_disk(memories: Sequence[Memory], embedder: Embedder) -> dict[str, Any]:
    """The size of an Edge shard with these memories, its write-ahead log included, after its owner has stopped."""
    with tempfile.TemporaryDirectory(prefix="varve-storage-") as name:
        folder, socket = Path(name) / "edge", Path(name) / "socket"
        with owner_process(folder, socket):
            store = EdgeStore(path=socket, timeout_s=60)
            try:
                await wait_until_ready(store)
                await store.prepare(model=embedder.name, dimension=embedder.dimension, late_dimension=embedder.late_dimension)
                embeddings = await embed_memories(embedder, memories)
                pairs = enumerate(zip(memories, embeddings, strict=True))
                await store.upsert([Point(memory, embedding, FeedPosition(0, offset, offset)) for offset, (memory, embedding) in pairs])
            finally:
                await store.close()
        total = bytes_on_disk(folder)
        return {
            "memories": len(memories),
            "bytes": total,
            "log_bytes": sum(bytes_on_disk(log) for log in folder.rglob("wal")),
            "bytes_per_memory": round(total / len(memories)) if memories else None,
        }


def _by_user_year(total: int, conversations: Sequence[Sequence[AnnotatedWindow]]) -> dict[str, float | None]:
    """The bytes of a year, from the time that each conversation spans."""
    years = 0.0
    for conversation in conversations:
        times = [message.event_time for each in conversation for message in each.window.messages]
        years += (max(times) - min(times)) / _YEAR
    return {"user_years": round(years, 3), "bytes_per_user_year": round(total / years) if years else None}
