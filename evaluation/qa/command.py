"""``python -m evaluation qa``: questions of LoCoMo or LongMemEval, answered by a model from what Varve remembers, and judged by another.

As the papers do it (VikingMem 5.1; "Memory in the LLM Era" 4.1): a model answers from the memory's context alone, a model judges the
answer against the right one, and F1 and BLEU-1 compare their words. The memories are those of the offline extractor, whole pipeline in
process; the context is what ``POST /v1/context`` packs. What it will cost is printed first. Replies are kept: an interrupted run
continues.
"""

import argparse
import asyncio
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evaluation.cached_llm import KeptReplies, endpoint_settings
from evaluation.intervals import mean_with_interval
from evaluation.qa.calls import Model, tokens_of
from evaluation.qa.measures import bleu_1, part_f1, token_f1
from evaluation.qa.prompts import Label, answer_prompt, judge_prompt, judgement
from evaluation.qa.questions import Asked, Prepared, prepared_questions
from evaluation.recall.expansions import Expander
from evaluation.recall.memories import SCHEMA
from models.errors import ModelError
from models.llm.port import LLMUsage
from models.llm.usage import PriceTable
from runtime.file_digest import file_sha256
from runtime.settings import Settings

_SEVERAL_FACTS: Final = "1"
"""LoCoMo's category, whose answers name several facts."""
_ANSWER_TOKENS: Final = 30
_LABEL_TOKENS: Final = 10
"""Assumed tokens of a reply, for the estimated cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One question, answered and judged."""

    asked: Asked
    context_tokens: int
    answer: str | None
    """None: the model did not answer."""
    label: Label | None
    """None: it was not judged."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--endpoint", help="OpenAI-compatible address of the model that answers; default: VARVE_LLM__BASE_URL")
    parser.add_argument("--model", help="its model; default: VARVE_LLM__MODEL")
    parser.add_argument("--judge", help="address of the model that judges; default: the one that answers")
    parser.add_argument("--judge-model", help="its model; default: the one that answers")
    parser.add_argument(
        "--judge-key", metavar="VARIABLE", help="the environment's variable with the judge's API key; default: the same key"
    )
    parser.add_argument("--tokens", type=int, default=1000, help="most of each context")
    parser.add_argument(
        "--expand", metavar="URL", help="make contexts with `mode=expand`, with the model at this address; not with --estimate"
    )
    parser.add_argument("--expand-model", help="that model; default: the one that answers")
    parser.add_argument("--questions", type=int, metavar="N", help="only N of them: spread over LoCoMo's, the first of LongMemEval's")
    parser.add_argument("--concurrency", type=int, default=8, help="calls at once, of each model")
    parser.add_argument("--max-tokens", type=int, default=400, help="longest reply; a model that thinks aloud needs more")
    parser.add_argument("--replies", type=Path, default=Path("build/qa/replies.jsonl"), help="where replies are kept")
    parser.add_argument("--estimate", action="store_true", help="print what it would cost, and stop")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Asks, judges, and returns the report."""
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    settings = Settings()
    prices = PriceTable.load(settings.llm.price_table)
    kept = KeptReplies(arguments.replies)
    answering = endpoint_settings(settings, url=arguments.endpoint, model=arguments.model, concurrency=arguments.concurrency)
    judging = endpoint_settings(
        answering,
        url=arguments.judge,
        model=arguments.judge_model,
        api_key=os.environ.get(arguments.judge_key) if arguments.judge_key else None,
        concurrency=arguments.concurrency,
    )
    expand = None
    if arguments.expand is not None and not arguments.estimate:
        model = arguments.expand_model or answering.llm.model
        expand = Expander(settings, url=arguments.expand, model=model, replies=arguments.replies, concurrency=arguments.concurrency)
    prepared = await prepared_questions(arguments.data, settings, tokens=arguments.tokens, limit=arguments.questions, expand=expand)
    estimate = estimated(prepared, prices, models=(answering.llm.model, judging.llm.model))
    print(estimate["said"], file=sys.stderr)
    report = {
        "data": arguments.data.name,
        "data_sha256": file_sha256(arguments.data),
        "pipeline": "in process, without Kafka; Qdrant Edge through its socket",
        "extractor": "offline",
        "schema": SCHEMA,
        "context_tokens": arguments.tokens,
        "expanded": arguments.expand is not None,
        "model": answering.llm.model,
        "judge": judging.llm.model,
        "estimate": {name: value for name, value in estimate.items() if name != "said"},
    }
    if arguments.estimate:
        return report
    answers = Model(answering, kept=kept, purpose="qa", max_tokens=arguments.max_tokens)
    judge = Model(judging, kept=kept, purpose="judge", max_tokens=arguments.max_tokens)
    try:
        judged = await Examination(answers, judge).of(prepared)
    finally:
        await answers.close()
        await judge.close()
    return report | summary(judged) | {"calls": answers.asked + judge.asked}


def estimated(prepared: Sequence[Prepared], prices: PriceTable, *, models: tuple[str, str]) -> dict[str, Any]:
    """Calls, tokens and cost of a run without kept replies; ``said`` is that as a line.

    Args:
        prepared: The questions.
        prices: Empty: the cost is not known.
        models: That answers, and that judges.
    """
    asking = sum(tokens_of(answer_prompt(each.asked.text, each.asked.asked_at, each.context.text)) for each in prepared)
    judging = sum(tokens_of(judge_prompt(each.asked, each.asked.answer)) + _ANSWER_TOKENS for each in prepared)
    usages = (
        LLMUsage(prompt_tokens=asking, completion_tokens=_ANSWER_TOKENS * len(prepared)),
        LLMUsage(prompt_tokens=judging, completion_tokens=_LABEL_TOKENS * len(prepared)),
    )
    cost = round(sum(prices.cost(model, usage) for model, usage in zip(models, usages, strict=True)), 4) if prices else None
    said = "cost unknown: no prices (VARVE_LLM__PRICE_TABLE)" if cost is None else f"cost about {cost}"
    prompt, completion = (sum(getattr(each, name) for each in usages) for name in ("prompt_tokens", "completion_tokens"))
    return {
        "calls": 2 * len(prepared),
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "cost": cost,
        "said": f"{len(prepared)} questions, {2 * len(prepared)} calls, about {prompt:,} + {completion:,} tokens; {said}",
    }


class Examination:
    """Has questions answered and judged.

    Args:
        answers: Answers.
        judge: Judges.
    """

    def __init__(self, answers: Model, judge: Model) -> None:
        self._answers = answers
        self._judge = judge
        self._done = 0

    async def of(self, prepared: Sequence[Prepared]) -> list[Judged]:
        """Each question, in their order. A call that fails costs its question alone."""
        return list(await asyncio.gather(*(self._one(each, len(prepared)) for each in prepared)))

    async def _one(self, prepared: Prepared, number: int) -> Judged:
        answer, label = None, None
        try:
            answer = await self._answers.ask(answer_prompt(prepared.asked.text, prepared.asked.asked_at, prepared.context.text))
            label = await judgement(self._judge, prepared.asked, answer)
        except ModelError as error:
            print(f"{prepared.asked.id}: {error}", file=sys.stderr)
        self._done += 1
        print(f"{self._done} of {number}", end="\r", file=sys.stderr, flush=True)
        return Judged(asked=prepared.asked, context_tokens=prepared.context.tokens, answer=answer, label=label)


def summary(judged: Sequence[Judged]) -> dict[str, Any]:
    """The figures, in all and by kind. ``overall`` is of the questions that have an answer, as the papers' tables are.

    A missing answer counts as wrong, and is also counted separately; an answer that was not judged counts in no accuracy.
    """
    kinds = sorted({each.asked.kind for each in judged})
    lost: Counter[str] = Counter()
    for question in judged:
        lost["unanswered"] += question.answer is None
        lost["unjudged"] += question.answer is not None and question.label is None
    return {
        "overall": _figures([each for each in judged if each.asked.is_answerable]),
        "unanswerable": _figures([each for each in judged if not each.asked.is_answerable]),
        "kinds": {kind: _figures([each for each in judged if each.asked.kind == kind]) for kind in kinds},
        **lost,
        "questions": [
            {
                "id": each.asked.id,
                "kind": each.asked.kind,
                "answer": each.answer,
                "label": each.label,
                "context_tokens": each.context_tokens,
            }
            for each in judged
        ],
    }


def _figures(judged: Sequence[Judged]) -> dict[str, Any]:
    if not judged:
        return {"questions": 0}
    figures: dict[str, Any] = {"questions": len(judged)}
    with_verdict = [float(each.label == "correct") for each in judged if each.answer is None or each.label is not None]
    if with_verdict:
        figures["accuracy"], figures["accuracy_interval"] = mean_with_interval(with_verdict)
    answered = [each for each in judged if each.asked.is_answerable]
    if answered:
        figures["f1"], figures["f1_interval"] = mean_with_interval([_f1(each) for each in answered])
        figures["bleu_1"], _ = mean_with_interval([bleu_1(each.answer or "", each.asked.answer) for each in answered])
    figures["context_tokens"], _ = mean_with_interval([each.context_tokens for each in judged])
    return figures


def _f1(judged: Judged) -> float:
    measure = part_f1 if judged.asked.kind == _SEVERAL_FACTS else token_f1
    return measure(judged.answer or "", judged.asked.answer)
