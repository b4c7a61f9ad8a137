"""Recalls with what their callers said of the results: each ranked memory that was named useful or useless, with its features."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from memory.records import FeedbackRecord, RecallRecord
from retrieval.feature_vector import FeatureVector
from retrieval.features import FEATURES

Unavailable = Literal["another_user", "no_ranking", "other_features", "one_sided", "unreadable"]
"""Why a recall, or what was said of it, teaches nothing.

``another_user``: the feedback is not of the recall's user. ``no_ranking``: how it ranked was not kept. ``other_features``: another version
of Varve kept other features. ``one_sided``: of the candidates that were kept, only useful ones or only useless ones were named.
``unreadable``: a record that this version of Varve cannot read."""

_FEATURES: Final = [*FEATURES]


@dataclass(frozen=True, slots=True)
class JudgedRecall:
    """One recall's candidates of which its caller has said something."""

    question: tuple[str | None, str]
    """The user and the query: recalls that have these in common ask the same."""
    ranks: FeatureVector
    """By candidate, its place in the recall's own ranking, from 1."""
    features: dict[str, FeatureVector]
    is_evidence: FeatureVector
    """1 for a candidate that was of use, 0 for one that was of none."""


@dataclass(slots=True)
class JudgedRecalls:
    """What feedback makes of recalls."""

    recalls: list[JudgedRecall] = field(default_factory=list)
    left_out: Counter[Unavailable] = field(default_factory=Counter)

    def add(self, recall: RecallRecord, feedback: FeedbackRecord) -> None:
        """Takes one more recall.

        Args:
            recall: The recall.
            feedback: The last that was said of it.
        """
        found = judged(recall, feedback)
        if isinstance(found, JudgedRecall):
            self.recalls.append(found)
        else:
            self.left_out[found] += 1

    @property
    def questions(self) -> int:
        """How many different questions they ask."""
        return len({each.question for each in self.recalls})


def last_feedback(records: Iterable[FeedbackRecord]) -> dict[str, FeedbackRecord]:
    """By recall, the last that was said of it.

    Args:
        records: Of one tenant, those of each recall in their order.
    """
    return {each.recall_id: each for each in records}


def judged(recall: RecallRecord, feedback: FeedbackRecord) -> JudgedRecall | Unavailable:
    """The candidates that the feedback names, or why none of them teaches anything.

    A ranking can only learn from a recall of which both something useful and something useless is known. Of candidates that nobody named
    nothing is known: most were never shown.

    Args:
        recall: The recall.
        feedback: What was said of it.
    """
    if feedback.user != recall.user:
        return "another_user"
    ranking = recall.ranking
    if ranking is None:
        return "no_ranking"
    if ranking.features != _FEATURES or any(len(each.features) != len(_FEATURES) for each in ranking.candidates):
        return "other_features"
    useful, useless = {*feedback.useful}, {*feedback.useless}
    named = [each for each in ranking.candidates if each.memory_id in useful or each.memory_id in useless]
    is_evidence = np.array([float(each.memory_id in useful) for each in named])
    if not 0 < is_evidence.sum() < len(named):
        return "one_sided"
    table = np.array([each.features for each in named])
    return JudgedRecall(
        question=(recall.user, ranking.query),
        ranks=np.array([float(each.rank) for each in named]),
        features={name: table[:, column] for column, name in enumerate(_FEATURES)},
        is_evidence=is_evidence,
    )
