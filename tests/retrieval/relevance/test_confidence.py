"""The confidence that a recall's memories answer the query."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ids import event_id
from memory.records import Memory
from models.embedding.weights import MODEL_NAME
from retrieval.query.asked_kind import lacks_asked_kind
from retrieval.rankers.fitted_models import model_for
from retrieval.redundancy.current_state import is_hearsay
from retrieval.relevance.confidence import (
    ACROSS_LANGUAGES,
    CONFIDENCE,
    OF_HEARSAY,
    SIGNALS,
    confidence_of,
    first_of,
    is_calibrated,
    signals_of,
    size_of,
)
from retrieval.relevance.features import features_of
from retrieval.relevance.thresholds import LEAST_CONFIDENCE, THRESHOLDS
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
    features = features_of(query, candidates, START)
    best = first_of(query, candidates, features, model_for(query, candidates, embedder=MODEL_NAME))
    return signals_of(query, candidates, features, best=best)


def calibrated(query: str, candidates: list[ScoredMemory]) -> float | None:
    """The confidence; None if it is not calibrated for the languages."""
    model = model_for(query, candidates, embedder=MODEL_NAME)
    return confidence_of(query, candidates, features_of(query, candidates, START) if candidates else {}, model)


def confidence(query: str, candidates: list[ScoredMemory]) -> float:
    found = calibrated(query, candidates)
    assert found is not None
    return found


def test_each_signal_has_a_weight() -> None:
    assert set(signals("What?", CANDIDATES)) == set(SIGNALS) == set(CONFIDENCE.weights) == set(CONFIDENCE.by_size)


def test_another_persons_words_make_unsure() -> None:
    right, wrong = "Which lake did Melanie paint at sunrise?", "Which lake did Caroline paint at sunrise?"
    assert signals(right, CANDIDATES)["other_coverage"] < 0 < signals(wrong, CANDIDATES)["other_coverage"]
    assert signals(right, CANDIDATES)["other_best"] < 0 < signals(wrong, CANDIDATES)["other_best"]
    assert confidence(wrong, CANDIDATES) < confidence(right, CANDIDATES)


def test_a_question_without_a_name_mismatches_no_person() -> None:
    found = signals("Which lake was painted at sunrise?", CANDIDATES)
    assert [found[name] for name in ("other_coverage", "other_best", "other_dense")] == [0, 0, 0]


def test_signals_are_of_the_best_candidates() -> None:
    found = signals("painted lake sunrise", CANDIDATES)
    assert (found["dense"], found["coverage"], found["question"]) == (0.75, 1.0, 0.0)
    assert found["late"] == pytest.approx(15 / 6)
    assert (found["missing"], found["no_terms"], found["names_nobody"]) == (0.0, 0.0, 1.0)
    assert signals("painted lake sunset Melanie", CANDIDATES)["missing"] == 1
    assert signals("Who is Melanie?", CANDIDATES)["no_terms"] == 1


@pytest.mark.parametrize(
    ("question", "unknown", "unnamed", "about_another", "by_another"),
    [
        ("Which lake did Melanie paint at sunrise?", 0, 0, 0, 0),
        ("Which lake did Caroline paint at sunrise?", 0, 1, 1, 1),
        ("Which lake did Rosa paint at sunrise?", 1, 1, 1, 1),
        ("Did Melanie and Rosa paint a lake at sunrise?", 1, 1, 0, 0),
        ("Who painted a lake at sunrise?", 0, 0, 0, 0),
    ],
)
def test_names_show_whether_the_best_concerns_the_person(
    question: str, unknown: int, unnamed: int, about_another: int, by_another: int
) -> None:
    best = [candidate(0, "Melanie: I painted a lake at sunrise.", late=15.0), candidate(1, "Caroline: Good night.", late=0.1)]
    found = signals(question, best)
    assert [found[name] for name in ("unknown_name", "unnamed", "about_another", "by_another")] == [
        unknown,
        unnamed,
        about_another,
        by_another,
    ]


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("When is the wedding?", "Farah (6 May 2024): The rings are at the jeweller's.", True),
        ("When is the wedding?", "Farah: Samir and I marry on the 21st of June.", False),
        ("How many guests come?", "The hall is large.", True),
        ("How many guests come?", "There will be sixty guests.", False),
        ("Who makes the cake?", "Somebody makes the cake.", True),
        ("Who makes the cake?", "My aunt Noor makes it.", False),
        ("Where are the rings?", "They are somewhere.", False),
    ],
)
def test_a_text_may_lack_the_requested_kind(question: str, text: str, lacks: bool) -> None:
    assert lacks_asked_kind(question, text) is lacks
    assert signals(question, [candidate(0, text)])["lacks_kind"] == lacks


def test_the_size_counts_from_one_candidate_to_sixty_four() -> None:
    assert [size_of(number) for number in (1, 8, 64, 200)] == pytest.approx([0.0, 0.5, 1.0, 1.0])


def test_only_the_embedded_model_is_calibrated() -> None:
    assert is_calibrated(MODEL_NAME)
    assert not is_calibrated("text-embedding-3-small")


def test_late_interaction_counts_by_all_words_compared() -> None:
    found = signals("What did Melanie paint?", CANDIDATES)
    assert found["late"] == pytest.approx(15 / (2 * 7))


def test_nothing_known_is_no_answer() -> None:
    assert confidence("anything", []) == 0


def test_the_least_confidence_is_among_the_measured_ones() -> None:
    assert LEAST_CONFIDENCE in {each.confidence for each in THRESHOLDS}


def test_a_higher_threshold_rejects_more() -> None:
    rows = [(each.confidence, each.false_rejections, -each.false_answers, -each.false_answers_of_strangers) for each in THRESHOLDS]
    assert all(np.diff(column).min() >= 0 for column in np.array(rows).T)


@given(st.text(min_size=1, max_size=60), st.lists(st.tuples(st.text(max_size=80), st.floats(0, 30)), min_size=1, max_size=12))
def test_any_text_gives_a_probability(query: str, texts: list[tuple[str, float]]) -> None:
    candidates = [candidate(number, text, late) for number, (text, late) in enumerate(texts)]
    assert np.isfinite([*signals(query, candidates).values()]).all()
    found = calibrated(query, candidates)
    assert found is None or 0 <= found <= 1


@pytest.mark.parametrize("question", ["Welchen See hat Melanie gemalt?", "Qui a peint le lac ?", "メラニーは何を描きましたか"])
def test_questions_in_another_language_give_low_confidence(question: str) -> None:
    assert confidence(question, CANDIDATES) <= ACROSS_LANGUAGES
    assert confidence(question, []) == 0


def test_a_foreign_first_memory_gives_low_confidence() -> None:
    foreign = [candidate(0, "Melanie hat bei Sonnenaufgang einen See gemalt.", late=15.0)]
    assert confidence("Which lake did Melanie paint?", foreign) <= ACROSS_LANGUAGES
    assert calibrated("Welchen See hat Melanie gemalt?", foreign) is None


def test_a_quotation_gives_low_confidence_unless_asked_for() -> None:
    quoted = [candidate(0, "Ann: Look\n\nOn 6 May 2024, Tom Berg wrote:\n> I live in Madrid and I like it.", late=15.0)]
    assert confidence("Where do I live?", quoted) <= OF_HEARSAY
    own = [candidate(0, "Ann: I live in Madrid and I like it.", late=15.0)]
    assert confidence("Where do I live?", own) > confidence("Where do I live?", quoted)
    assert not is_hearsay("Where does Tom live?", quoted[0].memory)
    assert not is_hearsay("Which city is it?", quoted[0].memory), "it asks about no person"
