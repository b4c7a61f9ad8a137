"""The fit of how sure a recall is, on made-up signals of which one alone tells."""

import numpy as np

from evaluation.recall.fit_confidence import Judgement, fit, left_out
from retrieval.confidence import SIGNALS

RANDOM = np.random.default_rng(5)


def judgement(number: int) -> Judgement:
    is_answered, is_strangers = number % 3 == 0, number % 3 == 1
    signals = {name: float(RANDOM.standard_normal()) for name in SIGNALS}
    signals["dense"] = 0.5 + 0.1 * (2.0 * is_answered - is_strangers) + 0.02 * signals["dense"]
    return Judgement(number % 5, is_answered, is_strangers, signals)


JUDGEMENTS = [judgement(number) for number in range(600)]


def test_a_fit_finds_what_tells_an_answer() -> None:
    model = fit(JUDGEMENTS, ridge=3.0)
    sure = {each.is_answered: model.confidence(each.signals) for each in JUDGEMENTS[:3]}
    assert model.weights["dense"] > 10 * max(abs(weight) for name, weight in model.weights.items() if name != "dense")
    assert sure[False] < 0.5 < sure[True]


def test_the_figures_are_of_conversations_left_out() -> None:
    figures = left_out(JUDGEMENTS, ridge=3.0)
    assert min(figures["auroc"]["unanswerable"], figures["auroc"]["of_another_user"]) > 0.99
    assert [each["false_rejections"] for each in figures["thresholds"]] == [0.02, 0.05, 0.1, 0.2]
    assert figures["thresholds"][-1]["false_answers"] == {"unanswerable": 0.0, "of_another_user": 0.0}


def test_what_does_not_tell_is_not_found() -> None:
    blind = [Judgement(each.conversation, each.is_answered, each.is_strangers, {**each.signals, "dense": 0.0}) for each in JUDGEMENTS]
    assert 0.4 < left_out(blind, ridge=3.0)["auroc"]["unanswerable"] < 0.6
