"""The generated ranking task: an answer needs two sessions, words alone mislead, and the teacher's answers have the form of a recall's."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.session_ranking.prompt import parse_ranking
from training.sift.data.examples import check_disjoint
from training.sift.rewards.measures import ndcg
from training.sift.rewards.working_llm import WorkingTask
from training.sift.smoke.task import FAMOUS, LENGTHS, RANKED, UNKNOWN, ScriptedLLM, look_ups, teacher_answer, users_of, words_of

seeds = st.integers(0, 10_000)


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_only_both_sessions_give_the_answer(seed: int) -> None:
    for user in users_of(3, seed=seed, source="train"):
        for example in user.examples:
            assert len(example.gold) == RANKED == 2
            is_known = words_of(example.query)[1] in FAMOUS
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
                    assert gain == 1 if is_right else 0.3 < gain < 0.4


def test_wrong_teachers_look_up_the_query_only() -> None:
    for user in users_of(20, seed=1, source="train"):
        for example in user.examples:
            text = teacher_answer(user, example, is_right=False, reasoning=True)
            ranking = parse_ranking(text, sessions=len(example.sessions), most=RANKED)
            shown = [user.sessions[place].lines[0].split()[-1] for place in ranking.places]
            assert tuple(shown) == words_of(example.query)
            assert example.answer not in ranking.thought.split()


def test_wrong_annotations_share_words_with_the_query() -> None:
    users = users_of(200, seed=1, source="train", right=0.4)
    right = []
    for user in users:
        for example in user.examples:
            known = parse_ranking(
                teacher_answer(user, example, is_right=True, reasoning=False), sessions=len(example.sessions), most=RANKED, reasoning=False
            )
            right.append(set(example.gold) == set(known.places))
            if not right[-1]:
                assert {user.sessions[place].lines[0].split()[-1] for place in example.gold} == set(words_of(example.query))
    assert 0.3 < sum(right) / len(right) < 0.5


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_look_ups_are_in_the_history(seed: int) -> None:
    (user,) = users_of(1, seed=seed, source="read")
    written = look_ups(user, Random(seed), words=48).split()
    assert len(written) >= 48
    for word, place, found in zip(written, written[1:], written[2:], strict=False):
        if place.isdigit():
            assert user.sessions[int(place)].lines == (f"{found} {word}",)


def test_test_histories_are_no_train_histories() -> None:
    train, test = users_of(2000, seed=1, source="train"), users_of(50, seed=1, source="test", lengths=(8,))
    assert {len(each.sessions) for each in train} == set(LENGTHS)
    assert {len(each.examples) for each in test} == {3}
    check_disjoint(train, test)
    assert not {each.sessions for each in train} & {each.sessions for each in test}
