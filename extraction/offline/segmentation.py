"""Topics of a conversation: where one ends, and which parts of the conversation share one. Pure.

Between each two utterances lies a gap. A logistic model judges each gap by the similarity of what lies around it, and by words that open,
continue and close topics.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from extraction.offline.grammar.sentences import asks, closes, ends_in_question, points_back, replies
from models.embedding.port import Embedding, Vector

BOUNDARY: Final = 0.45
"""A less likely gap is no boundary. Below a half, since of two neighbouring gaps only the likelier one counts."""
SAME_TOPIC: Final = 0.7
"""Cosine of two stretches' mean vectors from which they share a topic, even with others between them."""

_CONTEXT: Final = 4
_NEAR: Final = 2
_LONG_UTTERANCE: Final = 20

Series = NDArray[np.float64]
"""One number for each gap."""
Stretch = tuple[int, int]
"""The first and the last index of consecutive utterances."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A text and its vectors."""

    text: str
    embedding: Embedding


@dataclass(frozen=True, slots=True)
class GapModel:
    """A logistic regression over the features of :func:`gap_features`."""

    bias: float
    weights: Mapping[str, float]

    def probabilities(self, features: Mapping[str, Series]) -> Series:
        """For each gap the probability that a topic ends there."""
        scores = self.bias + sum(weight * features[name] for name, weight in self.weights.items())
        return np.asarray(1 / (1 + np.exp(-scores)), dtype=np.float64)


GAP_MODEL: Final = GapModel(
    bias=-0.99,
    weights={
        "dense_depth": 0.17,
        "late_depth": 0.19,
        "nearest": -3.57,
        "forward_gain": 2.15,
        "asks": 0.70,
        "question_before": -1.19,
        "asks_next": 0.60,
        "replies": -0.55,
        "replies_and_asks": 0.78,
        "points_back": -0.80,
        "closed": 0.96,
        "closes": -1.35,
        "length": 2.16,
    },
)
"""The weights of words were fitted on three sources: TIAGE's train split (Xie et al. 2021); concatenated dialogues of the Schema-Guided
Dialogue data's train split (Rastogi et al. 2020), half of them whole, half in lower case and without their closing words; concatenated
stretches of LoCoMo. TIAGE's dev and test splits took no part in it. The bias and the four weights of vectors were fitted on TIAGE's train
split after these, when the embedded model got its adapter (ADR 28). On the test split it reaches Pk 0.301 and WindowDiff 0.312; with the
published model's vectors, and weights for them, it was 0.323 and 0.333.

``python -m evaluation fit-segmentation --data tiage.json`` fits the same model on TIAGE's train split alone. All signs agree. On the test
split it reaches 0.278 and 0.287; the weights above also serve dialogues about tasks."""


def gap_features(utterances: Sequence[Utterance]) -> dict[str, Series]:
    """The features of each gap, by name.

    Args:
        utterances: At least two, in order.

    Returns:
        Series of the shape ``(utterances - 1,)``. Index ``i`` is the gap before utterance ``i + 1``.
    """
    return _similarity_features(utterances) | _cue_features([each.text for each in utterances])


def boundaries(utterances: Sequence[Utterance], model: GapModel = GAP_MODEL) -> list[int]:
    """Where a new topic begins: at gaps that are likely boundaries, and likelier than their neighbours.

    Args:
        utterances: In order.
        model: Judges the gaps.

    Returns:
        Ascending indices of the utterances that open a topic, without the first.
    """
    if len(utterances) < 3:
        return []
    likely = model.probabilities(gap_features(utterances))
    return [
        gap + 1
        for gap, value in enumerate(likely)
        if value > BOUNDARY and (gap == 0 or value >= likely[gap - 1]) and (gap + 1 == len(likely) or value > likely[gap + 1])
    ]


def topics(utterances: Sequence[Utterance]) -> list[tuple[Stretch, ...]]:
    """Segments a conversation and joins stretches that share a topic, even with others between them (VikingMem 3.1).

    Args:
        utterances: In order.

    Returns:
        The topics in the order of their first stretch, each as its stretches. Every utterance is in exactly one.
    """
    if not utterances:
        return []
    openings = [0, *boundaries(utterances), len(utterances)]
    groups: list[tuple[Stretch, ...]] = [((first, end - 1),) for first, end in pairwise(openings)]
    while (pair := _most_similar(utterances, groups)) is not None:
        one, other = pair
        groups[one] = tuple(sorted(groups[one] + groups.pop(other)))
    return groups


def _most_similar(utterances: Sequence[Utterance], groups: Sequence[tuple[Stretch, ...]]) -> tuple[int, int] | None:
    """The two groups to be merged next: the most similar ones that do not touch, if they are similar enough."""
    means = np.array([_mean(utterances, group) for group in groups])
    alike = means @ means.T
    pairs = [
        (one, other)
        for one in range(len(groups))
        for other in range(one + 1, len(groups))
        if alike[one, other] >= SAME_TOPIC and not _touch(groups[one], groups[other])
    ]
    return max(pairs, key=lambda pair: alike[pair], default=None)


def _touch(one: tuple[Stretch, ...], other: tuple[Stretch, ...]) -> bool:
    return any(a[1] + 1 == b[0] or b[1] + 1 == a[0] for a in one for b in other)


def _mean(utterances: Sequence[Utterance], group: tuple[Stretch, ...]) -> Vector:
    mean = np.mean([utterances[index].embedding.dense for first, last in group for index in range(first, last + 1)], axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), dtype=np.float32)


def depth_scores(similarity: Series) -> Series:
    """How far each gap's similarity lies below the peaks on both its sides (Hearst 1997, "TextTiling", section 5.3)."""
    depths = np.zeros(len(similarity))
    for gap, value in enumerate(similarity):
        depths[gap] = _peak(similarity[gap::-1]) + _peak(similarity[gap:]) - 2 * value
    return depths


def window_similarity(utterances: Sequence[Utterance], width: int) -> Series:
    """For each gap the cosine between the means of the ``width`` utterances on each side."""
    dense = np.array([each.embedding.dense for each in utterances], dtype=np.float64)
    similarity = np.zeros(len(dense) - 1)
    for gap in range(1, len(dense)):
        left, right = dense[max(0, gap - width) : gap].mean(axis=0), dense[gap : gap + width].mean(axis=0)
        similarity[gap - 1] = left @ right / max(float(np.linalg.norm(left) * np.linalg.norm(right)), 1e-12)
    return similarity


def _peak(similarity: Series) -> float:
    """The value up to which a series climbs without a fall."""
    top = float(similarity[0])
    for value in similarity[1:]:
        if value < top:
            break
        top = float(value)
    return top


def _similarity_features(utterances: Sequence[Utterance]) -> dict[str, Series]:
    dense = np.array([each.embedding.dense for each in utterances], dtype=np.float64)
    alike = dense @ dense.T
    gaps = range(1, len(utterances))
    ahead = [max((alike[gap, index] for index in range(gap + 1, min(len(dense), gap + 1 + _NEAR))), default=0.0) for gap in gaps]
    dense_depth = _standardised(depth_scores(window_similarity(utterances, _CONTEXT)))
    late = _late_similarity(utterances)
    return {
        "dense_depth": dense_depth,
        "late_depth": dense_depth if late is None else _standardised(depth_scores(late)),
        "nearest": np.array([alike[max(0, gap - _NEAR) : gap, gap : gap + _NEAR].max() for gap in gaps]),
        "forward_gain": np.array(ahead) - np.array([alike[gap, max(0, gap - _NEAR) : gap].max() for gap in gaps]),
    }


def _late_similarity(utterances: Sequence[Utterance]) -> Series | None:
    """For each gap the late interaction of the :data:`_CONTEXT` utterances on each side, both ways. None if token vectors are missing.

    Each token counts with its best match on the other side (Khattab and Zaharia 2020, "ColBERT", section 3.3).
    """
    tokens = [each.embedding.late for each in utterances if each.embedding.late is not None]
    if len(tokens) < len(utterances):
        return None
    ends = np.cumsum([len(each) for each in tokens])
    starts = ends - [len(each) for each in tokens]
    stacked = np.vstack(tokens)
    similarity = np.zeros(len(tokens) - 1)
    for gap in range(1, len(tokens)):
        left = slice(starts[max(0, gap - _CONTEXT)], ends[gap - 1])
        right = slice(starts[gap], ends[min(len(tokens), gap + _CONTEXT) - 1])
        between = stacked[left] @ stacked[right].T
        similarity[gap - 1] = (between.max(axis=1).mean() + between.max(axis=0).mean()) / 2
    return similarity


def _standardised(series: Series) -> Series:
    return np.asarray((series - series.mean()) / (series.std() + 1e-6), dtype=np.float64)


def _cue_features(texts: Sequence[str]) -> dict[str, Series]:
    following = texts[1:]
    before = texts[:-1]
    after_next = [*texts[2:], ""]

    def marks(values: list[bool]) -> Series:
        return np.array(values, dtype=np.float64)

    return {
        "asks": marks([asks(text) for text in following]),
        "question_before": marks([ends_in_question(text) for text in before]),
        "asks_next": marks([asks(text) for text in after_next]),
        "replies": marks([replies(text) for text in following]),
        "replies_and_asks": marks([replies(text) and asks(text) for text in following]),
        "points_back": marks([points_back(text) for text in following]),
        "closed": marks([closes(one) and not closes(other) for one, other in zip(before, following, strict=True)]),
        "closes": marks([closes(text) for text in following]),
        "length": np.array([min(len(text.split()), _LONG_UTTERANCE) / _LONG_UTTERANCE for text in following]),
    }
