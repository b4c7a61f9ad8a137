"""The keyword graph: a keyword is as near to a query as the mean of its memories, and its results take a limited share of the response."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import Memory
from retrieval.relevance.final_score import Scoring, Weights
from retrieval.request import RecallHit
from retrieval.retrievers.keywords import linked_by_keywords
from retrieval.selection import Ranked, with_further
from stores.port import ScoredMemory
from tests.stores.factories import NOON, embedding, memory

SCORING = Scoring(weights=Weights(), type_weights={}, now=NOON)
KEYWORDS = ("chess", "harbour", "nickname", "tea")
WORDS = ("a", "b", "c", "d", "e")


def scored(content: str, score: float, *keywords: str) -> ScoredMemory:
    return ScoredMemory(memory(content, keywords=list(keywords)), score, {})


def hit(found: Memory, **fields: Any) -> RecallHit:
    return RecallHit(found, 0.5, {"origin": 0.5}, ("m1",), (0.5,), **fields)


def ranked(*contents: str, limit: int = 4, rejected: tuple[ScoredMemory, ...] = ()) -> Ranked:
    return Ranked(hits=[hit(memory(each)) for each in contents], limit=limit, scoring=SCORING, duplicates={}, rejected=rejected)


def contents(found: Ranked) -> list[str]:
    return [each.memory.content for each in found.hits[: found.limit]]


@given(st.lists(st.tuples(st.lists(st.sampled_from(WORDS), min_size=1), st.sets(st.sampled_from(KEYWORDS))), max_size=12))
def test_a_keyword_is_the_mean_of_its_memories(drawn: list[tuple[list[str], set[str]]]) -> None:
    query = embedding("a c").dense
    vectors = [embedding(" ".join(words)).dense for words, _ in drawn]
    nearest = [
        ScoredMemory(memory(f"note {number}", keywords=sorted(keywords)), float(vector @ query), {})
        for number, ((_, keywords), vector) in enumerate(zip(drawn, vectors, strict=True))
    ]
    members = {each: [vector for vector, (_, keywords) in zip(vectors, drawn, strict=True) if each in keywords] for each in KEYWORDS}
    means = {each: float(np.mean(of_keyword, axis=0) @ query) for each, of_keyword in members.items() if len(of_keyword) > 1}
    linked = linked_by_keywords(nearest)
    assert {each.found.memory.id for each in linked} == {each.memory.id for each in nearest if means.keys() & {*each.memory.keywords}}
    for each in linked:
        assert each.keyword_score == pytest.approx(means[each.keyword], abs=1e-5)
        assert each.keyword_score == pytest.approx(max(means[word] for word in means.keys() & {*each.found.memory.keywords}), abs=1e-5)
    assert [each.score for each in linked] == sorted((each.score for each in linked), reverse=True)


def test_a_keyword_leads_to_memories_far_from_the_query() -> None:
    far = scored("the crew calls her Bear", 0.1, "Nickname")
    nearest = [scored("a nickname is a gift", 0.9, "nickname"), scored("tea at noon", 0.3, "tea"), scored("tea at five", 0.2, "tea"), far]
    linked = linked_by_keywords(nearest)
    assert [(each.found.memory.content, each.keyword) for each in linked[:3]] == [
        ("a nickname is a gift", "nickname"),
        ("the crew calls her Bear", "nickname"),
        ("tea at noon", "tea"),
    ]
    assert linked[1].score == pytest.approx((0.5 + 0.1) / 2)


def test_a_keyword_of_one_memory_leads_nowhere() -> None:
    assert linked_by_keywords([scored("alone", 0.9, "chess"), scored("without any", 0.8)]) == []


def test_ten_keywords_are_followed() -> None:
    nearest = [scored(f"{word} {number}", 1 - word / 100, f"word {word}") for word in range(12) for number in range(2)]
    assert {each.keyword for each in linked_by_keywords(nearest)} == {f"word {word}" for word in range(10)}


def test_the_last_places_are_the_keywords() -> None:
    linked = [hit(memory(each), keyword="chess") for each in ("far 1", "far 2", "far 3")]
    found = with_further(ranked("n1", "n2", "n3", "n4", "n5"), [(linked, 1)])
    assert contents(found) == ["n1", "n2", "n3", "far 1"]
    assert [each.memory.content for each in found.hits] == ["n1", "n2", "n3", "far 1", "n4", "n5"]
    assert contents(with_further(ranked("n1", "n2", "n3", "n4"), [(linked, 3)])) == ["n1", "n2", "far 1", "far 2"], "half is the search's"
    assert contents(with_further(ranked("n1", "n2", "n3", "n4"), [(linked, 0)])) == ["n1", "n2", "n3", "n4"]


def test_keywords_alone_answer_no_query() -> None:
    assert with_further(ranked(), [([hit(memory("far"))], 2)]).hits == []


def test_a_memory_found_twice_is_returned_once() -> None:
    first, low, twin = (hit(memory(each), keyword="chess") for each in ("n1", "n6", "N2!"))
    far = hit(memory("far"), keyword="chess")
    found = with_further(ranked("n1", "n2", "n3", "n4", "n5", "n6"), [([first, twin, low, far], 2)])
    assert contents(found) == ["n1", "n2", "n6", "far"]
    assert len({each.memory.id for each in found.hits}) == len(found.hits) == 7


def test_memories_rejected_by_the_search_stay_rejected() -> None:
    low = scored("too far", 0.1, "chess")
    found = with_further(ranked("n1", "n2", "n3", "n4", rejected=(low,)), [([hit(low.memory)], 2)])
    assert contents(found) == ["n1", "n2", "n3", "n4"]
