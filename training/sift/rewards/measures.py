"""Measures of a ranking of sessions with binary relevance (MemSifter 4.1 and 4.5.1).

All relevant sessions count at every cut. The public release cuts the list of relevant sessions as well as the ranking, so that its NDCG@1
credits only the first relevant session of a query.
"""

from collections.abc import Collection, Sequence
from typing import Final

from training.sift.rewards.formulas import discount

MEASURES: Final = ("ndcg_at_1", "ndcg_at_5", "ndcg_at_10", "f1_at_10", "recall_at_10")


def measures_of(ranking: Sequence[int], gold: Collection[int]) -> dict[str, float]:
    """The measures of a ranking.

    Args:
        ranking: Positions of sessions, best first, each once. Empty: the answer was unusable; all measures are 0.
        gold: The relevant ones; at least one.
    """
    found = len(set(ranking[:10]).intersection(gold))
    return {
        **{f"ndcg_at_{cut}": ndcg(ranking, gold, cut) for cut in (1, 5, 10)},
        "f1_at_10": 2 * found / (len(ranking[:10]) + len(gold)),
        "recall_at_10": found / len(gold),
    }


def ndcg(ranking: Sequence[int], gold: Collection[int], cut: int) -> float:
    """NDCG of the first places of a ranking: DCG with gains of 1 or 0, divided by that of a ranking with all relevant sessions first.

    Args:
        ranking: Positions of sessions, best first.
        gold: The relevant ones; at least one.
        cut: Number of places.
    """
    gain = sum(discount(rank) for rank, each in enumerate(ranking[:cut], start=1) if each in gold)
    return gain / sum(discount(rank) for rank in range(1, min(len(gold), cut) + 1))
