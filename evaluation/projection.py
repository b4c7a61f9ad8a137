"""``python -m evaluation fit-projection``: fits the projection of token vectors to free text, and writes it where the model reads it.

The text is the examples of usage in WordNet 3.0 (Debian's package ``wordnet-base``; its licence allows any use): sentences of every
subject, none of which was written for a benchmark of memories. ``--data`` names the folder of its files, ``/usr/share/wordnet``. The
principal components are those of the second moment about zero, not about the mean: late interaction compares directions from zero. Each
is divided by the fourth root of its moment, half-way to directions that count alike: so late interaction finds more (ADR 28).
"""

import argparse
import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import DataSetError
from models.embedding.minilm import MiniLMEncoder
from models.embedding.weights import DIMENSION, LATE_DIMENSION, MODEL_NAME, PROJECTION_FILE
from runtime.settings import Settings

_FILES: Final = ("data.adj", "data.adv", "data.noun", "data.verb")
_EXAMPLE: Final = re.compile(r'"([^"]+)"')
_FEWEST_WORDS: Final = 4
"""Fewest words of an example: shorter ones are phrases."""
_EQUALISING: Final = 0.25
"""The power of its moment by which a direction is divided: 0 leaves them as they are, 0.5 makes all count alike."""
_BATCH: Final = 64

Matrix = NDArray[np.float64]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--every", type=int, default=8, help="take each n-th example")
    parser.add_argument("--projection", type=Path, default=PROJECTION_FILE, help="where the projection is written")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fits, writes the projection, and returns what it was fitted on.

    Raises:
        DataSetError: If the folder does not hold WordNet's files, or they hold no examples.
    """
    settings = Settings()
    examples, sha256 = _examples(arguments.data)
    chosen = examples[:: arguments.every]
    encoder = MiniLMEncoder(cache=settings.cache_path, compute_type=settings.embedding.compute_type, threads=settings.embedding.threads)
    moment, tokens = second_moment(encoder, chosen)
    projection, variance = principal_components(moment, LATE_DIMENSION)
    with arguments.projection.open("wb") as file:
        np.save(file, projection.astype(np.float16), allow_pickle=False)
    return {
        "data": "WordNet 3.0, examples of usage",
        "data_sha256": sha256,
        "examples": len(chosen),
        "tokens": tokens,
        "embedding": MODEL_NAME,
        "dimensions": LATE_DIMENSION,
        "variance_kept": round(variance, 4),
    }


def second_moment(encoder: MiniLMEncoder, texts: Sequence[str]) -> tuple[Matrix, int]:
    """The mean of the token vectors' outer products, and the number of tokens.

    Args:
        encoder: The model.
        texts: At least one.
    """
    moment, tokens = np.zeros((DIMENSION, DIMENSION)), 0
    for start in range(0, len(texts), _BATCH):
        for _, rows in encoder.encode(texts[start : start + _BATCH]):
            wide = rows.astype(np.float64)
            moment += wide.T @ wide
            tokens += len(rows)
    return moment / tokens, tokens


def principal_components(moment: Matrix, count: int) -> tuple[Matrix, float]:
    """The directions of the largest second moments, scaled.

    Args:
        moment: Symmetric, of the shape ``(dimension, dimension)``.
        count: How many.

    Returns:
        Columns by falling moment, of each the largest number positive, since a direction's sign means nothing; and their share of the
        moments.
    """
    moments, directions = np.linalg.eigh(moment)
    largest = np.argsort(-moments)[:count]
    chosen = directions[:, largest]
    signs = np.sign(chosen[np.argmax(np.abs(chosen), axis=0), np.arange(count)])
    return np.asarray(chosen * signs / moments[largest] ** _EQUALISING), float(moments[largest].sum() / moments.sum())


def _examples(folder: Path) -> tuple[list[str], str]:
    digest = hashlib.sha256()
    examples: list[str] = []
    for name in _FILES:
        try:
            raw = (folder / name).read_bytes()
        except OSError as error:
            raise DataSetError(f"{folder} lacks WordNet's {name}: install wordnet-base, and name /usr/share/wordnet") from error
        digest.update(raw)
        examples += _examples_of(raw.decode("latin-1"))
    if not examples:
        raise DataSetError(f"the files in {folder} hold no examples: they are not WordNet's")
    return examples, digest.hexdigest()


def _examples_of(text: str) -> Iterator[str]:
    for line in text.splitlines():
        # The licence is in the first lines, indented.
        if not line.startswith("  "):
            gloss = line.partition(" | ")[2]
            yield from (each for each in _EXAMPLE.findall(gloss) if len(each.split()) >= _FEWEST_WORDS)
