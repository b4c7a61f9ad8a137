"""The situations in which facts change, and how a recall ranks them."""

import argparse

import pytest

from evaluation.recall.situations import SITUATIONS, Result, read_situations, report, run, turn_of
from tests.stores.factories import memory


def result(*, kind: str = "changed", right: bool = True, confidence: float | None = 0.9, distractors: int = 0) -> Result:
    return Result(kind, "Where does Ann live?", distractors, right, "I live in Oslo.", confidence)


def test_the_situations_are_complete() -> None:
    situations = read_situations(SITUATIONS)
    assert len(situations) >= 100
    assert {each.kind for each in situations} == {
        "changed",
        "notes",
        "former",
        "correction",
        "repetition",
        "negation",
        "names",
        "misspelt",
        "quotation",
    }
    for situation in situations:
        assert all(0 <= turn < len(situation.turns) for question in situation.questions for turn in question.right)
        assert [turn.day for turn in situation.turns] == sorted(turn.day for turn in situation.turns)
        assert len({bool(turn.by) for turn in situation.turns}) == 1
    texts = [turn.text for each in situations for turn in each.turns]
    assert len(set(texts)) > 0.95 * len(texts)


def test_the_report_counts_right_and_denied_results() -> None:
    found = report(
        [result(), result(confidence=0.1), result(right=False, confidence=0.1), result(kind="names", distractors=200, confidence=None)]
    )
    assert found["right_first"] == {
        "all, 0 other statements": 0.6667,
        "all, 200 other statements": 1.0,
        "changed, 0 other statements": 0.6667,
        "names, 200 other statements": 1.0,
    }
    assert found["denied_of_right_first"] == 0.3333
    assert (len(found["denied"]), len(found["wrong"])) == (1, 1)


def test_only_messages_of_the_situation_have_turns() -> None:
    assert turn_of(memory("I live in Oslo.", message_ids=["m12"])) == 12
    assert turn_of(memory("I live in Oslo.", message_ids=["other-3"])) is None


@pytest.mark.integration
def test_the_right_memory_is_first() -> None:
    found = run(argparse.Namespace(data=SITUATIONS, distractors=0, kind=None))
    assert found["right_first"]["all, 0 other statements"] >= 0.95, found["wrong"]
    assert found["denied_of_right_first"] <= 0.05, found["denied"]
