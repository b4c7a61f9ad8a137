"""The results of a query and of its expansions become one list, by the odds that either is right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.query.expansion import EXPANSION_WEIGHT, noisy_or
from stores.port import ScoredMemory
from tests.stores.factories import memory

SCORES = st.dictionaries(st.sampled_from("abcdef"), st.floats(min_value=0, max_value=1))
MEMORIES = {name: memory(name) for name in "abcdef"}


def found(scores: dict[str, float]) -> list[ScoredMemory]:
    ranked = sorted(scores.items(), key=lambda each: -each[1])
    return [ScoredMemory(MEMORIES[name], score, {"dense": score}) for name, score in ranked]


def scores_of(asked: dict[str, float], *expanded: dict[str, float]) -> dict[str, float]:
    return {each.memory.content: each.score for each in noisy_or(found(asked), [found(each) for each in expanded], explain=False)}


def test_without_expansions_nothing_changes() -> None:
    asked = found({"a": 0.4, "b": 0.3})
    assert noisy_or(asked, [], explain=True) == asked


def test_the_better_expansion_adds_half_of_its_odds() -> None:
    ranked = noisy_or(found({"a": 0.4, "b": 0.3}), [found({"b": 0.2, "c": 0.5}), found({"b": 0.6})], explain=True)
    assert [(each.memory.content, round(each.score, 4)) for each in ranked] == [("b", 0.51), ("a", 0.4), ("c", 0.25)]
    assert [each.parts for each in ranked] == [
        {"dense": 0.3, "as_asked": 0.3, "as_expanded": 0.6},
        {"dense": 0.4, "as_asked": 0.4, "as_expanded": 0.0},
        {"dense": 0.5, "as_asked": 0.0, "as_expanded": 0.5},
    ]


@given(SCORES, st.lists(SCORES, max_size=3))
def test_each_is_found_once_and_never_loses(asked: dict[str, float], expanded: list[dict[str, float]]) -> None:
    scores = scores_of(asked, *expanded)
    assert scores.keys() == set(asked).union(*expanded)
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    for name, score in scores.items():
        assert max(asked.get(name, 0), EXPANSION_WEIGHT * max((each.get(name, 0) for each in expanded), default=0)) <= score + 1e-12
        assert score <= 1


@given(SCORES, SCORES, st.sampled_from("abcdef"), st.floats(min_value=0, max_value=1))
def test_finding_more_by_it_lifts_no_other(asked: dict[str, float], expanded: dict[str, float], name: str, score: float) -> None:
    without = {each: value for each, value in expanded.items() if each != name}
    before, after = scores_of(asked, without), scores_of(asked, without | {name: score})
    assert {each: value for each, value in after.items() if each != name} == pytest.approx(
        {each: value for each, value in before.items() if each != name}
    )
    assert after[name] >= before.get(name, 0)
