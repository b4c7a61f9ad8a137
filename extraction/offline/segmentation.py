"""How likely a new topic begins between two utterances. Pure.

A gap is judged by how alike what lies around it is, and by the words that open, continue and close topics. The weights are those of a
logistic regression, fitted on TIAGE's train split (Xie et al. 2021), on concatenated dialogues of the train split of the Schema-Guided
Dialogue data (Rastogi et al. 2020; half of them whole, half in lower case and without their closing words) and on concatenated stretches
of LoCoMo. TIAGE's dev and test splits took no part in it.

Topics of a conversation: where one ends, and which stretches belong together. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from extraction.offline.sentences import asks, closes, ends_in_question, points_back, replies
from models.embedding.port import Embedding, Vector

Series = NDArray[np.float64]
"""One number for each gap."""

_CONTEXT: Final = 4
_NEAR: Final = 2
_LONG_UTTERANCE: Final = 20


@dataclass(frozen=True, slots=True)
class Utterance:
    """What was said, and its vectors."""

    text: str
    embedding: Embedding


_BIAS: Final = -1.67
_WEIGHTS: Final[dict[str, float]] = {
    "dense_depth": 0.46,
    "late_depth": 0.19,
    "nearest": -4.43,
    "leans_forward": 2.21,
    "asks": 0.70,
    "question_before": -1.19,
    "asks_next": 0.60,
    "replies": -0.55,
    "replies_and_asks": 0.78,
    "points_back": -0.80,
    "closed": 0.96,
    "closes": -1.35,
    "length": 2.16,
}


def boundary_probabilities(utterances: Sequence[Utterance]) -> Series:
    """For each gap the probability that a topic ends there.

    Args:
        utterances: At least two, in order.

    Returns:
        Shape ``(utterances - 1,)``: at place ``i`` the gap before utterance ``i + 1``.
    """
    features = _similarity_features(utterances) | _cue_features([each.text for each in utterances])
    scores = _BIAS + sum(weight * features[name] for name, weight in _WEIGHTS.items())
    return np.asarray(1 / (1 + np.exp(-scores)), dtype=np.float64)


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
    ahead = [max((alike[gap, place] for place in range(gap + 1, min(len(dense), gap + 1 + _NEAR))), default=0.0) for gap in gaps]
    dense_depth = _standardised(depth_scores(window_similarity(utterances, _CONTEXT)))
    late = _late_similarity(utterances, _CONTEXT)
    return {
        "dense_depth": dense_depth,
        "late_depth": dense_depth if late is None else _standardised(depth_scores(late)),
        "nearest": np.array([alike[max(0, gap - _NEAR) : gap, gap : gap + _NEAR].max() for gap in gaps]),
        "leans_forward": np.array(ahead) - np.array([alike[gap, max(0, gap - _NEAR) : gap].max() for gap in gaps]),
    }


def _late_similarity(utterances: Sequence[Utterance], width: int) -> Series | None:
    """For each gap the late interaction of the ``width`` utterances on each side, both ways; None where token vectors are missing.

    Each token counts with its best match on the other side (Khattab and Zaharia 2020, "ColBERT", section 3.3).
    """
    tokens = [each.embedding.late for each in utterances if each.embedding.late is not None]
    if len(tokens) < len(utterances):
        return None
    ends = np.cumsum([len(each) for each in tokens])
    starts = ends - [len(each) for each in tokens]
    stacked = np.vstack(tokens)
    matches = stacked @ stacked.T
    similarity = np.zeros(len(tokens) - 1)
    for gap in range(1, len(tokens)):
        left = slice(starts[max(0, gap - width)], ends[gap - 1])
        right = slice(starts[gap], ends[min(len(tokens), gap + width) - 1])
        between = matches[left, right]
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


BOUNDARY: Final = 0.45
"""A gap less likely than this is none. Below a half: of two gaps side by side only the likelier one counts."""
SAME_TOPIC: Final = 0.7
"""Cosine of two stretches' mean vectors from which they are one topic, though others lie between them."""

Stretch = tuple[int, int]
"""The first and the last of consecutive utterances."""


def boundaries(utterances: Sequence[Utterance]) -> list[int]:
    """Where a new topic begins: at gaps that are likely boundaries, and likelier than their neighbours.

    Args:
        utterances: In order.

    Returns:
        Ascending places of the utterances that open a topic, without the first.
    """
    if len(utterances) < 3:
        return []
    likely = boundary_probabilities(utterances)
    return [
        gap + 1
        for gap, value in enumerate(likely)
        if value > BOUNDARY and (gap == 0 or value >= likely[gap - 1]) and (gap + 1 == len(likely) or value > likely[gap + 1])
    ]


def topics(utterances: Sequence[Utterance]) -> list[tuple[Stretch, ...]]:
    """Segments a conversation and puts stretches on one topic together, though others lie between them (VikingMem 3.1).

    Args:
        utterances: In order.

    Returns:
        The topics in the order in which they first come up, each as its stretches; every utterance is in exactly one.
    """
    if not utterances:
        return []
    openings = [0, *boundaries(utterances), len(utterances)]
    groups: list[tuple[Stretch, ...]] = [((first, end - 1),) for first, end in pairwise(openings)]
    while (pair := _most_alike(utterances, groups)) is not None:
        one, other = pair
        groups[one] = tuple(sorted(groups[one] + groups.pop(other)))
    return groups


def _most_alike(utterances: Sequence[Utterance], groups: Sequence[tuple[Stretch, ...]]) -> tuple[int, int] | None:
    """The two groups to be merged next: the most alike ones that do not touch, if they are alike enough."""
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
    mean = np.mean([utterances[place].embedding.dense for first, last in group for place in range(first, last + 1)], axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), dtype=np.float32)
