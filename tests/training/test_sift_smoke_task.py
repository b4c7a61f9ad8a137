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
                    assert gain == 1 if is_right else gain > 0.6


def test_a_wrong_teacher_stops_at_the_first_session() -> None:
    user = next(each for each in users_of(50, seed=1, source="train") if len(each.sessions) - 1 not in each.examples[0].gold)
    example = user.examples[0]
    text = teacher_answer(user, example, is_right=False, reasoning=True)
    ranking = parse_ranking(text, sessions=len(example.sessions), most=RANKED)
    assert ranking.places[0] in example.gold
    assert ranking.places[1] == len(user.sessions) - 1
    assert example.answer not in ranking.thought


def test_test_histories_are_no_train_histories() -> None:
    train, test = users_of(2000, seed=1, source="train"), users_of(50, seed=1, source="test", lengths=(8,))
    assert {len(each.sessions) for each in train} == set(LENGTHS)
    assert {len(each.examples) for each in test} == {3}
    check_disjoint(train, test)
    assert not {each.sessions for each in train} & {each.sessions for each in test}
