"""``python -m evaluation fit-ranking``: fits the ranking model to LoCoMo's questions, with cross-validation.

The fit is in ``retrieval/training/fitting.py``. For the figures, each conversation is left out in turn. The printed model is fitted to all
conversations.
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.recall.asking import scored_candidates
from evaluation.recall.corpus import UNANSWERABLE, Corpus, filled_store
from evaluation.recall.measures import Outcome, outcome_of, ranked_messages, summary
from retrieval.feature_vector import FeatureVector
from retrieval.features import FEATURES
from retrieval.rankers.learned import RankingModel, linear_scores
from retrieval.training.fitting import fitted
from runtime.settings import Settings
from stores.port import ScoredMemory


@dataclass(frozen=True, slots=True)
class Example:
    """One question with its candidates."""

    conversation: int
    category: int
    candidates: Sequence[ScoredMemory]
    features: Mapping[str, FeatureVector]
    is_evidence: FeatureVector
    """1 for an event with one of the source messages that answer, else 0."""
    evidence: tuple[str, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--ridge", type=float, default=10.0, help="strength of the L2 penalty on the weights")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fits, and measures by leaving one conversation out.

    Returns:
        ``model``: weights, slope and intercept, fitted on all; ``left_out``: the figures of models that did not see the conversation,
            and in its ``ablation`` those without each feature in turn.
    """
    settings = Settings()
    examples, corpus_hash = asyncio.run(_read(arguments, settings))
    left_out = _left_out(examples, ridge=arguments.ridge)
    model = fit(examples, ridge=arguments.ridge)
    answerable = [each for each in examples if each.category != UNANSWERABLE]
    return {
        "data": arguments.data.name,
        "data_sha256": corpus_hash,
        "embedding": settings.embedding.model,
        "model": {
            "weights": {name: round(weight, 4) for name, weight in model.weights.items()},
            "slope": round(model.slope, 4),
            "intercept": round(model.intercept, 4),
        },
        "left_out": {
            "overall": summary([_outcome(left_out[each.conversation], each) for each in answerable]),
            "categories": {
                str(category): summary([_outcome(left_out[each.conversation], each) for each in examples if each.category == category])
                for category in sorted({each.category for each in examples})
            },
            "ablation": ablation(examples, ridge=arguments.ridge),
        },
    }


def ablation(examples: Sequence[Example], *, ridge: float) -> dict[str, dict[str, object]]:
    """The figures without each feature in turn, by models that are fitted without it and did not see the conversation.

    Args:
        examples: Of several conversations.
        ridge: See :func:`fit`.
    """
    answerable = [each for each in examples if each.category != UNANSWERABLE]
    found = {}
    for name in FEATURES:
        models = _left_out(examples, ridge=ridge, but=name)
        found[name] = summary([_outcome(models[each.conversation], each) for each in answerable])
    return found


def _left_out(examples: Sequence[Example], *, ridge: float, but: str = "") -> dict[int, RankingModel]:
    """For each conversation, a model that was fitted to the others."""
    conversations = sorted({each.conversation for each in examples})
    return {held: fit([each for each in examples if each.conversation != held], ridge=ridge, but=but) for held in conversations}


async def _read(arguments: argparse.Namespace, settings: Settings) -> tuple[list[Example], str]:
    async with filled_store(arguments.data, settings) as corpus:
        return await examples_of(corpus, prefetch=settings.recall.prefetch), corpus.sha256


async def examples_of(corpus: Corpus, *, prefetch: int) -> list[Example]:
    """All questions, each with its candidates and their features.

    Args:
        corpus: The memories, in a store.
        prefetch: Candidates.
    """
    examples = []
    for index, conversation in enumerate(corpus.conversations):
        for question in conversation.questions:
            scored = await scored_candidates(corpus, conversation.user, question.text, prefetch=prefetch, asked_at=conversation.asked_at)
            right = set(question.evidence)
            is_evidence = np.array(
                [float(each.memory.kind == "event" and not right.isdisjoint(each.memory.message_ids)) for each in scored.found]
            )
            examples.append(Example(index, question.category, scored.found, scored.features, is_evidence, question.evidence))
    return examples


def fit(examples: Sequence[Example], *, ridge: float, but: str = "") -> RankingModel:
    """Fits a model to the questions that the conversations answer.

    Args:
        examples: Those without evidence among their candidates, and unanswerable ones, are left out.
        ridge: See :func:`retrieval.training.fitting.fitted`.
        but: A feature to leave out. Empty: none.
    """
    answerable = [each for each in examples if each.category != UNANSWERABLE]
    return fitted(answerable, ridge=ridge, but=but)


def _probabilities(model: RankingModel, example: Example) -> FeatureVector:
    return model.probabilities(linear_scores(model.weights, example.features))


def _outcome(model: RankingModel, example: Example) -> Outcome:
    order = np.argsort(-_probabilities(model, example), kind="stable")
    return outcome_of(ranked_messages(example.candidates[index].memory.message_ids for index in order), example.evidence)
