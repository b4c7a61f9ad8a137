"""MemX's four factors, its normalisation and its rejection, against the equations of the paper."""

import math
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.rankers.memx import MEMX, frequency, is_answered, normalised, ranked, recency
from runtime.redis.retrieval_counts import Retrievals
from stores.port import ScoredMemory
from tests.stores.factories import NOON, memory


def candidate(content: str, *, dense: float = 0.3, bm25: float = 0.0, **fields: Any) -> ScoredMemory:
    return ScoredMemory(memory(content, **{"importance": 0.5, **fields}), 0.5, {"dense": dense, "bm25": bm25, "late": 1.0})


def test_recency_halves_in_thirty_days() -> None:
    old = memory(event_time=NOON - timedelta(days=30))
    assert recency(old, None, now=NOON, parameters=MEMX) == pytest.approx(0.5)
    assert recency(old, Retrievals(1, NOON - timedelta(days=60)), now=NOON, parameters=MEMX) == pytest.approx(0.25)
    assert recency(memory(event_time=NOON + timedelta(days=1)), None, now=NOON, parameters=MEMX) == 1


def test_frequency_is_a_capped_logarithm() -> None:
    assert frequency(None) == 0
    assert frequency(Retrievals(9, NOON)) == pytest.approx(math.log(10) / 10)
    assert frequency(Retrievals(10**9, NOON)) == 1


@given(st.lists(st.floats(min_value=0, max_value=1), min_size=1, max_size=30))
def test_normalisation_keeps_the_order(scores: list[float]) -> None:
    before = np.array(scores)
    after = normalised(before)
    assert ((after >= 0) & (after <= 1)).all()
    for low, high in zip(np.argsort(before)[:-1], np.argsort(before)[1:], strict=True):
        assert after[low] <= after[high]


def test_equal_scores_stay_as_they_are() -> None:
    assert normalised(np.array([0.4, 0.4])).tolist() == [0.4, 0.4]
    assert normalised(np.array([0.2, 0.6])).tolist() == pytest.approx([1 / (1 + math.e), 1 / (1 + 1 / math.e)])


def test_a_score_is_the_sum_of_four_factors() -> None:
    near, far = candidate("near", dense=0.9, bm25=3.0, importance=0.2), candidate("far", dense=0.1, event_time=NOON - timedelta(days=30))
    known = {far.memory.id: Retrievals(3, NOON)}
    best, other = ranked([near, far], MEMX, retrievals=known, now=NOON, explain=True)
    names = ("memx_semantic", "memx_recency", "memx_frequency", "memx_importance")
    assert [best.parts[each] for each in names] == pytest.approx([0.45, 0.25, 0, 0.02])
    semantic = 0.45 * (1 / 62) / (2 / 61)
    assert [other.parts[each] for each in names] == pytest.approx([semantic, 0.25, 0.05 * math.log(4) / 10, 0.05])
    assert best.score > 0.5 > other.score
    assert best.parts["dense"] == 0.9
    assert ranked([near], MEMX, retrievals={}, now=NOON, explain=False)[0].parts == {}


def test_recently_returned_memories_rank_higher() -> None:
    same = [candidate(f"note {number}", dense=0.5, event_time=NOON - timedelta(days=90)) for number in range(2)]
    known = {same[1].memory.id: Retrievals(1, NOON)}
    first, second = ranked(same, MEMX, retrievals=known, now=NOON, explain=False)
    assert second.score > first.score


@pytest.mark.parametrize(("dense", "bm25", "answered"), [(0.49, 0.0, False), (0.5, 0.0, True), (0.1, 0.2, True)])
def test_without_words_a_near_meaning_is_needed(dense: float, bm25: float, answered: bool) -> None:
    assert is_answered([candidate("a", dense=0.1), candidate("b", dense=dense, bm25=bm25)], MEMX) is answered


def test_no_candidates_are_no_answer() -> None:
    assert not is_answered([], MEMX)
    assert ranked([], MEMX, retrievals={}, now=NOON, explain=True) == []
