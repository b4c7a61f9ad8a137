"""Features of the ranking model, on small sets of candidates."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ids import event_id
from memory.records import Memory
from models.embedding.weights import MODEL_NAME
from retrieval.rankers.base import MAX_RERANKED, Scored
from retrieval.rankers.fitted_models import LEARNED, LONGEST_QUESTION, OF_TURNS, RankingModel, is_turn, model_for
from retrieval.rankers.learned import LearnedRanker, reranked
from retrieval.relevance.features import FEATURES, features_of
from stores.port import ScoredMemory

START = datetime(2026, 5, 4, tzinfo=UTC)
NOW = datetime(2026, 7, 1, tzinfo=UTC)


def candidate(number: int, content: str, *, score: float = 0.5, late: float = 1.0, **fields: Any) -> ScoredMemory:
    given = {"user": "ann", "session": "s1", "window_id": "w1", "turn": number, "event_time": START} | fields
    memory = Memory(
        id=event_id("acme", number), tenant="acme", kind="event", type="remark", content=content, message_ids=[f"m{number}"], **given
    )
    return ScoredMemory(memory, score, {"late": late, "dense": late / 10, "bm25": late})


CANDIDATES = [
    candidate(0, "Caroline (4 May 2026): How was your week?", late=1.0),
    candidate(1, "Melanie (4 May 2026): I painted a lake at sunrise. (answering Caroline: How was your week?)", late=5.0),
    candidate(2, "Caroline (4 May 2026): I adopted a dog.", late=2.0),
    candidate(
        9,
        "Melanie (4 May 2026): The pottery class starts in June.",
        late=3.0,
        window_id="w2",
        session="s2",
        event_time=START.replace(month=6),
    ),
]


def feature(name: str, query: str = "What did Melanie's brush paint at sunrise in June?") -> list[float]:
    return [float(each) for each in features_of(query, CANDIDATES, NOW)[name]]


def test_every_candidate_has_every_feature() -> None:
    found = features_of("What did Melanie paint?", CANDIDATES, NOW)
    assert set(found) == set(FEATURES) == set(LEARNED.weights)
    assert {len(column) for column in found.values()} == {len(CANDIDATES)}


def test_persons_in_the_query_are_distinguished_from_others() -> None:
    assert feature("named") == [-1, 1, -1, 1]
    assert feature("named", "Who painted a lake?") == [0, 0, 0, 0]


def test_possessives_and_names_within_a_sentence_are_names() -> None:
    said = [
        "Melanie's kids love camping.",
        "Melanie’s kids love camping.",
        "For Melanie painting is calm.",
        "Caroline met Melanie.",
        "It rained.",
    ]
    candidates = [candidate(number, each) for number, each in enumerate(said)]
    assert features_of("What does Melanie's family love?", candidates, NOW)["named"].tolist() == [1, 1, 1, -1, -1]
    assert features_of("What does Caroline love?", candidates, NOW)["named"].tolist() == [-1, -1, -1, 1, -1]
    assert features_of("What does Tom love?", candidates, NOW)["named"].tolist() == [0] * 5


def test_keywords_count_like_words_of_the_text() -> None:
    plain, other = candidate(0, "Ann bought a dog called Rex."), candidate(1, "Ann sold a boat.")
    tagged = ScoredMemory(plain.memory.model_copy(update={"keywords": ["pets", "dog"]}), plain.score, plain.parts)
    detailed = ScoredMemory(plain.memory.model_copy(update={"content": "Ann bought a dog called Rex. pets"}), plain.score, plain.parts)
    names = ("coverage", "session_coverage", "neighbours_bm25")
    without, tagged_features, within = (features_of("Which pets has Ann?", [each, other], NOW) for each in (plain, tagged, detailed))
    assert [tagged_features[name].tolist() for name in names] == [within[name].tolist() for name in names]
    assert tagged_features["coverage"][0] > without["coverage"][0]


def test_original_words_count_like_the_content() -> None:
    plain, other = candidate(0, "Ann bought a dog."), candidate(1, "Ann sold a boat.")
    said = ScoredMemory(plain.memory.model_copy(update={"search_text": "Ann: Rex is my dog."}), plain.score, plain.parts)
    without, tagged_features = (features_of("Who is Rex?", [each, other], NOW) for each in (plain, said))
    assert (without["coverage"].tolist(), tagged_features["coverage"].tolist()) == ([0, 0], [1, 0])


def test_a_year_or_no_date_names_no_month() -> None:
    dates = {None: 1.0, "2026-05": 1.0, "2026-05/2026-07": 1.0, "2026-04": 0.0, "2026": 0.0, "unknown": 0.0}
    candidates = [candidate(number, "I ran.", date=each) for number, each in enumerate(dates)]
    assert features_of("Who ran in May?", candidates, NOW)["month"].tolist() == list(dates.values())


def test_neighbours_lend_their_scores() -> None:
    late = feature("late")
    assert feature("neighbours_late") == [max(late[1], late[2]), max(late[0], late[2]), max(late[0], late[1]), min(late)]


def test_nearer_and_better_neighbours_count_more() -> None:
    near, far = candidate(0, "how is the move going", late=5.0), candidate(5, "landlord pushed it again", late=1.0)
    between, apart = candidate(1, "the 21st now", late=1.0), candidate(1, "cereal", late=1.0, window_id="w2", session="s2")
    found = features_of("When is the move?", [near, far, between, apart], NOW)["nearby"]
    assert found[2] > found[1] > found[0] > found[3] == 0


def test_candidates_of_one_turn_are_not_neighbours() -> None:
    parts = [candidate(3, "I ran.", late=2.0), candidate(3, "I swam.", late=1.0)]
    assert features_of("Who ran?", parts, NOW)["nearby"].tolist() == [0, 0]


def test_a_session_is_as_large_as_its_candidates() -> None:
    assert feature("session_size") == pytest.approx([np.log(3)] * 3 + [0])
    assert features_of("Who?", [candidate(0, "I ran.", session=None)], NOW)["session_size"].tolist() == [0]


def test_a_users_first_message_opens_a_session() -> None:
    said = [
        candidate(0, "I plan a bed.", speaker="user"),
        candidate(1, "Good idea.", speaker="assistant"),
        candidate(3, "It rains.", speaker="user"),
        candidate(0, "Hello.", speaker="Ann"),
    ]
    assert features_of("Where?", said, NOW)["opening"].tolist() == [1, 0, 0.25, 0]


def test_the_recency_feature_halves_every_week() -> None:
    times = [NOW, NOW - timedelta(days=7), NOW - timedelta(days=14), NOW + timedelta(days=3)]
    candidates = [candidate(number, "I ran.", event_time=each) for number, each in enumerate(times)]
    assert features_of("Who ran?", candidates, NOW)["recent"].tolist() == [1, 0.5, 0.25, 1]


def test_long_turns_have_their_own_model() -> None:
    question, turn = " ".join(["word"] * LONGEST_QUESTION), " ".join(["word"] * (LONGEST_QUESTION + 1))
    said = [candidate(0, "I plan a bed.", speaker="user")]
    assert model_for(question, said, embedder=MODEL_NAME) is LEARNED
    assert model_for(turn, said, embedder=MODEL_NAME) is OF_TURNS
    assert set(OF_TURNS.weights) == set(FEATURES)


def test_the_model_of_a_profile_is_for_all_queries() -> None:
    said = [candidate(0, "I plan a bed.", speaker="user"), candidate(1, "It rains.", speaker="user")]
    features = features_of("Where?", said, NOW)
    scored = Scored(text="Where?", found=said, accepted=said, now=NOW, features=features, model=OF_TURNS)
    own = RankingModel(weights={"length": 1.0}, slope=1, intercept=0)
    assert LearnedRanker().rank(scored, explain=False) == reranked(said, features, OF_TURNS, explain=False)
    assert LearnedRanker(own).rank(scored, explain=False) == reranked(said, features, own, explain=False)


@pytest.mark.parametrize(
    ("said", "with_assistant"),
    [
        ([("s1", "user"), ("s1", "assistant")], True),
        ([("s1", "Ann"), ("s1", "Ann"), ("s1", "assistant"), ("s2", "Ann"), ("s2", "Ben")], True),
        ([("s1", "Ann"), ("s1", "assistant"), ("s2", "Ann"), ("s2", "Ben"), ("s3", "Ann")], False),
        ([("s1", "Ann"), ("s1", "Ben")], False),
        ([("s1", "Ann"), ("s1", None), ("s2", None)], False),
        ([("s1", "assistant"), ("s2", None)], True),
        ([("s1", None)], True),
        ([], True),
    ],
)
def test_a_long_question_about_people_is_no_turn(said: list[tuple[str, str | None]], *, with_assistant: bool) -> None:
    found = [candidate(turn, "I ran.", session=session, speaker=each) for turn, (session, each) in enumerate(said)]
    assert is_turn(" ".join(["word"] * (LONGEST_QUESTION + 1)), found) is with_assistant


def test_rare_words_of_the_query_count() -> None:
    coverage = feature("coverage", "painted lake sunrise")
    assert coverage[1] == 1
    assert max(coverage[0], coverage[2], coverage[3]) == 0
    assert feature("session_coverage", "painted lake sunrise") == [1, 1, 1, 0]


def test_text_in_brackets_does_not_hide_a_question() -> None:
    assert feature("question") == [1, 0, 0, 0]


def test_a_month_that_the_query_names_counts() -> None:
    assert feature("month") == [0, 0, 0, 1]
    assert feature("month", "What may she paint?") == [0, 0, 0, 0]
    assert feature("month", "What did she paint in May?") == [1, 1, 1, 0]


def test_a_time_that_the_query_names_counts() -> None:
    assert feature("time", "What starts this June?")[3] == 1
    assert max(feature("time", "What starts this June?")[:3]) < 1
    assert feature("time", "What starts?") == [0, 0, 0, 0]


def test_features_use_no_session_of_another_user() -> None:
    foreign = candidate(1, "Zoe: I painted a lake.", late=9.0, user="zoe")
    own = candidate(0, "Caroline: Hello.", late=1.0)
    found = features_of("painted lake", [own, foreign], NOW)
    assert found["neighbours_late"][0] == found["late"].min()
    assert found["session_coverage"].tolist() == [0, 1]


@given(
    st.text(min_size=1, max_size=60),
    st.lists(st.tuples(st.text(max_size=80), st.floats(0, 1), st.integers(0, 5)), min_size=1, max_size=20),
)
def test_any_text_gives_finite_numbers(query: str, texts: list[tuple[str, float, int]]) -> None:
    candidates = [candidate(number, text, late=late, turn=turn) for number, (text, late, turn) in enumerate(texts)]
    for column in features_of(query, candidates, NOW).values():
        assert np.isfinite(column).all()
    assert all(0 <= each.score <= 1 for each in reranked(candidates, features_of(query, candidates, NOW), LEARNED, explain=False))


def test_a_session_is_related_by_shared_words() -> None:
    texts = ["Spanish verbs practice", "Spanish verbs again", "tomato garden watering"]
    found = [candidate(number, text, late=3.0 - number, session=f"s{number}") for number, text in enumerate(texts)]
    first, second, other = features_of("what is next?", found, NOW)["related"]
    assert min(first, second) > other


def test_a_model_ranks_by_its_weights() -> None:
    model = RankingModel(weights={"named": 2.0, "late": 1.0}, slope=1.0, intercept=-1.0)
    found = reranked(CANDIDATES, features_of("What did Melanie do?", CANDIDATES, NOW), model, explain=True)
    best = max(found, key=lambda each: each.score)
    assert best.memory.id == CANDIDATES[1].memory.id
    added = best.parts["ranking_named"] + best.parts["ranking_late"]
    assert best.score == pytest.approx(1 / (1 + np.exp(-(added - 1))))
    assert best.parts["late"] == 5.0


def test_better_memories_of_a_session_lower_a_score() -> None:
    model = RankingModel(weights={"late": 1.0}, slope=2.0, intercept=0.0, same_session=0.5)
    candidates = [candidate(number, f"fact {number}", late=float(number)) for number in range(3)]
    candidates += [candidate(0, "elsewhere", late=0.0, user="zoe"), *(candidate(number, "nowhere", session=None) for number in (8, 9))]
    found = reranked(candidates, {"late": np.array([0.0, 1.0, 2.0, 0.0, 3.0, 3.0])}, model, explain=True)
    assert [each.parts["ranking_same_session"] for each in found] == [-2.0, -1.0, 0.0, 0.0, 0.0, 0.0]
    assert found[0].score == pytest.approx(1 / (1 + np.exp(2.0)))


def test_memories_outside_the_reranked_ones_rank_last() -> None:
    many = [candidate(number, f"fact {number}", score=1 - number / 1000, late=float(number % 7)) for number in range(MAX_RERANKED + 20)]
    found = reranked(many, features_of("fact", many[:MAX_RERANKED], NOW), LEARNED, explain=False)
    assert len(found) == len(many)
    assert max(each.score for each in found[MAX_RERANKED:]) <= min(each.score for each in found[:MAX_RERANKED])
    assert [each.score for each in found[MAX_RERANKED:]] == sorted((each.score for each in found[MAX_RERANKED:]), reverse=True)


def test_no_candidates_give_none() -> None:
    assert reranked([], {}, LEARNED, explain=True) == []
