"""``python -m benchmarks.extraction``: CPU per message of the extraction without a model, with its embedding, and by module.

One process, one thread for the embedding. The rules read all windows once before measuring, since a pattern is compiled when a text first
has its words: a worker pays that once.
"""

import asyncio
import cProfile
import os
import pstats
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.reports import benchmark_parser, write_report
from evaluation.facts.items import SHIPPED, read_items
from evaluation.locomo import read_locomo
from extraction.offline.drafting import read_window
from extraction.offline.extractor import OfflineExtractor
from extraction.port import ExtractionContext
from memory.records import Window
from memory.schema import MemorySchema, scenario
from models.embedding.build import build_embedder
from models.embedding.port import Embedder, Embedding
from runtime.settings import Settings

_SCHEMA: Final = "companion"
_WARM_UP: Final = 20
"""Windows for the embedding model."""
_ROOT: Final = Path(__file__).parent.parent


class _TimedEmbedder:
    """An embedder that adds up its CPU time, all threads together."""

    late_dimension = None

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = embedder.name
        self.dimension = embedder.dimension
        self.cpu_s = 0.0

    async def embed_documents(self, texts: list[str]) -> list[Embedding]:
        started = time.process_time()
        try:
            return await self._embedder.embed_documents(texts)
        finally:
            self.cpu_s += time.process_time() - started

    async def embed_query(self, text: str) -> Embedding:
        return await self._embedder.embed_query(text)

    def cached(self, text: str) -> Embedding | None:
        return self._embedder.cached(text)

    async def close(self) -> None:
        await self._embedder.close()


async def measure(windows: Sequence[Window], schema: MemorySchema) -> dict[str, Any]:
    """Measures everything.

    Args:
        windows: What is extracted, after the first ones without a measurement.
        schema: The memory types.

    Returns:
        The number of messages; the seconds of CPU for compiling the rules' patterns (``preparation_s``, with one reading of all messages);
        the milliseconds of CPU per message of the whole extraction (``extraction_ms``), of the embedding in it
        (``embedding_ms``) and of the rest (``without_embedding_ms``); those of the rules alone, which read messages before anything is
        embedded (``rules_ms``); and the share of the rules' time in each module (``modules``), regular expressions included.
    """
    warm_up, windows = windows[:_WARM_UP], windows[_WARM_UP:]
    messages = sum(len(each.messages) for each in windows)
    settings = Settings()
    started = time.process_time()
    _read_all(windows)
    preparation_s = time.process_time() - started
    embedder = _TimedEmbedder(build_embedder(settings.embedding, cache=settings.cache_path))
    extractor = OfflineExtractor(embedder=embedder)
    try:
        for window in warm_up:
            await extractor.extract(window, schema, ExtractionContext())
        embedder.cpu_s, started = 0.0, time.process_time()
        for window in windows:
            await extractor.extract(window, schema, ExtractionContext())
        extraction_s = time.process_time() - started
    finally:
        await embedder.close()
    started = time.process_time()
    _read_all(windows)
    rules_s = time.process_time() - started
    return {
        "messages": messages,
        "preparation_s": round(preparation_s, 2),
        "extraction_ms": round(extraction_s / messages * 1000, 3),
        "embedding_ms": round(embedder.cpu_s / messages * 1000, 3),
        "without_embedding_ms": round((extraction_s - embedder.cpu_s) / messages * 1000, 3),
        "rules_ms": round(rules_s / messages * 1000, 3),
        "modules": _shares(windows),
    }


def _read_all(windows: Sequence[Window]) -> None:
    for window in windows:
        read_window(window, frozenset())


def _shares(windows: Sequence[Window]) -> dict[str, float]:
    """The share of each module, the largest first. A function of another package counts for the modules that call it."""
    profile = cProfile.Profile()
    profile.runcall(_read_all, windows)
    seconds: Counter[str] = Counter()
    for (file, _, _), (_, _, own, _, callers) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        if (module := _module(file)) is not None:
            seconds[module] += own
            continue
        for (caller, _, _), (_, _, share, _) in callers.items():
            seconds[_module(caller) or "other"] += share
    total = seconds.total()
    return {module: round(each / total, 3) for module, each in seconds.most_common() if each >= 0.005 * total}


def _module(file: str) -> str | None:
    path = Path(file)
    return ".".join(path.relative_to(_ROOT).with_suffix("").parts) if path.is_relative_to(_ROOT) and ".venv" not in path.parts else None


def _windows(data: Path | None, count: int) -> list[Window]:
    if data is not None:
        return [each.window for conversation in read_locomo(data) for each in conversation][:count]
    return [window for item in read_items(SHIPPED) for window in item.windows()][:count]


def main() -> None:
    """Measures, prints and writes the report."""
    parser = benchmark_parser("extraction", __doc__)
    parser.add_argument("--data", type=Path, help="LoCoMo's file, or a part of it. Default: the shipped sentences of the facts data set")
    parser.add_argument("--windows", type=int, default=1000, help="how many windows are extracted at most; default: %(default)s")
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    windows = _windows(arguments.data, arguments.windows)
    write_report(arguments.report, asyncio.run(measure(windows, scenario(_SCHEMA))))


if __name__ == "__main__":
    main()
