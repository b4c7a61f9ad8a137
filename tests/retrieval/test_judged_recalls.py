"""Recalls with feedback, as training data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import FeedbackRecord, RecallRecord
from retrieval.relevance.features import FEATURES
from retrieval.training.judged import JudgedRecall, JudgedRecalls, judged, last_feedback
from tests.retrieval.judged_recalls import feedback_about, recall_record


@given(st.lists(st.sampled_from(["useful", "useless", "unnamed"]), min_size=1, max_size=12))
def test_only_named_memories_are_judged(said: list[str]) -> None:
    recall = recall_record(candidates=len(said))
    named = {what: [f"m{number}" for number, each in enumerate(said) if each == what] for what in ("useful", "useless")}
    found = judged(recall, feedback_about(recall, named["useful"], named["useless"]))
    if not (named["useful"] and named["useless"]):
        assert found == "one_sided"
        return
    assert isinstance(found, JudgedRecall)
    ranks = [number + 1.0 for number, each in enumerate(said) if each != "unnamed"]
    assert found.ranks.tolist() == ranks
    assert found.is_evidence.tolist() == [float(each == "useful") for each in said if each != "unnamed"]
    assert {name: column.tolist() for name, column in found.features.items()} == dict.fromkeys(FEATURES, ranks)
    assert found.question == ("ann", "Who?")


def test_the_last_feedback_counts() -> None:
    recall = recall_record()
    said = [feedback_about(recall, ["m0"], ["m1"]), feedback_about(recall, ["m1"], ["m0"])]
    found = judged(recall, last_feedback(said)[recall.id])
    assert isinstance(found, JudgedRecall)
    assert found.is_evidence.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("recall", "why"),
    [
        (recall_record(user="bob"), "another_user"),
        (recall_record(user=None), "another_user"),
        (recall_record(features=["late", "dense"]), "other_features"),
        (recall_record(features=[*FEATURES][::-1]), "other_features"),
        (recall_record().model_copy(update={"ranking": None}), "no_ranking"),
        (recall_record(candidates=1), "one_sided"),
    ],
)
def test_unusable_recalls_are_counted(recall: RecallRecord, why: str) -> None:
    found = JudgedRecalls()
    found.add(recall, feedback_about(recall, ["m0"], ["m1"]))
    assert (found.recalls, dict(found.left_out)) == ([], {why: 1})


def test_memories_that_were_not_ranked_are_skipped() -> None:
    recall = recall_record(candidates=2)
    found = judged(recall, feedback_about(recall, ["m0", "m99"], ["m1"]))
    assert isinstance(found, JudgedRecall)
    assert len(found.is_evidence) == 2


def test_a_candidate_without_its_features_is_not_trusted() -> None:
    recall = recall_record(candidates=2)
    assert recall.ranking is not None
    cut = recall.ranking.candidates[1].model_copy(update={"features": [1.0]})
    ranking = recall.ranking.model_copy(update={"candidates": [recall.ranking.candidates[0], cut]})
    assert judged(recall.model_copy(update={"ranking": ranking}), feedback_about(recall, ["m0"], ["m1"])) == "other_features"


def test_records_without_a_ranking_can_be_read() -> None:
    before = b'{"schema_version":"1.0","id":"r","tenant":"acme","memory_ids":["m"],"time":"2024-05-06T12:00:00Z"}'
    assert RecallRecord.from_json(before).ranking is None
    assert b"ranking" not in RecallRecord.from_json(before).to_json()
    recall = recall_record()
    assert RecallRecord.from_json(recall.to_json()) == recall
    assert FeedbackRecord.from_json(feedback_about(recall, ["m0"]).to_json()).useful == ["m0"]
