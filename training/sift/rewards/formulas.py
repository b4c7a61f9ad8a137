"""The reward of a ranking (MemSifter 3.3 and 3.4, equations 1 to 5), from the scores of the working LLM.

The public release differs from the paper in three places; the paper is followed:

- it never multiplies the first weight of equation 5 (0.3691) with a score, so that the best place counts nothing;
- its answer F1 drops numbers, so that "7 May" equals "8 May" (:mod:`training.sift.rewards.scoring`);
- its NDCG@1 knows only the first of the relevant sessions (:mod:`training.sift.rewards.measures`).
"""

from collections.abc import Collection, Sequence
from math import log2
from typing import Final, Literal

TIERS: Final = (0, 1, 2, 3, 5, 8, 10)
"""Numbers of sessions that the working LLM is shown: none, then a Fibonacci sequence up to the ten sessions of a ranking (3.3.1)."""

Shaping = Literal["paper", "absolute", "uniform"]
"""``paper``: equation 3. Ablations of section 4.4: ``absolute`` omits the baseline ("w/o marginal utility"); ``uniform`` is the mean
of the scores ("w/o rank-sensitive weights")."""


def discount(rank: int) -> float:
    """D = 1 / log2(rank + 1), the discount of DCG (equations 2 and 4)."""
    return 1 / log2(rank + 1)


def tier_weights(tiers: Sequence[int] = TIERS) -> tuple[float, ...]:
    """The weights w_1 to w_N (equation 5): 0.3691, 0.1309, 0.1131, 0.0714, 0.0264 and 0.2891 for the tiers of the paper.

    Args:
        tiers: 0, then the tiers k_1 to k_N, increasing.
    """
    discounts = [discount(each) for each in tiers[1:]]
    return tuple(one - other for one, other in zip(discounts, [*discounts[1:], 0.0], strict=True))


def answer_reward(scores: Sequence[float], *, shaping: Shaping = "paper") -> float:
    """R_ans = -s_0 + sum of w_n * s_kn (equation 3).

    Args:
        scores: The working LLM's score at each tier, s_0 first; each in [0, 1].
        shaping: The formula.
    """
    if shaping == "uniform":
        return -scores[0] + sum(scores[1:]) / (len(scores) - 1)
    baseline = scores[0] if shaping == "paper" else 0.0
    return -baseline + sum(weight * score for weight, score in zip(tier_weights(), scores[1:], strict=True))


def retrieval_reward(ranking: Sequence[int], gold: Collection[int]) -> float:
    """R_ret: DCG of a ranking with gains of 1 or 0 (section 3.4). Not normalized: a ranking that finds two sessions may exceed 1.

    Args:
        ranking: Positions of sessions, best first.
        gold: The relevant ones.
    """
    return sum(discount(rank) for rank, each in enumerate(ranking, start=1) if each in gold)


def annealed_beta(epoch: float, *, beta: float, epochs: float = 1.0) -> float:
    """The weight of R_ret: ``beta`` in the first epoch, then a straight line to 0 (3.4, "reward annealing schedule").

    The paper does not say how fast it falls.

    Args:
        epoch: Epochs done, with fractions.
        beta: The weight in the first epoch.
        epochs: Length of the fall in epochs. 0: it is 0 right after the first epoch.
    """
    if epoch < 1:
        return beta
    return beta * (1 - (epoch - 1) / epochs) if epoch - 1 < epochs else 0.0


def overlong_penalty(tokens: int, *, most: int, buffer: int) -> float:
    """The penalty of a long answer, from 0 to -1 (soft overlong punishment, DAPO, equation 13).

    Args:
        tokens: Length of the answer.
        most: Longest answer with its buffer (20,480 in the paper: "a 16k formal output window, and a 4k buffer window", appendix A).
        buffer: Length of the last part of it, in which the penalty grows (4,096 in the paper).
    """
    return min(0.0, max(-1.0, (most - buffer - tokens) / buffer))


def total_reward(answer: float, retrieval: float, *, alpha: float, beta: float) -> float:
    """R = alpha * R_ans + beta * R_ret (section 3.4).

    Args:
        answer: R_ans.
        retrieval: R_ret; 0 without known relevant sessions.
        alpha: Weight of R_ans.
        beta: Weight of R_ret at this moment (:func:`annealed_beta`).
    """
    return alpha * answer + beta * retrieval
