"""Made-up recalls with feedback about them."""

import uuid
from datetime import UTC, datetime

import numpy as np

from memory.records import FeedbackRecord, RankedCandidate, Ranking, RecallRecord
from retrieval.relevance.features import FEATURES
from retrieval.training.judged import JudgedRecall, JudgedRecalls

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
_JUDGED = 10


def recall_record(query: str = "Who?", *, candidates: int = 5, user: str | None = "ann", features: list[str] | None = None) -> RecallRecord:
    """A recall whose candidates are ``m0``, ``m1`` and so on, each with its rank as every feature."""
    names = [*FEATURES] if features is None else features
    ranked = [
        RankedCandidate(memory_id=f"m{number}", rank=number + 1, score=0.5, features=[float(number + 1)] * len(names))
        for number in range(candidates)
    ]
    return RecallRecord(
        id=str(uuid.uuid4()),
        tenant="acme",
        user=user,
        memory_ids=[each.memory_id for each in ranked],
        time=NOON,
        ranking=Ranking(query=query, profile="learned", features=names, candidates=ranked),
    )


def feedback_about(
    recall: RecallRecord, useful: list[str] | None = None, useless: list[str] | None = None, *, user: str | None = "ann"
) -> FeedbackRecord:
    return FeedbackRecord(recall_id=recall.id, tenant="acme", user=user, useful=useful or [], useless=useless or [], time=NOON)


def judged_by(feature: str, *, recalls: int, sign: float = 1.0, seed: int = 3) -> JudgedRecalls:
    """Recalls of different questions in which the memories with the most of one feature are useful.

    Args:
        feature: Which.
        recalls: How many.
        sign: -1: those with the least of it.
        seed: The seed of the other features.
    """
    random = np.random.default_rng(seed)
    made = []
    for number in range(recalls):
        features = {name: random.standard_normal(_JUDGED) for name in FEATURES}
        signal = sign * features[feature] + random.standard_normal(_JUDGED) / 4
        is_evidence = (signal >= np.sort(signal)[-3]).astype(np.float64)
        ranks = random.permutation(_JUDGED).astype(np.float64) + 1
        made.append(JudgedRecall(("ann", f"question {number}"), ranks, features, is_evidence))
    return JudgedRecalls(made)
