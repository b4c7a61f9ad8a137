"""``python -m evaluation fit-ranking``: fits the ranking model to LoCoMo's questions, and measures it on what it was not fitted on.

How it is fitted: ``retrieval/training/fitting.py``. One conversation after the other is left out for the figures; what is printed as
the model is fitted on all of them.
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from evaluation.locomo import TENANT
from evaluation.recall.corpus import UNANSWERABLE, Corpus, filled_store
from evaluation.recall.measures import Outcome, outcome_of, ranked_messages, summary
from models.embedding.port import Embedder
from retrieval.feature_vector import FeatureVector
from retrieval.features import FEATURES, features_of
from retrieval.query_embedding import embed_question
from retrieval.ranking_model import RankingModel, linear_scores
from retrieval.training.fitting import fitted
from runtime.settings import Settings
from stores.port import NON_ENTITY_KINDS, MemoryFilter, MemoryStore, RecallQuery, ScoredMemory, TenantScope


@dataclass(frozen=True, slots=True)
class Example:
    """One question with its candidates."""

    conversation: int
    category: int
    candidates: Sequence[ScoredMemory]
    features: Mapping[str, FeatureVector]
    is_evidence: FeatureVector
    """1 for an event that rests on one of the messages that answer."""
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
        ridge: As :func:`fit` takes it.
    """
    answerable = [each for each in examples if each.category != UNANSWERABLE]
    found = {}
    for name in FEATURES:
        models = _left_out(examples, ridge=ridge, but=name)
        found[name] = summary([_outcome(models[each.conversation], each) for each in answerable])
    return found


def _left_out(examples: Sequence[Example], *, ridge: float, but: str = "") -> dict[int, RankingModel]:
    """By conversation, a model that was fitted to the others."""
    conversations = sorted({each.conversation for each in examples})
    return {held: fit([each for each in examples if each.conversation != held], ridge=ridge, but=but) for held in conversations}


async def _read(arguments: argparse.Namespace, settings: Settings) -> tuple[list[Example], str]:
    async with filled_store(arguments.data, settings) as corpus:
        return await examples_of(corpus, prefetch=settings.recall.prefetch), corpus.sha256


async def examples_of(corpus: Corpus, *, prefetch: int) -> list[Example]:
    """All questions, each with its candidates and their features.

    Args:
        corpus: In a store.
        prefetch: Candidates.
    """
    examples = []
    for index, conversation in enumerate(corpus.conversations):
        for question in conversation.questions:
            candidates = await candidates_of(corpus, conversation.user, question.text, prefetch=prefetch)
            right = set(question.evidence)
            is_evidence = np.array(
                [float(each.memory.kind == "event" and not right.isdisjoint(each.memory.message_ids)) for each in candidates]
            )
            features = features_of(question.text, candidates, conversation.asked_at)
            examples.append(Example(index, question.category, candidates, features, is_evidence, question.evidence))
    return examples


class AskedStore(Protocol):
    """A store with the embedder of its memories."""

    @property
    def store(self) -> MemoryStore:
        """Of the tenant :data:`evaluation.locomo.TENANT`."""
        ...

    @property
    def embedder(self) -> Embedder:
        """Of the model that the memories were embedded with."""
        ...


async def candidates_of(corpus: AskedStore, user: str, query: str, *, prefetch: int) -> list[ScoredMemory]:
    """What a recall ranks, with the parts of the scores: as the service asks it for a user, whose entities stand beside.

    Args:
        corpus: What is asked.
        user: Whose memories are asked.
        query: The question.
        prefetch: Candidates.
    """
    return await corpus.store.recall(
        RecallQuery(
            filter=MemoryFilter(scope=TenantScope(TENANT, user), kinds=NON_ENTITY_KINDS),
            text=query,
            embedding=await embed_question(corpus.embedder, query),
            limit=prefetch,
            prefetch=prefetch,
            explain=True,
        )
    )


def fit(examples: Sequence[Example], *, ridge: float, but: str = "") -> RankingModel:
    """Fits a model to the questions that the conversations answer.

    Args:
        examples: Those without evidence among their candidates, and unanswerable ones, are left out.
        ridge: As :func:`retrieval.training.fitting.fitted` takes it.
        but: A feature that the model does without; empty: it has all.
    """
    answerable = [each for each in examples if each.category != UNANSWERABLE]
    return fitted(answerable, ridge=ridge, but=but)


def _probabilities(model: RankingModel, example: Example) -> FeatureVector:
    return model.probabilities(linear_scores(model.weights, example.features))


def _outcome(model: RankingModel, example: Example) -> Outcome:
    order = np.argsort(-_probabilities(model, example), kind="stable")
    return outcome_of(ranked_messages(example.candidates[index].memory.message_ids for index in order), example.evidence)
