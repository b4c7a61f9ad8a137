"""mem0 as a library: its default vector store (Qdrant's local mode) on disk, ``infer=False``, no model but the embedding model.

mem0 has no provider for a model that is an object in the process, except for LangChain's; so :class:`_Embedder` takes the place of the
embedder that the configuration creates. The language model's key is never used.
"""

import asyncio
import functools
import importlib
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.peers.embedding import SIZE, SharedModel
from benchmarks.peers.interface import LIMIT, Found, Query, Turn, by_session

PACKAGES = ("mem0ai", "qdrant-client", "fastembed")
_SEARCHING_THREADS: Final = 10
_TURN: Final = "turn"
_KEYWORD_MODEL: Final = "Qdrant/bm25"
_STOP_WORDS_FILE: Final = "english.txt"


class _Embedder:
    """The methods of mem0's ``EmbeddingBase``."""

    def __init__(self) -> None:
        self._model = SharedModel()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._model.embed([text])[0]

    def embed_batch(self, texts: list[str], memory_action: str | None = "add") -> list[list[float]]:
        return self._model.embed(texts)


class Mem0:
    """A running mem0.

    Args:
        memory: A ``mem0.Memory``.
        threads: The threads that search.
    """

    def __init__(self, memory: Any, threads: ThreadPoolExecutor) -> None:
        self._memory = memory
        self._threads = threads

    async def add(self, turns: Sequence[Turn]) -> float:
        """Stores messages, a call for each: only then has each its id in its metadata.

        One caller adds: with four, the local store failed now and then ("cannot start a transaction within a transaction").
        """
        started = time.monotonic()
        for session in by_session(turns):
            for turn in session:
                await self._run(
                    functools.partial(
                        self._memory.add,
                        [{"role": turn.role, "name": turn.speaker, "content": turn.with_speaker}],
                        user_id=turn.user,
                        metadata={_TURN: turn.id, "session": turn.session, "timestamp": turn.event_time},
                        infer=False,
                    )
                )
        return time.monotonic() - started

    async def search(self, query: Query) -> list[Found]:
        """The best memories of the user."""
        answer = await self._run(functools.partial(self._memory.search, query.text, filters={"user_id": query.user}, top_k=LIMIT))
        return [Found((each["metadata"][_TURN],), each["memory"]) for each in answer["results"]]

    async def _run(self, call: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)


@asynccontextmanager
async def running(folder: Path, *, keywords: bool = False) -> AsyncIterator[Mem0]:
    """mem0 with its data in a folder.

    Args:
        folder: The folder.
        keywords: Whether BM25 joins the vectors. mem0 does so where fastembed is installed and can download the stop words of its model;
            here the stop words come from Varve, so that nothing is downloaded.
    """
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder)}
    mem0 = importlib.import_module("mem0")
    memory = mem0.Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": {"path": str(folder / "qdrant"), "embedding_model_dims": SIZE}},
            "embedder": {"provider": "openai", "config": {"api_key": "unused", "embedding_dims": SIZE}},
            "llm": {"provider": "openai", "config": {"api_key": "unused"}},
            "history_db_path": str(folder / "history.db"),
        }
    )
    memory.embedding_model = _Embedder()
    # False is mem0's own mark of an encoder that cannot be loaded.
    vars(memory.vector_store)["_bm25_encoder"] = _keyword_encoder(folder / "bm25") if keywords else False
    threads = ThreadPoolExecutor(_SEARCHING_THREADS)
    try:
        yield Mem0(memory, threads)
    finally:
        threads.shutdown()
        memory.close()


def _keyword_encoder(folder: Path) -> Any:
    """The BM25 encoder of fastembed with Varve's English stop words."""
    from memory.texts.words import STOP_WORDS

    folder.mkdir(parents=True)
    (folder / _STOP_WORDS_FILE).write_text("\n".join(sorted(STOP_WORDS)))
    fastembed = importlib.import_module("fastembed")
    return fastembed.SparseTextEmbedding(model_name=_KEYWORD_MODEL, specific_model_path=str(folder))
