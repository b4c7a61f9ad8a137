"""``python -m evaluation fit-ranking``: fits the ranking models to queries of several kinds of conversations, with cross-validation.

The kinds are LoCoMo (``--data``), RealMem (``--realmem``) and the invented conversations (:mod:`evaluation.recall.invented_conversations`).
Questions and longer turns have a model each (:func:`retrieval.rankers.fitted_models.model_for`). The fit is in
``retrieval/training/fitting.py``. For the figures, each conversation is left out in turn, and each kind as a whole. The printed models are
fitted to everything.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from evaluation.recall.corpus import UNANSWERABLE, filled_store
from evaluation.recall.fit_examples import LOCOMO, Example, examples_of, invented_examples, realmem_examples
from evaluation.recall.measures import Outcome, outcome_of, ranked_messages, summary
from retrieval.rankers.fitted_models import RankingModel
from retrieval.rankers.learned import linear_scores
from retrieval.relevance.feature_vector import FeatureVector
from retrieval.relevance.features import FEATURES
from retrieval.training.fitting import fitted
from runtime.settings import Settings

QUESTION_EXPONENT: Final = 0.35
"""A question of a kind with n questions weighs n to the power of minus this: large kinds count more than small ones, but not in
proportion."""
TURN_EXPONENT: Final = 0.75
"""The same for longer turns, nearly all of which are RealMem's."""
LEAST_WEIGHTS: Final[Mapping[str, float]] = MappingProxyType({"neighbours_bm25": 0.2, "coverage": 0.6})
"""Least weights for questions: all data are English, and in other languages only shared words show what answers
(``tests/retrieval/test_many_languages.py``). The figures have them."""
_ONLY_FOR_TURNS: Final = frozenset({"opening", "recent", "related"})


class Models(NamedTuple):
    """The models of a fit."""

    questions: RankingModel
    turns: RankingModel
    """:attr:`questions` if there are no turns to fit to."""

    def of(self, example: Example) -> RankingModel:
        """The model that ranks an example."""
        return self.turns if example.is_turn else self.questions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--ridge", type=float, default=10.0, help="strength of the L2 penalty on the weights; default: %(default)s")
    parser.add_argument("--realmem", type=Path, metavar="FOLDER", help="RealMem's files, or one of them; default: without RealMem")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fits, and measures by leaving parts out.

    Returns:
        ``models``: for ``questions`` and ``turns``, weights, slope and intercept, fitted to all; ``left_out``: the figures of models that
            did not see the conversation, for LoCoMo (``overall``, ``categories``) and by kind, those that did not see the ``kind``, and
            in ``ablation`` those on LoCoMo without each feature in turn.
    """
    settings = Settings()
    examples, corpus_hash = asyncio.run(_read(arguments, settings))
    answerable = [each for each in examples if each.category != UNANSWERABLE]
    left_out = _left_out(answerable, arguments.ridge, lambda each: (each.kind, each.conversation))
    without_kind = _left_out(answerable, arguments.ridge, lambda each: each.kind)
    of_locomo = [each for each in answerable if each.kind == LOCOMO]
    models = fit(examples, ridge=arguments.ridge)
    return {
        "data": arguments.data.name,
        "data_sha256": corpus_hash,
        "embedding": settings.embedding.model,
        "models": {
            name: {
                "weights": {feature: round(weight, 4) for feature, weight in model.weights.items()},
                "slope": round(model.slope, 4),
                "intercept": round(model.intercept, 4),
            }
            for name, model in models._asdict().items()
        },
        "left_out": {
            "overall": summary([_outcome(left_out[each.kind, each.conversation], each) for each in of_locomo]),
            "categories": {
                str(category): summary(
                    [_outcome(left_out[each.kind, each.conversation], each) for each in of_locomo if each.category == category]
                )
                for category in sorted({each.category for each in of_locomo})
            },
            "kinds": {
                kind: {
                    "conversation_left_out": summary([_outcome(left_out[each.kind, each.conversation], each) for each in of_kind]),
                    "kind_left_out": summary([_outcome(without_kind[kind], each) for each in of_kind]),
                }
                for kind, of_kind in _by_kind(answerable).items()
            },
            "ablation": ablation(answerable, ridge=arguments.ridge),
        },
    }


def ablation(examples: Sequence[Example], *, ridge: float) -> dict[str, dict[str, object]]:
    """The figures on LoCoMo without each feature in turn, by models that are fitted without it and did not see the conversation.

    Args:
        examples: Of several conversations.
        ridge: See :func:`fit`.
    """
    of_locomo = [each for each in examples if each.kind == LOCOMO and each.category != UNANSWERABLE]
    found = {}
    for name in FEATURES:
        models = _left_out(of_locomo, ridge, lambda each: each.conversation, but=name)
        found[name] = summary([_outcome(models[each.conversation], each) for each in of_locomo])
    return found


def _by_kind(examples: Sequence[Example]) -> dict[str, list[Example]]:
    return {kind: [each for each in examples if each.kind == kind] for kind in sorted({each.kind for each in examples})}


def _left_out(examples: Sequence[Example], ridge: float, group: Callable[[Example], Any], *, but: str = "") -> dict[Any, Models]:
    """For each group, models that were fitted to the others; the only group has models that were fitted to it."""
    groups = list(dict.fromkeys(map(group, examples)))
    others = {held: [each for each in examples if group(each) != held] for held in groups}
    return {held: fit(others[held] or examples, ridge=ridge, but=but) for held in groups}


async def _read(arguments: argparse.Namespace, settings: Settings) -> tuple[list[Example], str]:
    async with filled_store(arguments.data, settings) as corpus:
        examples = await examples_of(corpus, prefetch=settings.recall.prefetch)
    examples += [each async for each in invented_examples(settings)]
    if arguments.realmem is not None:
        examples += [each async for each in realmem_examples(arguments.realmem, settings)]
    return examples, corpus.sha256


def fit(examples: Sequence[Example], *, ridge: float, but: str = "") -> Models:
    """Fits the models to the queries that the conversations answer.

    Args:
        examples: Those without evidence among their candidates, and unanswerable ones, are left out. At least one is a question.
        ridge: See :func:`retrieval.training.fitting.fitted`.
        but: A feature to leave out. Empty: none.
    """
    usable = [each for each in examples if each.category != UNANSWERABLE and each.is_evidence.any()]
    questions = [each for each in usable if not each.is_turn]
    turns = [each for each in usable if each.is_turn]
    of_questions = fitted(questions, ridge=ridge, but=but, without=_ONLY_FOR_TURNS, importance=_importance(questions, QUESTION_EXPONENT))
    least = {name: max(weight, LEAST_WEIGHTS.get(name, weight)) for name, weight in of_questions.weights.items()}
    of_questions = replace(of_questions, weights=least)
    of_turns = fitted(turns, ridge=ridge, but=but, importance=_importance(turns, TURN_EXPONENT)) if turns else of_questions
    return Models(of_questions, of_turns)


def _importance(examples: Sequence[Example], exponent: float) -> FeatureVector:
    """The weight of each example; 1 on average."""
    numbers = Counter(each.kind for each in examples)
    weights = np.array([numbers[each.kind] ** -exponent for each in examples])
    return np.asarray(weights * len(weights) / weights.sum())


def _outcome(models: Models, example: Example) -> Outcome:
    model = models.of(example)
    order = np.argsort(-linear_scores(model.weights, example.features), kind="stable")
    return outcome_of(ranked_messages(example.candidates[index].memory.message_ids for index in order), example.evidence)
