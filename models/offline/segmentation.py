"""Topics of a conversation by embeddings: where one ends, and which stretches belong together. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from models.embedding.port import Embedding, Vector

_Matrix = NDArray[np.float64]


def boundaries(embeddings: Sequence[Embedding]) -> list[int]:
    """Where a new topic begins.

    A gap is a boundary where its depth (Hearst 1997, "TextTiling", section 5.3) lies more than one standard deviation above the mean.

    Args:
        embeddings: Of the utterances, in order.

    Returns:
        Ascending places of the utterances that open a topic, without the first.
    """
    if len(embeddings) < 3:
        return []
    similarity = _window_similarity(np.array([each.dense for each in embeddings], dtype=np.float64), 2)
    depth = _depths(similarity)
    threshold = depth.mean() + depth.std()
    return [gap + 1 for gap in range(len(depth)) if depth[gap] > threshold]


def _window_similarity(dense: _Matrix, width: int) -> _Matrix:
    sums = []
    for gap in range(1, len(dense)):
        left, right = dense[max(0, gap - width) : gap].mean(0), dense[gap : gap + width].mean(0)
        sums.append(float(left @ right / max(float(np.linalg.norm(left) * np.linalg.norm(right)), 1e-9)))
    return np.array(sums)


def _depths(similarity: _Matrix) -> _Matrix:
    depth = np.zeros(len(similarity))
    for gap, value in enumerate(similarity):
        left = right = value
        for before in reversed(similarity[:gap]):
            if before < left:
                break
            left = before
        for after in similarity[gap + 1 :]:
            if after < right:
                break
            right = after
        depth[gap] = left + right - 2 * value
    return depth


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic's stretches: inclusive ranges of utterances, ascending, apart from each other."""

    ranges: tuple[tuple[int, int], ...]


def topics(embeddings: Sequence[Embedding]) -> list[Topic]:
    """Segments a conversation and puts stretches on one topic together, though others lie between them.

    Args:
        embeddings: Of the utterances, in order.

    Returns:
        The topics in the order in which they first come up; every utterance is in exactly one.
    """
    starts = [0, *boundaries(embeddings), len(embeddings)]
    stretches = [(first, last - 1) for first, last in pairwise(starts) if last > first]
    groups = [[stretch] for stretch in stretches]
    while len(groups) > 2:
        means = [_mean(embeddings, group) for group in groups]
        alike = np.array(means) @ np.array(means).T
        for place in range(len(groups)):
            alike[place, : place + 2] = -1.0
        best = int(np.argmax(alike))
        one, other = divmod(best, len(groups))
        if alike[one, other] < _SAME_TOPIC:
            break
        groups[one] = sorted(groups[one] + groups.pop(other))
    return [Topic(_joined(group)) for group in groups]


_SAME_TOPIC = 0.7


def _mean(embeddings: Sequence[Embedding], group: Sequence[tuple[int, int]]) -> Vector:
    rows = np.array([embeddings[place].dense for first, last in group for place in range(first, last + 1)])
    mean = rows.mean(axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-9), dtype=np.float32)


def _joined(group: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for first, last in group:
        if joined and joined[-1][1] + 1 == first:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return tuple(joined)
