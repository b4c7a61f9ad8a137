"""One pass of all-MiniLM-L6-v2: the vector of a text and the vectors of its tokens."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import ctranslate2
import numpy as np

from models.embedding.conversion import ComputeType, converted_model
from models.embedding.pooling import unit_rows
from models.embedding.port import Vector
from models.embedding.tokens import load_tokenizer

MAX_TOKENS: Final = 256
"""``max_seq_length`` of the published model; what lies behind is not embedded."""

_WIDTH_STEP: Final = 16


class MiniLMEncoder:
    """The model itself. A call blocks and frees the interpreter lock, so call it in a thread.

    A text's vectors do not depend on the texts embedded beside it, bit for bit: only texts of one padded width, a multiple of 16 tokens,
    run together. With mixed widths int8 rounds differently (dense vectors were seen to differ by .008), and nothing is gained in speed.
    """

    def __init__(self, *, cache: Path, compute_type: ComputeType, threads: int) -> None:
        """Loads the model, converting it first where the cache lacks it.

        Args:
            cache: The folder that the converted model is kept in.
            compute_type: The arithmetic of the linear layers.
            threads: Threads of one call.

        Raises:
            ModelConfigurationError: If the weights are missing or not the published ones.
        """
        folder = converted_model(cache=cache, compute_type=compute_type)
        self._encoder = ctranslate2.Encoder(str(folder), device="cpu", compute_type=compute_type, inter_threads=1, intra_threads=threads)
        self._tokenizer = load_tokenizer(max_tokens=MAX_TOKENS)

    def encode(self, texts: Sequence[str]) -> list[tuple[Vector, Vector]]:
        """Embeds texts.

        Returns:
            For each text its dense vector, ``(384,)`` of unit length (the mean over all tokens, normalised, as sentence-transformers
            does for this model), and its token vectors, ``(tokens, 384)``, each row of unit length, without the two marks that open
            and close every text.
        """
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]
        by_width: dict[int, list[int]] = {}
        for place, tokens in enumerate(ids):
            by_width.setdefault(_padded_width(len(tokens)), []).append(place)
        vectors: dict[int, tuple[Vector, Vector]] = {}
        for width, places in by_width.items():
            hidden = self._run([ids[place] for place in places], width)
            for row, place in enumerate(places):
                vectors[place] = _vectors_of(hidden[row, : len(ids[place])].copy())
        return [vectors[place] for place in range(len(ids))]

    def _run(self, ids: Sequence[Sequence[int]], width: int) -> Vector:
        padded = np.zeros((len(ids), width), dtype=np.int32)
        for row, tokens in enumerate(ids):
            padded[row, : len(tokens)] = tokens
        lengths = np.array([len(tokens) for tokens in ids], dtype=np.int32)
        output = self._encoder.forward_batch(
            ctranslate2.StorageView.from_array(padded), lengths=ctranslate2.StorageView.from_array(lengths)
        )
        return np.array(output.last_hidden_state, dtype=np.float32)


def _padded_width(tokens: int) -> int:
    return -(-tokens // _WIDTH_STEP) * _WIDTH_STEP


def _vectors_of(rows: Vector) -> tuple[Vector, Vector]:
    dense = unit_rows(rows.mean(axis=0, keepdims=True))[0]
    return dense, unit_rows(rows[1:-1] if len(rows) > 2 else rows)
