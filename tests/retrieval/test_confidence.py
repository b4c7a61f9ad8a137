"""How sure a recall is that the memories answer."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ids import event_id
from memory.records import Memory
from retrieval.confidence import CONFIDENCE, SIGNALS, THRESHOLDS, confidence_of, signals_of
from retrieval.features import features_of
from stores.port import ScoredMemory

START = datetime(2026, 5, 4, tzinfo=UTC)


def candidate(number: int, content: str, late: float = 1.0) -> ScoredMemory:
    memory = Memory(
        id=event_id("acme", number),
        tenant="acme",
        user="ann",
        kind="event",
        type="remark",
        content=content,
        event_time=START,
        session="s1",
        message_ids=[f"m{number}"],
    )
    return ScoredMemory(memory, late / 20, {"late": late, "dense": late / 20, "bm25": late})


CANDIDATES = [
    candidate(0, "Caroline: The weather is fine.", late=4.0),
    candidate(1, "Melanie: I painted a lake at sunrise.", late=15.0),
    candidate(2, "Caroline: Good night.", late=3.0),
]


def signals(query: str, candidates: list[ScoredMemory]) -> dict[str, float]:
    return signals_of(query, candidates, features_of(query, candidates, START))


def confidence(query: str, candidates: list[ScoredMemory]) -> float:
    return confidence_of(query, candidates, features_of(query, candidates, START))


def test_each_signal_has_a_weight() -> None:
    assert set(signals("What?", CANDIDATES)) == set(SIGNALS) == set(CONFIDENCE.weights)


def test_another_persons_words_make_unsure() -> None:
    right, wrong = "Which lake did Melanie paint at sunrise?", "Which lake did Caroline paint at sunrise?"
    assert signals(right, CANDIDATES)["other_coverage"] < 0 < signals(wrong, CANDIDATES)["other_coverage"]
    assert signals(right, CANDIDATES)["other_best"] < 0 < signals(wrong, CANDIDATES)["other_best"]
    assert confidence(wrong, CANDIDATES) < confidence(right, CANDIDATES)


def test_nobody_named_is_nobody_else() -> None:
    found = signals("Which lake was painted at sunrise?", CANDIDATES)
    assert [found[name] for name in ("other_coverage", "other_best", "other_dense")] == [0, 0, 0]


def test_signals_are_of_the_best_candidates() -> None:
    found = signals("painted lake sunrise", CANDIDATES)
    assert (found["dense"], found["coverage"], found["question"]) == (0.75, 1.0, 0.0)
    assert found["late"] == pytest.approx(15 / 6)
    assert found["lead"] > 0
    assert signals("painted lake sunrise", CANDIDATES[:1])["lead"] == 0


def test_late_interaction_counts_by_all_words_compared() -> None:
    found = signals("What did Melanie paint?", CANDIDATES)
    assert found["late"] == pytest.approx(15 / (2 * 7))


def test_nothing_known_is_no_answer() -> None:
    assert confidence_of("anything", [], {}) == 0


def test_a_higher_threshold_rejects_more() -> None:
    rows = [(each.confidence, each.false_rejections, -each.false_answers, -each.false_answers_of_strangers) for each in THRESHOLDS]
    assert all(np.diff(column).min() >= 0 for column in np.array(rows).T)


@given(st.text(min_size=1, max_size=60), st.lists(st.tuples(st.text(max_size=80), st.floats(0, 30)), min_size=1, max_size=12))
def test_any_text_gives_a_probability(query: str, texts: list[tuple[str, float]]) -> None:
    candidates = [candidate(number, text, late) for number, (text, late) in enumerate(texts)]
    assert np.isfinite([*signals(query, candidates).values()]).all()
    assert 0 <= confidence(query, candidates) <= 1
