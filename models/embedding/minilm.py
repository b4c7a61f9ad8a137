"""The embedded default: all-MiniLM-L6-v2 in this process, dense and late vectors from one pass."""

import asyncio
import contextlib
import ctypes
import os
import platform
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Final

import ctranslate2
import numpy as np

from memory.vectors import unit_rows
from models.embedding.conversion import ComputeType, converted_model
from models.embedding.port import Embedding, Vector
from models.embedding.tokens import ids_of_punctuation, load_tokenizer
from models.embedding.weights import DIMENSION, LATE_DIMENSION, MODEL_NAME, project_tokens

_CPU_INFO: Final = Path("/proc/cpuinfo")
_INSTRUCTIONS: Final = "CT2_FORCE_CPU_ISA"
_PARTS_OF_AVX512: Final = frozenset({"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"})
"""The parts that CTranslate2 needs. It refuses to start if one is missing."""

_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_KEPT_BYTES: Final = 32 * 1024 * 1024
"""At most so much that is free stays with the process at the end of each heap. A pass of 512 tokens needs some 10 MiB."""
_LARGEST_BLOCK: Final = 8 * 1024 * 1024
"""A larger block comes from the system by itself, and goes back when it is freed. The largest of a pass has 3 MiB."""

MAX_TOKENS: Final = 256
"""``max_seq_length`` of the published model; the rest of a longer text is not embedded."""

_SHORT: Final = 64
"""Tokens, as nearly every query and most memories have at most."""
_SHORT_STEP: Final = 8
_LONG_STEP: Final = 16
"""Padding is computed, too, if for less than tokens are. A finer step would part more of the texts that could run together."""
_PASS_TOKENS: Final = 512
"""Maximum tokens of one pass, padding included, unless a single text has more. A layer's results for more tokens do not fit the processor's
cache, and a larger pass requests more new memory from the system: with 32 texts in one pass, short texts took 1.8 times the computing time,
and the longest 2.5 times."""


def keep_freed_memory() -> None:
    """Keeps freed memory in this process; does nothing unless the C library is glibc.

    By default glibc returns most of it to the system: each pass then requested it again, and the system cleared it page by page, which
    took a third of the pass's computing time.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "gnu_get_libc_version"):
        library.mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGEST_BLOCK)


def use_widest_instructions() -> None:
    """Lets CTranslate2 use AVX-512 on a processor that has it; call it before the process computes anything with CTranslate2.

    By default it uses at most AVX2, since AVX-512 slowed down processors before 2019. The vectors differ in the rounding only: both have
    a mean cosine of 0.9972 to those of float32. A value of the variable that the operator sets stays.
    """
    # A program for another processor, which the machine emulates, reads of the machine's.
    if platform.machine() != "x86_64":
        return
    with contextlib.suppress(OSError):
        if set(_CPU_INFO.read_text().split()) >= _PARTS_OF_AVX512:
            os.environ.setdefault(_INSTRUCTIONS, "AVX512")


class MiniLMBackend:
    """Runs the encoder in a thread for queries and one for documents.

    Args:
        threads: Threads of one call of the model, at least 1.

    Raises:
        ModelConfigurationError: If the weights are missing or not the published ones.
        ValueError: If ``threads`` is below 1.
    """

    def __init__(self, *, cache: Path, compute_type: ComputeType, threads: int) -> None:
        if threads < 1:
            raise ValueError(f"a call of the model runs in at least one thread, got {threads}")
        self._encoder = _loaded_encoder(cache, compute_type, threads)
        self._query_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed-query")
        self._document_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed-document")

    @property
    def name(self) -> str:
        """The model's name."""
        return MODEL_NAME

    @property
    def dimension(self) -> int:
        """Length of a dense vector."""
        return DIMENSION

    @property
    def late_dimension(self) -> int | None:
        """Length of a late vector; None: the model gives none."""
        return LATE_DIMENSION

    @property
    def distinguishes_queries(self) -> bool:
        """False."""
        return False

    async def documents(self, texts: Sequence[str]) -> list[Embedding]:
        """Embeds one batch."""
        return await asyncio.get_running_loop().run_in_executor(self._document_thread, self._encode, texts)

    async def queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embeds one batch: the same vectors as :meth:`documents`, in another thread."""
        return await asyncio.get_running_loop().run_in_executor(self._query_thread, self._encode, texts)

    async def close(self) -> None:
        """Ends the threads."""
        self._query_thread.shutdown(wait=False, cancel_futures=True)
        self._document_thread.shutdown(wait=False, cancel_futures=True)

    def _encode(self, texts: Sequence[str]) -> list[Embedding]:
        return [Embedding(dense=dense, late=project_tokens(tokens)) for dense, tokens in self._encoder.encode(texts)]


class MiniLMEncoder:
    """The model itself. A call blocks and frees the interpreter lock, so call it in a thread.

    A text's vectors do not depend on the other texts in its pass, bit for bit: only texts of one padded width run together, a multiple of 8
    tokens, above 64 tokens of 16. With mixed widths int8 rounds differently (measured: dense vectors differ by 0.008), without a gain in
    speed. Many texts in one pass are no faster either, so a pass takes few.

    Args:
        cache: The folder of the converted model; the model is converted first if it is missing there.

    Raises:
        ModelConfigurationError: If the weights are missing or not the published ones.
    """

    def __init__(self, *, cache: Path, compute_type: ComputeType, threads: int) -> None:
        folder = converted_model(cache=cache, compute_type=compute_type)
        keep_freed_memory()
        use_widest_instructions()
        self._encoder = ctranslate2.Encoder(str(folder), device="cpu", compute_type=compute_type, inter_threads=1, intra_threads=threads)
        self._tokenizer = load_tokenizer(max_tokens=MAX_TOKENS)
        self._punctuation = ids_of_punctuation(self._tokenizer)

    def encode(self, texts: Sequence[str]) -> list[tuple[Vector, Vector]]:
        """Embeds texts.

        Returns:
            For each text its dense vector, ``(384,)`` of unit length (the mean over all tokens, normalised, as sentence-transformers
            does for this model), and its token vectors, ``(tokens, 384)``, each row of unit length, without the two special tokens that
            open and close every text, and without punctuation (Khattab and Zaharia 2020, "ColBERT", section 3.2) unless a text has
            nothing else.
        """
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]
        indices_by_width: dict[int, list[int]] = {}
        for index, tokens in enumerate(ids):
            indices_by_width.setdefault(_padded_width(len(tokens)), []).append(index)
        vectors: dict[int, tuple[Vector, Vector]] = {}
        for width, indices in indices_by_width.items():
            texts_of_pass = max(1, _PASS_TOKENS // width)
            for start in range(0, len(indices), texts_of_pass):
                passed = indices[start : start + texts_of_pass]
                hidden = self._forward([ids[index] for index in passed], width)
                for row, index in enumerate(passed):
                    vectors[index] = self._vectors_of(hidden[row, : len(ids[index])].copy(), ids[index])
        return [vectors[index] for index in range(len(ids))]

    def _forward(self, ids: Sequence[Sequence[int]], width: int) -> Vector:
        padded = np.zeros((len(ids), width), dtype=np.int32)
        for row, tokens in enumerate(ids):
            padded[row, : len(tokens)] = tokens
        lengths = np.array([len(tokens) for tokens in ids], dtype=np.int32)
        output = self._encoder.forward_batch(
            ctranslate2.StorageView.from_array(padded), lengths=ctranslate2.StorageView.from_array(lengths)
        )
        return np.array(output.last_hidden_state, dtype=np.float32)

    def _vectors_of(self, rows: Vector, ids: Sequence[int]) -> tuple[Vector, Vector]:
        dense = unit_rows(rows.mean(axis=0, keepdims=True))[0]
        words = [index for index, each in enumerate(ids[1:-1], start=1) if each not in self._punctuation]
        if words:
            return dense, unit_rows(rows[words])
        return dense, unit_rows(rows[1:-1] if len(rows) > 2 else rows)


@lru_cache(maxsize=1)
def _loaded_encoder(cache: Path, compute_type: ComputeType, threads: int) -> MiniLMEncoder:
    """The model, loaded once for all embedders of the process that have the same settings."""
    return MiniLMEncoder(cache=cache, compute_type=compute_type, threads=threads)


def _padded_width(tokens: int) -> int:
    step = _SHORT_STEP if tokens <= _SHORT else _LONG_STEP
    return -(-tokens // step) * step
