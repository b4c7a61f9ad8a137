"""The questions that a threshold rejects and answers, compared with the definition."""

from dataclasses import replace

from evaluation.recall.rejection import at_threshold, profile_rejection, rejection
from retrieval.relevance.thresholds import THRESHOLDS
from retrieval.request import RecallHit, RecallResponse
from tests.stores.factories import memory

ANSWERED = [float(number) for number in range(100)]
ABSENT = {"unanswerable": [0.0, 2.0, 50.0, 99.0], "of_another_user": [0.0, 1.0]}


def answer(confidence: float, *hits: RecallHit) -> RecallResponse:
    return RecallResponse(hits=hits, confidence=confidence)


def hit(score: float, **parts: float) -> RecallHit:
    return RecallHit(memory(f"{score}"), score, {"origin": score, **parts}, (), ())


def test_a_threshold_rejects_and_answers_falsely() -> None:
    found = at_threshold(ANSWERED, ABSENT, 2.0)
    assert found == {"least": 2.0, "false_rejections": 0.02, "false_answers": {"unanswerable": 0.75, "of_another_user": 0.0}}


def test_thresholds_reject_the_stated_share() -> None:
    found = rejection(ANSWERED, ABSENT)
    assert [each["false_rejections"] for each in found["thresholds"]] == [0.02, 0.05, 0.1, 0.2]
    assert [each["false_answers"]["unanswerable"] for each in found["thresholds"]] == [0.75, 0.5, 0.5, 0.5]
    assert (found["questions"], found["auroc"]["of_another_user"]) == (106, 0.99)


def test_a_kind_without_questions_is_left_out() -> None:
    assert rejection(ANSWERED, {"unanswerable": [1.0], "of_another_user": []})["auroc"].keys() == {"unanswerable"}
    assert rejection(ANSWERED, {"of_another_user": []}) == rejection([], ABSENT) == {"questions": 0}


def test_each_profile_has_the_numbers_to_set() -> None:
    # The contribution of the question's time is below the least score of the store; a profile's own rejection is one at any threshold.
    answered = [answer(0.9, hit(0.8, prior_time=0.5), hit(0.6))] * 10
    absent = {"unanswerable": [answer(0.2, hit(0.7)), answer(0.95)]}
    weighted = profile_rejection("weighted", answered, absent)
    assert weighted["min_origin_score"]["thresholds"][0]["least"] == 0.6
    assert weighted["min_origin_score"]["thresholds"][0]["false_answers"] == {"unanswerable": 0.5}
    assert weighted["min_confidence"]["thresholds"][0]["false_answers"] == {"unanswerable": 0.0}
    memx = profile_rejection("memx", answered, absent)
    assert memx["score"]["thresholds"][0] == {"least": 0.8, "false_rejections": 0.0, "false_answers": {"unanswerable": 0.0}}


def test_shipped_thresholds_are_measured_with_both_kinds() -> None:
    sure, unsure = answer(1.0, hit(0.9)), answer(0.0, hit(0.9))
    absent = {"unanswerable": [sure, unsure], "of_another_user": [unsure]}
    found = profile_rejection("learned", [sure, replace(sure, confidence=0.99)], absent)["at_thresholds"]
    assert [each["least"] for each in found] == [each.confidence for each in THRESHOLDS]
    assert found[0]["false_answers"] == {"unanswerable": 0.5, "of_another_user": 0.0}
