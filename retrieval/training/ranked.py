"""The ranking that a recall records, to fit rankers to."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from memory.records import RankedCandidate
from retrieval.relevance.feature_vector import FeatureVector
from retrieval.relevance.features import FEATURES
from retrieval.request import RecallHit
from stores.port import ScoredMemory

MAX_RANKED: Final = 64
"""Most candidates of one recall, about 200 bytes each."""
_DECIMALS: Final = 4
_SCORE_DECIMALS: Final = 6


def values_of(candidates: Sequence[ScoredMemory], features: Mapping[str, FeatureVector]) -> dict[str, list[float]]:
    """The rounded features of each candidate by its id, in the order of :data:`~retrieval.relevance.features.FEATURES`.

    Args:
        candidates: In the order of the features' numbers.
        features: From :func:`retrieval.relevance.features.features_of`. Empty if there is no candidate.
    """
    if not candidates:
        return {}
    table = np.column_stack([features[name] for name in FEATURES]).round(_DECIMALS).tolist()
    return {each.memory.id: values for each, values in zip(candidates, table, strict=True)}


def ranked_candidates(hits: Sequence[RecallHit], values: Mapping[str, list[float]]) -> tuple[RankedCandidate, ...]:
    """The best ranked candidates.

    Args:
        hits: All ranked hits, best first.
        values: From :func:`values_of`. Hits without values are left out: only an expansion found them, or they rank too low.
    """
    found = [(rank, hit) for rank, hit in enumerate(hits, start=1) if hit.memory.id in values][:MAX_RANKED]
    return tuple(
        RankedCandidate(memory_id=hit.memory.id, rank=rank, score=round(hit.score, _SCORE_DECIMALS), features=values[hit.memory.id])
        for rank, hit in found
    )
