"""Answers questions with a model from recalled context, simplifies the answers, and scores them as the framework paper does."""

import sys
from dataclasses import dataclass
from typing import Final

from evaluation.cached_llm import KeptLLM, Spent
from evaluation.compare.conversations import Asked
from evaluation.qa.calls import Model, tokens_of
from evaluation.qa.measures import bleu_1, part_f1, token_f1
from evaluation.qa.prompts import answer_prompt, simplification_prompt
from models.errors import ModelError
from models.llm.port import ChatMessage

_ANSWER_TOKENS: Final = 30
_SIMPLE_TOKENS: Final = 10
"""Assumed tokens of an answer and of a simplified one, for the estimated cost."""


@dataclass(frozen=True, slots=True)
class Models:
    """The models of one method's run. They may be the same model."""

    ingesting: KeptLLM
    answering: Model
    simplifying: Model

    async def close(self) -> None:
        """Frees the connections."""
        for each in (self.ingesting, self.answering, self.simplifying):
            await each.close()


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """One question's answer and its scores."""

    answer: str | None
    """Simplified. None: the model did not answer."""
    f1: float
    bleu_1: float
    spent: Spent


async def answered(question: Asked, context: str, models: Models) -> AnswerScore | None:
    """Asks a question; None if the data has no right answer. A call that fails is reported and counts as a wrong answer.

    Args:
        question: The question.
        context: The packed results of its recall.
        models: Answer and simplify.
    """
    if not question.answer:
        return None
    spent, answer = Spent(), None
    try:
        whole, spent = await models.answering.ask_counted(_answer_prompt(question, context))
        answer, further = await models.simplifying.ask_counted(simplification_prompt(question.text, whole))
        spent += further
    except ModelError as error:
        print(f"{question.text}: {error}", file=sys.stderr)
    return AnswerScore(answer, f1_of(question, answer or ""), bleu_1(answer or "", question.answer), spent)


def f1_of(question: Asked, answer: str) -> float:
    """The F1 of an answer, as LoCoMo scores it: several facts are compared part by part."""
    return (part_f1 if question.has_several_answers else token_f1)(answer, question.answer)


def estimated_spent(question: Asked, context: str) -> Spent:
    """The calls and tokens that :func:`answered` will take."""
    if not question.answer:
        return Spent()
    asking = tokens_of(_answer_prompt(question, context))
    simplifying = tokens_of(simplification_prompt(question.text, "")) + _ANSWER_TOKENS
    return Spent(2, asking + simplifying, _ANSWER_TOKENS + _SIMPLE_TOKENS)


def _answer_prompt(question: Asked, context: str) -> tuple[ChatMessage, ...]:
    return answer_prompt(question.text, question.asked_at if question.is_dated else None, context)
