"""``python -m evaluation fit-confidence``: fits how sure a recall is of an answer, and measures it on the unseen.

Plain logistic regression of the signals, with an L2 penalty on the weights of standardised ones. What ought to pass are questions that
their own conversation answers; what ought not are category 5 and every answerable question asked of the next conversation's user, both with
the same weight in all. One conversation's questions after the other are left out for the figures and the thresholds; the model that is
printed is fitted to all. LoCoMo's category 5 is made by putting one speaker's name for the other's: on such questions the signals of other
persons tell much, and on other unanswerable ones they may tell less.
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evaluation.recall.corpus import UNANSWERABLE, Corpus, filled_store
from evaluation.recall.fit import candidates_of
from evaluation.recall.rejection import rejection
from retrieval.confidence import SIGNALS, ConfidenceModel, signals_of
from retrieval.features import features_of
from runtime.settings import Settings

_STEPS: Final = 30


@dataclass(frozen=True, slots=True)
class Judgement:
    """One question, asked of one user's memories."""

    conversation: int
    """The question's own."""
    is_answered: bool
    is_strangers: bool
    """Whether it was asked of another user's memories."""
    signals: Mapping[str, float]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--ridge", type=float, default=3.0, help="strength of the L2 penalty on the weights")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fits, and measures by leaving one conversation out.

    Returns:
        ``model``: weights and intercept, fitted on all; ``left_out``: the figures of models that did not see the conversation.
    """
    settings = Settings()
    judgements, sha256 = asyncio.run(_read(arguments, settings))
    model = fit(judgements, ridge=arguments.ridge)
    return {
        "data": arguments.data.name,
        "data_sha256": sha256,
        "embedding": settings.embedding.model,
        "model": {
            "weights": {name: round(weight, 4) for name, weight in model.weights.items()},
            "intercept": round(model.intercept, 4),
        },
        "left_out": left_out(judgements, ridge=arguments.ridge),
    }


async def _read(arguments: argparse.Namespace, settings: Settings) -> tuple[list[Judgement], str]:
    async with filled_store(arguments.data, settings) as corpus:
        return await _judgements(corpus, prefetch=settings.recall.prefetch), corpus.sha256


async def _judgements(corpus: Corpus, *, prefetch: int) -> list[Judgement]:
    conversations = corpus.conversations
    judgements = []
    for index, conversation in enumerate(conversations):
        stranger = conversations[(index + 1) % len(conversations)]
        for question in conversation.questions:
            is_answerable = question.category != UNANSWERABLE
            asked = [conversation, stranger] if is_answerable and stranger is not conversation else [conversation]
            for each in asked:
                candidates = await candidates_of(corpus, each.user, question.text, prefetch=prefetch)
                signals = signals_of(question.text, candidates, features_of(question.text, candidates, each.asked_at))
                is_strangers = each is not conversation
                judgements.append(Judgement(index, is_answerable and not is_strangers, is_strangers, signals))
    return judgements


def left_out(judgements: Sequence[Judgement], *, ridge: float) -> dict[str, Any]:
    """:func:`rejection` by models that did not see the conversation.

    Args:
        judgements: Of several conversations.
        ridge: As :func:`fit` takes it.
    """
    models = {
        held: fit([each for each in judgements if each.conversation != held], ridge=ridge)
        for held in sorted({each.conversation for each in judgements})
    }
    scored = [(each, models[each.conversation].confidence(each.signals)) for each in judgements]
    answered = [score for each, score in scored if each.is_answered]
    absent = {
        "unanswerable": [score for each, score in scored if not each.is_answered and not each.is_strangers],
        "of_another_user": [score for each, score in scored if each.is_strangers],
    }
    return rejection(answered, absent)


def fit(judgements: Sequence[Judgement], *, ridge: float) -> ConfidenceModel:
    """Fits a model by Newton's method.

    Args:
        judgements: Of questions that are answered and of others. Strangers' questions weigh as much in all as the unanswerable ones.
        ridge: Strength of the L2 penalty on the weights of standardised signals.
    """
    names = tuple(SIGNALS)
    table = np.array([[each.signals[name] for name in names] for each in judgements])
    right = np.array([float(each.is_answered) for each in judgements])
    strangers = np.array([each.is_strangers for each in judgements])
    own_absent = float((~strangers & (right == 0)).sum())
    weight = np.where(strangers, own_absent / strangers.sum() if own_absent and strangers.any() else 1.0, 1.0)
    mean, spread = table.mean(axis=0), table.std(axis=0)
    spread[spread == 0] = 1.0
    design = np.column_stack([(table - mean) / spread, np.ones(len(table))])
    penalty = np.diag([ridge] * len(names) + [0.0])
    coefficients = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        predicted = 1 / (1 + np.exp(-np.clip(design @ coefficients, -60, 60)))
        hessian = (design.T * (weight * predicted * (1 - predicted))) @ design + penalty
        coefficients = coefficients - np.linalg.solve(hessian, design.T @ (weight * (predicted - right)) + penalty @ coefficients)
    weights = coefficients[:-1] / spread
    return ConfidenceModel(weights=dict(zip(names, weights.tolist(), strict=True)), intercept=float(coefficients[-1] - weights @ mean))
