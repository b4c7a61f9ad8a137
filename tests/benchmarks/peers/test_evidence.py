"""The quality of results: the same definition for results of one message, of several, and of none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.peers.evidence import CUT, Result, judged, quality

IDS = st.sampled_from([f"m{number}" for number in range(30)])


def _results(*turn_ids: str | tuple[str, ...]) -> list[Result]:
    return [Result((each,) if isinstance(each, str) else each, "text") for each in turn_ids]


def test_verbatim_and_derived_results_count_alike() -> None:
    verbatim = judged(_results("m1", "m2", "m3"), {"m2", "m9"})
    derived = judged(_results("m1", ("m7", "m2"), "m3"), {"m2", "m9"})
    assert verbatim == derived
    assert (verbatim.recall_at_10, verbatim.hit_at_5, verbatim.reciprocal_rank) == (0.5, 1.0, 0.5)


def test_evidence_in_two_results_counts_once() -> None:
    assert judged(_results("m1", "m1"), {"m1", "m2"}).recall_at_10 == 0.5


def test_only_first_ten_results_count() -> None:
    outcome = judged(_results(*(f"m{number}" for number in range(20))), {"m9", "m10"})
    assert (outcome.recall_at_10, outcome.hit_at_5, outcome.reciprocal_rank) == (0.5, 0.0, 0.1)


def test_no_results_count_as_nothing_found() -> None:
    assert judged([], {"m1"}).reciprocal_rank == judged(_results("m2"), {"m1"}).recall_at_10 == 0.0


@given(results=st.lists(st.lists(IDS, max_size=3).map(tuple), max_size=15), gold=st.sets(IDS, min_size=1), more=st.lists(IDS, max_size=3))
def test_more_sources_never_lower_the_quality(results: list[tuple[str, ...]], gold: set[str], more: list[str]) -> None:
    before = judged(_results(*results), gold)
    after = judged(_results(*((*each, *more) for each in results)), gold)
    assert 0 <= before.recall_at_10 <= after.recall_at_10 <= 1
    assert before.hit_at_5 <= after.hit_at_5
    assert before.reciprocal_rank <= after.reciprocal_rank


@given(results=st.lists(IDS, min_size=1, max_size=CUT, unique=True), gold=st.sets(IDS, min_size=1))
def test_rank_agrees_with_first_hit(results: list[str], gold: set[str]) -> None:
    outcome = judged(_results(*results), gold)
    first = next((rank for rank, each in enumerate(results, start=1) if each in gold), None)
    assert outcome.reciprocal_rank == (0.0 if first is None else 1 / first)
    assert outcome.hit_at_5 == float(first is not None and first <= 5)


def test_questions_without_answer_are_not_judged() -> None:
    report = quality([_results("m1"), _results("m2", ("m3", "m4"))], [{"m1"}, frozenset()])
    assert (report["questions"], report["recall_at_10"]) == (1, 1.0)
    assert report["results_per_question"] == 1.5
    assert report["messages_per_result"] == pytest.approx(4 / 3, abs=0.01)
    assert report["characters_per_result"] == 4
