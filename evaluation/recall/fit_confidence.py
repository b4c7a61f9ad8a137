"""``python -m evaluation fit-confidence``: fits the confidence of a recall, and measures it on questions that it was not fitted to.

Logistic regression of the signals and of their products with the memory's size, with an L2 penalty on the weights of standardised
columns. The data are LoCoMo's conversations as a whole, pieces of them, and invented small memories
(``evaluation/recall/small_memories.py``). Questions that the memory answers should pass. Those that should not pass are LoCoMo's
category 5, questions asked of another user or of another piece, and questions to invented memories that lack the answer.

For the figures on LoCoMo each conversation is left out in turn. The figures on invented memories are of the part ``held_out``, which no
model is fitted to. LoCoMo's category 5 replaces one speaker's name by the other's: on such questions the signals about other persons are
more informative than on other unanswerable ones.
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.recall.asking import scored_candidates
from evaluation.recall.corpus import UNANSWERABLE, Corpus, MemoryWriter, empty_store, filled_store
from evaluation.recall.rejection import at_threshold, rejection
from evaluation.recall.small_memories import AskedMemory, QuestionKind, invented_memories, pieces_of_locomo
from models.embedding.port import Embedder
from retrieval.relevance.confidence import SIGNALS, ConfidenceModel, first_of, signals_of, size_of
from retrieval.relevance.thresholds import LEAST_CONFIDENCE
from retrieval.training.logistic import fit_logistic
from runtime.settings import Settings
from stores.port import MemoryStore

Source = Literal["locomo", "pieces", "invented"]
HELD_OUT: Final = -1
"""The group of invented memories that no model is fitted to."""
_INVENTED_FIT: Final = -2
_WEIGHTS: Final[Mapping[Source, float]] = MappingProxyType({"locomo": 1.0, "pieces": 0.35, "invented": 2.0})
"""Weight of a question in the fit. Pieces have five sizes, so most questions of LoCoMo occur in them at least five times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One question, asked of one user's memories."""

    source: Source
    group: int
    """LoCoMo's conversation of the question, :data:`HELD_OUT`, or another negative number."""
    kind: QuestionKind
    is_first_right: bool
    """Whether the best candidate answers it."""
    signals: Mapping[str, float]
    candidates: int

    @property
    def is_answered(self) -> bool:
        """Whether the memory answers it."""
        return self.kind == "answered"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--ridge", type=float, default=3.0, help="strength of the L2 penalty on the weights")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fits, and measures.

    Returns:
        ``model``: weights and intercept, fitted on all but what is held out. ``locomo``: the figures of models that did not see the
        conversation. ``small``: for pieces of conversations and for invented memories, what the shipped threshold and one that rejects a
        twentieth of the right first results do.
    """
    settings = Settings()
    judgements, sha256 = asyncio.run(_read(arguments, settings))
    model = fit([each for each in judgements if each.group != HELD_OUT], ridge=arguments.ridge)
    return {
        "data": arguments.data.name,
        "data_sha256": sha256,
        "embedding": settings.embedding.model,
        "model": {
            "weights": {name: round(weight, 4) for name, weight in model.weights.items()},
            "by_size": {name: round(weight, 4) for name, weight in model.by_size.items()},
            "intercept": round(model.intercept, 4),
            "size_weight": round(model.size_weight, 4),
        },
        **left_out(judgements, ridge=arguments.ridge),
    }


async def _read(arguments: argparse.Namespace, settings: Settings) -> tuple[list[Judgement], str]:
    async with filled_store(arguments.data, settings) as corpus:
        judgements = await _judgements(corpus, prefetch=settings.recall.prefetch)
    async with empty_store(settings) as (store, embedder):
        writer, asking = MemoryWriter(store, embedder), _Asking(store, embedder, settings.recall.prefetch)
        for part, group in (("fit", _INVENTED_FIT), ("held_out", HELD_OUT)):
            for each in await invented_memories(part, writer, embedder):
                judgements.append(await asking.judged(each, "invented", group))
        async for conversation, each in pieces_of_locomo(arguments.data, writer, embedder):
            judgements.append(await asking.judged(each, "pieces", conversation))
    return judgements, corpus.sha256


async def _judgements(corpus: Corpus, *, prefetch: int) -> list[Judgement]:
    asking = _Asking(corpus.store, corpus.embedder, prefetch)
    conversations = corpus.conversations
    judgements = []
    for index, conversation in enumerate(conversations):
        stranger = conversations[(index + 1) % len(conversations)]
        for question in conversation.questions:
            is_answerable = question.category != UNANSWERABLE
            kinds: list[tuple[str, QuestionKind]] = [(conversation.user, "answered" if is_answerable else "absent")]
            if is_answerable and stranger is not conversation:
                kinds.append((stranger.user, "of_another_user"))
            for user, kind in kinds:
                asked_at = conversation.asked_at if user == conversation.user else stranger.asked_at
                asked = AskedMemory(user=user, question=question.text, kind=kind, evidence=frozenset(question.evidence), asked_at=asked_at)
                judgements.append(await asking.judged(asked, "locomo", index))
    return judgements


@dataclass(frozen=True, slots=True)
class _Asking:
    """Asks one store."""

    store: MemoryStore
    embedder: Embedder
    prefetch: int

    async def judged(self, asked: AskedMemory, source: Source, group: int) -> Judgement:
        """Asks, and takes the signals of what is found.

        Args:
            asked: The question.
            source: Its origin.
            group: As the judgement has it.
        """
        scored = await scored_candidates(self, asked.user, asked.question, prefetch=self.prefetch, asked_at=asked.asked_at)
        candidates, features = scored.found, scored.features
        place = first_of(asked.question, candidates, features, scored.model)
        best = candidates[place]
        return Judgement(
            source=source,
            group=group,
            kind=asked.kind,
            is_first_right=asked.kind == "answered" and not asked.evidence.isdisjoint(best.memory.message_ids),
            signals=signals_of(asked.question, candidates, features, best=place),
            candidates=len(candidates),
        )


def left_out(judgements: Sequence[Judgement], *, ridge: float) -> dict[str, Any]:
    """Results of models on questions that they were not fitted to.

    Args:
        judgements: Of several conversations.
        ridge: See :func:`fit`.

    Returns:
        As :func:`run` does, without ``model``.
    """
    groups = sorted({each.group for each in judgements if each.group >= HELD_OUT})
    scored = []
    for held in groups:
        model = fit([each for each in judgements if each.group not in (held, HELD_OUT)], ridge=ridge)
        scored += [(each, model.confidence(each.signals, each.candidates)) for each in judgements if each.group == held]
    whole = [(each, score) for each, score in scored if each.source == "locomo"]
    answered = [score for each, score in whole if each.is_answered]
    return {
        "locomo": rejection(answered, _absent(whole)) | {"shipped": at_threshold(answered, _absent(whole), LEAST_CONFIDENCE)},
        "small": {
            "invented": _small([(each, score) for each, score in scored if each.source == "invented"]),
            "pieces": {
                f"to_{most}": _small(
                    [(each, score) for each, score in scored if each.source == "pieces" and most // 2 < each.candidates <= most]
                )
                for most in (4, 8, 16, 32)
            },
        },
    }


def _small(scored: Sequence[tuple[Judgement, float]]) -> dict[str, Any]:
    first = [score for each, score in scored if each.is_first_right]
    absent = _absent(scored)
    if not first or not absent:
        return {"questions": 0}
    return {
        "questions": len(scored),
        "right_first": len(first),
        "shipped": at_threshold(first, absent, LEAST_CONFIDENCE),
        "twentieth": at_threshold(first, absent, float(np.quantile(first, 0.05))),
    }


def _absent(scored: Sequence[tuple[Judgement, float]]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for each, score in scored:
        if not each.is_answered:
            found.setdefault("unanswerable" if each.kind == "absent" else each.kind, []).append(score)
    return found


def fit(judgements: Sequence[Judgement], *, ridge: float) -> ConfidenceModel:
    """Fits a model.

    Args:
        judgements: Of questions that are answered and of others. Of LoCoMo as a whole, other users' questions weigh as much in all as the
            unanswerable ones.
        ridge: Strength of the L2 penalty on the weights of standardised signals.
    """
    names = tuple(SIGNALS)
    signals = np.array([[each.signals[name] for name in names] for each in judgements])
    sizes = np.array([size_of(each.candidates) for each in judgements])
    table = np.column_stack([signals, signals * sizes[:, np.newaxis], sizes])
    right = np.array([float(each.is_answered) for each in judgements])
    weight = _weights(judgements)
    mean, spread = table.mean(axis=0), table.std(axis=0)
    spread[spread == 0] = 1.0
    found = fit_logistic((table - mean) / spread, right, ridge=ridge, weights=weight)
    weights = found.coefficients / spread
    number = len(names)
    return ConfidenceModel(
        weights=dict(zip(names, weights[:number].tolist(), strict=True)),
        by_size=dict(zip(names, weights[number:-1].tolist(), strict=True)),
        intercept=float(found.intercept - weights @ mean),
        size_weight=float(weights[-1]),
    )


def _weights(judgements: Sequence[Judgement]) -> NDArray[np.float64]:
    strangers = np.array([each.source == "locomo" and each.kind == "of_another_user" for each in judgements])
    absent = sum(each.source == "locomo" and each.kind == "absent" for each in judgements)
    weight = np.array([_WEIGHTS[each.source] for each in judgements])
    return np.where(strangers, absent / strangers.sum() if absent and strangers.any() else weight, weight)
