"""Recalls with feedback: the ranked memories that were called useful or useless, with their features."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from memory.records import FeedbackRecord, RecallRecord
from retrieval.relevance.feature_vector import FeatureVector
from retrieval.relevance.features import FEATURES

Unavailable = Literal["another_user", "no_ranking", "other_features", "one_sided", "unreadable"]
"""Reason why a recall cannot be used for training.

``another_user``: the feedback is from another user. ``no_ranking``: the ranking was not recorded. ``other_features``: it was recorded by
another version of Varve, with other features. ``one_sided``: only useful or only useless candidates were named. ``unreadable``: this
version of Varve cannot read the record."""

_FEATURES: Final = [*FEATURES]


@dataclass(frozen=True, slots=True)
class JudgedRecall:
    """The candidates of one recall that have feedback."""

    question: tuple[str | None, str]
    """The user and the query: recalls with the same ones ask the same question."""
    ranks: FeatureVector
    """The rank of each candidate in the recall, from 1."""
    features: dict[str, FeatureVector]
    is_evidence: FeatureVector
    """1 for a useful candidate, 0 for a useless one."""


@dataclass(slots=True)
class JudgedRecalls:
    """Recalls with feedback, and the number of unusable ones."""

    recalls: list[JudgedRecall] = field(default_factory=list)
    left_out: Counter[Unavailable] = field(default_factory=Counter)

    def add(self, recall: RecallRecord, feedback: FeedbackRecord) -> None:
        """Adds a recall.

        Args:
            recall: The recall.
            feedback: Its newest feedback.
        """
        found = judged(recall, feedback)
        if isinstance(found, JudgedRecall):
            self.recalls.append(found)
        else:
            self.left_out[found] += 1

    @property
    def questions(self) -> int:
        """Number of different questions."""
        return len({each.question for each in self.recalls})


def last_feedback(records: Iterable[FeedbackRecord]) -> dict[str, FeedbackRecord]:
    """The newest feedback of each recall, by the recall's id.

    Args:
        records: Records of one tenant, in their order within each recall.
    """
    return {each.recall_id: each for each in records}


def judged(recall: RecallRecord, feedback: FeedbackRecord) -> JudgedRecall | Unavailable:
    """The candidates that the feedback names, or the reason why they cannot be used.

    Training needs recalls with both a useful and a useless candidate. Candidates without feedback are not used: most were never shown.

    Args:
        recall: The recall.
        feedback: Its feedback.
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
