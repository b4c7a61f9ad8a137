"""Simpler segmenters that the offline one is compared with. Each gives the indices where a topic begins, without the first."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from extraction.offline.grammar.content_words import content_words
from extraction.offline.segmentation import Series, Utterance, depth_scores, window_similarity


def no_boundaries(utterances: Sequence[Utterance]) -> list[int]:
    """The whole dialogue as one segment."""
    return []


def even_cuts(utterances: Sequence[Utterance], length: int) -> list[int]:
    """A cut every ``length`` utterances."""
    return list(range(length, len(utterances), length))


def text_tiling(utterances: Sequence[Utterance], width: int = 2) -> list[int]:
    """TextTiling on words (Hearst 1997): cosine of the word counts of ``width`` utterances on each side, cut where deep."""
    if len(utterances) < 3:
        return []
    counts = [Counter(content_words(each.text)) for each in utterances]
    similarity = np.array(
        [_cosine(_sum(counts[max(0, gap - width) : gap]), _sum(counts[gap : gap + width])) for gap in range(1, len(counts))]
    )
    return _deep_gaps(similarity)


def text_tiling_on_embeddings(utterances: Sequence[Utterance], width: int = 2) -> list[int]:
    """The same on the means of dense vectors."""
    return _deep_gaps(window_similarity(utterances, width)) if len(utterances) >= 3 else []


def _deep_gaps(similarity: Series) -> list[int]:
    depths = depth_scores(similarity)
    threshold = depths.mean() + depths.std()
    return [gap + 1 for gap, depth in enumerate(depths) if depth > threshold]


def _sum(counts: Sequence[Counter[str]]) -> Counter[str]:
    return sum(counts, Counter())


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    lengths = float(np.sqrt(sum(count**2 for count in one.values()) * sum(count**2 for count in other.values())))
    return sum(count * other[word] for word, count in one.items()) / lengths if lengths else 0.0
