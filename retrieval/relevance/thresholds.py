"""Minimum confidences, and what each of them rejects. They are fitted with the model of :mod:`retrieval.relevance.confidence`.

Only numbers: a client command that prints a confidence loads no ranking.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A minimum confidence, and its effect on conversations that the model was not fitted to."""

    confidence: float
    false_rejections: float
    """Share of the answerable questions that it rejects."""
    false_answers: float
    """Share of the questions that it answers although the user's memories do not (LoCoMo's category 5)."""
    false_answers_of_strangers: float
    """Share of the questions about another user's conversation that it answers."""


LEAST_CONFIDENCE: Final = 0.25
"""With a lower confidence, the memories probably do not answer. On invented small memories that the model was not fitted to, it rejects 5
in 100 correct first results. Of the unanswered questions it accepts 13 in 100 that no statement answers, 9 in 100 whose statement is
missing, and none about another user."""

THRESHOLDS: Final = (
    Threshold(
        confidence=0.25,
        false_rejections=0.0303,
        false_answers=0.481,
        false_answers_of_strangers=0.0092,
    ),
    Threshold(
        confidence=0.3854,
        false_rejections=0.05,
        false_answers=0.3924,
        false_answers_of_strangers=0.0092,
    ),
    Threshold(
        confidence=0.502,
        false_rejections=0.1,
        false_answers=0.3333,
        false_answers_of_strangers=0.0092,
    ),
    Threshold(
        confidence=0.6865,
        false_rejections=0.2,
        false_answers=0.1941,
        false_answers_of_strangers=0.0092,
    ),
)
"""Cross-validated as :data:`retrieval.relevance.confidence.CONFIDENCE`."""
