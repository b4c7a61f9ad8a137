"""Topics of a conversation: where one ends, and which stretches belong together. Pure."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from extraction.offline.gaps import Utterance, boundary_probabilities
from models.embedding.port import Vector

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
