"""The fit of a recall's confidence, on made-up signals of which only one is informative."""

from dataclasses import replace

import numpy as np

from evaluation.recall.fit_confidence import HELD_OUT, Judgement, fit, left_out
from evaluation.recall.small_memories import QuestionKind
from retrieval.relevance.confidence import SIGNALS

RANDOM = np.random.default_rng(5)
KINDS: tuple[QuestionKind, ...] = ("answered", "of_another_user", "absent")


def judgement(number: int) -> Judgement:
    kind = KINDS[number % 3]
    signals = {name: float(RANDOM.standard_normal()) for name in SIGNALS}
    signals["dense"] = 0.5 + 0.1 * (2.0 * (kind == "answered") - (kind == "of_another_user")) + 0.02 * signals["dense"]
    return Judgement(
        source="locomo", group=number % 5, kind=kind, is_first_right=kind == "answered", signals=signals, candidates=1 + number % 64
    )


JUDGEMENTS = [judgement(number) for number in range(600)]


def test_a_fit_finds_the_predictive_feature() -> None:
    model = fit(JUDGEMENTS, ridge=3.0)
    sure = {each.is_answered: model.confidence(each.signals, each.candidates) for each in JUDGEMENTS[:3]}
    assert model.weights["dense"] > 10 * max(abs(weight) for name, weight in model.weights.items() if name != "dense")
    assert sure[False] < 0.5 < sure[True]


def test_a_fit_finds_features_predictive_in_large_memories() -> None:
    blurred = [
        replace(each, signals={**each.signals, "dense": float(RANDOM.standard_normal())}) if each.candidates < 16 else each
        for each in JUDGEMENTS
    ]
    model = fit(blurred, ridge=3.0)
    assert model.by_size["dense"] > abs(model.weights["dense"])


def test_the_figures_are_of_conversations_left_out() -> None:
    figures = left_out(JUDGEMENTS, ridge=3.0)["locomo"]
    assert min(figures["auroc"]["unanswerable"], figures["auroc"]["of_another_user"]) > 0.99
    assert [each["false_rejections"] for each in figures["thresholds"]] == [0.02, 0.05, 0.1, 0.2]
    assert figures["thresholds"][-1]["false_answers"] == {"unanswerable": 0.0, "of_another_user": 0.0}


def test_held_out_data_does_not_influence_the_fit() -> None:
    def invented(sign: float) -> list[Judgement]:
        return [
            replace(each, source="invented", group=HELD_OUT, signals={**each.signals, "dense": sign * each.signals["dense"]})
            for each in JUDGEMENTS[:60]
        ]

    right, wrong = (left_out([*JUDGEMENTS, *invented(sign)], ridge=3.0) for sign in (1, -1))
    assert right["locomo"] == wrong["locomo"]
    found = right["small"]["invented"]
    assert (found["questions"], found["right_first"], found["shipped"]["false_rejections"]) == (60, 20, 0.0)
    assert wrong["small"]["invented"]["shipped"]["false_rejections"] == 1.0


def test_an_unpredictive_feature_is_not_selected() -> None:
    blind = [replace(each, signals={**each.signals, "dense": 0.0}) for each in JUDGEMENTS]
    assert 0.4 < left_out(blind, ridge=3.0)["locomo"]["auroc"]["unanswerable"] < 0.6
