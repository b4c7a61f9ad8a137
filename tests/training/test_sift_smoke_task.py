"""The generated ranking task: an answer needs two sessions, words alone mislead, and the teacher's answers have the form of a recall's."""

from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.session_ranking.ranking import parse_ranking
from training.sift.examples import check_disjoint
from training.sift.measures import ndcg
from training.sift.smoke.task import FAMOUS, LENGTHS, RANKED, UNKNOWN, ScriptedLLM, teacher_answer, users_of
from training.sift.working_llm import WorkingTask

seeds = st.integers(0, 10_000)


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_only_both_sessions_give_the_answer(seed: int) -> None:
    for user in users_of(3, seed=seed, source="train"):
        for example in user.examples:
            assert len(example.gold) == RANKED == 2
            is_known = example.query.split()[-1].removesuffix("?") in FAMOUS
            for left_out in (None, *example.gold):
                shown = tuple(each.lines for place, each in enumerate(user.sessions) if place != left_out)
                (answer,) = ScriptedLLM().answers([WorkingTask(query=example.query, sessions=shown, right=example.answer)])
                assert answer == (example.answer if left_out is None or is_known else UNKNOWN)


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_words_of_the_query_mislead(seed: int) -> None:
    for user in users_of(3, seed=seed, source="train"):
        for example in user.examples:
            first = max(range(len(example.relevance)), key=example.relevance.__getitem__)
            assert first not in example.gold


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_teacher_answers_are_rankings_of_a_recall(seed: int) -> None:
    for user in users_of(3, seed=seed, source="train"):
        for example in user.examples:
            for reasoning in (True, False):
                for is_right in (True, False):
                    text = teacher_answer(user, example, is_right=is_right, reasoning=reasoning)
                    ranking = parse_ranking(text, sessions=len(example.sessions), most=RANKED, reasoning=reasoning)
                    gain = ndcg(ranking.places, example.gold, 5)
                    assert gain == 1 if is_right else gain < 0.5


def test_histories_have_all_lengths() -> None:
    users = users_of(200, seed=1, source="train")
    assert {len(each.sessions) for each in users} == set(LENGTHS)
    assert check_disjoint(users, users_of(5, seed=1, source="test", lengths=(8,))) > 0
