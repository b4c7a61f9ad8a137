"""``python -m evaluation segmentation``: the offline segmenter on dialogues with known segments, and simpler methods in the same run."""

import argparse
import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from evaluation.segmentation.baselines import even_cuts, no_boundaries, text_tiling, text_tiling_on_embeddings
from evaluation.segmentation.dialogues import embed_dialogues, read_dialogues
from evaluation.segmentation.metrics import Distance, distance, lengths_of, mean_distance
from extraction.offline.segmentation import Utterance, boundaries
from runtime.settings import Settings

Segmenter = Callable[[Sequence[Utterance]], list[int]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds none: the data set is all it takes."""


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measures all segmenters on the file.

    Returns:
        ``pk`` and ``window_diff`` of the offline segmenter, means over the dialogues; ``baselines`` with both of each other method, where
        even cuts know the mean length of the file's segments; ``splits`` with the same for each of the data set's own splits.
    """
    dialogues = read_dialogues(arguments.data)
    settings = Settings()
    embedded = asyncio.run(embed_dialogues(dialogues, settings))
    mean_length = max(1, round(sum(len(each.utterances) for each in dialogues) / sum(len(each.lengths) for each in dialogues)))
    segmenters: dict[str, Segmenter] = {
        "offline": boundaries,
        "text_tiling": text_tiling,
        "text_tiling_on_embeddings": text_tiling_on_embeddings,
        "even_cuts": lambda utterances: even_cuts(utterances, mean_length),
        "no_boundaries": no_boundaries,
    }
    distances = {
        name: [
            distance(each.lengths, lengths_of(segment(utterances), len(utterances)))
            for each, utterances in zip(dialogues, embedded, strict=True)
        ]
        for name, segment in segmenters.items()
    }
    splits = dict.fromkeys(each.split for each in dialogues if each.split)
    return {
        **_summary(distances, range(len(dialogues))),
        "dialogues": len(dialogues),
        "too_short": sum(each is None for each in distances["offline"]),
        "splits": {split: _summary(distances, [index for index, each in enumerate(dialogues) if each.split == split]) for split in splits},
        "model": settings.embedding.model,
    }


def _summary(distances: dict[str, list[Distance | None]], indices: Iterable[int]) -> dict[str, Any]:
    chosen = list(indices)
    means = {name: mean_distance([each[index] for index in chosen]) for name, each in distances.items()}
    return {**means.pop("offline"), "baselines": means}
