"""``python -m evaluation fit-segmentation``: fits the offline segmenter's gap model to dialogues with known segments.

The report has the fitted coefficients and those of :data:`extraction.offline.segmentation.GAP_MODEL`, and what both reach.
"""

import argparse
import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import DataSetError
from evaluation.segmentation.dialogues import Dialogue, embed_dialogues, read_dialogues
from evaluation.segmentation.metrics import distance, lengths_of, mean_distance, openings_of
from extraction.offline.segmentation import GAP_MODEL, GapModel, Utterance, boundaries, gap_features
from retrieval.training.logistic import fit_logistic
from runtime.settings import Settings

EmbeddedDialogue = tuple[Dialogue, list[Utterance]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--split", default="train", help="the split that is fitted; a data set without splits is fitted whole")
    parser.add_argument("--ridge", type=float, default=1.0, help="strength of the L2 penalty on the weights")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fits the model, and compares it with the shipped one.

    Returns:
        ``fitted`` and ``shipped``, each with ``bias``, ``weights`` and, by split, ``pk`` and ``window_diff``.

    Raises:
        TrainingError: If scikit-learn is not installed.
        DataSetError: If the file cannot be read, or the split holds no boundary to learn from.
    """
    dialogues = read_dialogues(arguments.data)
    settings = Settings()
    embedded = list(zip(dialogues, asyncio.run(embed_dialogues(dialogues, settings)), strict=True))
    splits = list(dict.fromkeys(each.split for each in dialogues))
    chosen = embedded if splits == [""] else [each for each in embedded if each[0].split == arguments.split]
    features, labels = _training_set(chosen)
    if len(set(labels.tolist())) < 2:
        raise DataSetError(f"{arguments.data}: split {arguments.split!r} needs gaps with and without a boundary; it has {len(labels)} gaps")
    fitted = fit_gap_model(features, labels, ridge=arguments.ridge)
    return {
        "data": arguments.data.name,
        "fitted_on": arguments.split if splits != [""] else "all",
        "gaps": len(labels),
        "boundaries": int(labels.sum()),
        "model": settings.embedding.model,
        "fitted": _report(fitted, embedded, splits),
        "shipped": _report(GAP_MODEL, embedded, splits),
    }


def fit_gap_model(features: NDArray[np.float64], labels: NDArray[np.float64], *, ridge: float = 1.0) -> GapModel:
    """Logistic regression; the bias has no penalty.

    Args:
        features: A row for each gap, a column for each of the model's features, in the order of the shipped model's weights.
        labels: For each gap 1 if it is a boundary, else 0.
        ridge: Strength of the L2 penalty; above 0 the fit also converges on separable data.
    """
    fit = fit_logistic(features, labels, ridge=ridge)
    return GapModel(bias=fit.intercept, weights=dict(zip(GAP_MODEL.weights, fit.coefficients.tolist(), strict=True)))


def _training_set(dialogues: Sequence[EmbeddedDialogue]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rows, labels = [np.empty((0, len(GAP_MODEL.weights)))], [np.empty(0)]
    for dialogue, utterances in dialogues:
        if len(utterances) < 2:
            continue
        features = gap_features(utterances)
        rows.append(np.column_stack([features[name] for name in GAP_MODEL.weights]))
        openings = set(openings_of(dialogue.lengths))
        labels.append(np.array([float(index in openings) for index in range(1, len(utterances))]))
    return np.vstack(rows), np.concatenate(labels)


def _report(model: GapModel, dialogues: Sequence[EmbeddedDialogue], splits: Sequence[str]) -> dict[str, Any]:
    return {
        "bias": round(model.bias, 2),
        "weights": {name: round(weight, 2) for name, weight in model.weights.items()},
        "splits": {
            split or "all": mean_distance(
                [
                    distance(dialogue.lengths, lengths_of(boundaries(utterances, model), len(utterances)))
                    for dialogue, utterances in dialogues
                    if dialogue.split == split
                ]
            )
            for split in splits
        },
    }
