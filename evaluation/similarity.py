"""``python -m evaluation similarity``: which values of a key become one at which ``Similarity``, by the embedding model in use.

``--data`` names a text file with a value a line, in the order in which they came: what an extractor called things, as a snapshot of the
memories has it. A cosine means another nearness with every model, so the least one is chosen by looking.
"""

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from evaluation.errors import DataSetError
from extraction.similar_keys import names_of
from memory.keys import key_part
from models.embedding.build import build_embedder
from models.embedding.port import Vector
from runtime.settings import Settings

SIMILARITIES: Final = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--similarity", type=float, nargs="+", default=SIMILARITIES, help="the least cosines to look at")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Embeds the values and joins them.

    Returns:
        ``values``: how many different ones there are; by similarity ``things``: how many they are then, and what is ``joined``: by a
            thing's name the other values that mean it.

    Raises:
        DataSetError: If the file has no value, or is no text.
        models.errors.ModelError: If the model cannot embed them.
    """
    settings, values = Settings(), values_in(arguments.data)
    vectors = asyncio.run(_vectors(values, settings))
    found = {f"{similarity:g}": _joined(values, vectors, similarity) for similarity in arguments.similarity}
    return {"data": arguments.data.name, "embedding": settings.embedding.model, "values": len(values), "by_similarity": found}


def values_in(path: Path) -> list[str]:
    """The different values of a file, in its order, as keys have them.

    Raises:
        DataSetError: If there is none, or the file is no text.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise DataSetError(f"{path} is no text in UTF-8: {error}") from error
    values = list(dict.fromkeys(part for line in lines if (part := key_part(line)) is not None))
    if not values:
        raise DataSetError(f"{path} has no value: write one a line, such as a topic")
    return values


async def _vectors(values: list[str], settings: Settings) -> dict[str, Vector]:
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    try:
        return {value: each.dense for value, each in zip(values, await embedder.embed_documents(values), strict=True)}
    finally:
        await embedder.close()


def _joined(values: Sequence[str], vectors: dict[str, Vector], similarity: float) -> dict[str, Any]:
    others: defaultdict[str, list[str]] = defaultdict(list)
    for value, name in names_of(values, [], vectors=vectors, similarity=similarity).items():
        if value != name:
            others[name].append(value)
    return {"things": len(values) - sum(map(len, others.values())), "joined": dict(others)}
