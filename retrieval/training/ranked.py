"""What a recall keeps of how it ranked."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from memory.records import RankedCandidate
from retrieval.feature_vector import FeatureVector
from retrieval.features import FEATURES
from retrieval.request import RecallHit
from stores.port import ScoredMemory

MAX_RANKED: Final = 64
"""Candidates of one recall, about 200 bytes each."""
_DECIMALS: Final = 4
_SCORE_DECIMALS: Final = 6


def values_of(candidates: Sequence[ScoredMemory], features: Mapping[str, FeatureVector]) -> dict[str, list[float]]:
    """By the candidates' ids, their features in the order of :data:`~retrieval.features.FEATURES`, rounded.

    Args:
        candidates: In the order of the features' numbers.
        features: As :func:`retrieval.features.features_of` gives them; empty where there is no candidate.
    """
    if not candidates:
        return {}
    table = np.column_stack([features[name] for name in FEATURES]).round(_DECIMALS).tolist()
    return {each.memory.id: values for each, values in zip(candidates, table, strict=True)}


def ranked_candidates(hits: Sequence[RecallHit], values: Mapping[str, list[float]]) -> tuple[RankedCandidate, ...]:
    """The best of what was ranked.

    Args:
        hits: All that were ranked, best first.
        values: What :func:`values_of` has kept. A hit that is not among them was found by an expansion alone, or lies too far behind.
    """
    found = [(rank, hit) for rank, hit in enumerate(hits, start=1) if hit.memory.id in values][:MAX_RANKED]
    return tuple(
        RankedCandidate(memory_id=hit.memory.id, rank=rank, score=round(hit.score, _SCORE_DECIMALS), features=values[hit.memory.id])
        for rank, hit in found
    )
