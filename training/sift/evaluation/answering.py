"""Answers from the sessions that each method ranked first, and a judge's labels of them.

The prompts are those of ``python -m evaluation qa``. All answers are asked for before the first judgement. Methods with the same first
sessions share an answer, and every answer is cached by the hash of its prompt.
"""

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from evaluation.cached_llm import KeptReplies
from evaluation.qa.calls import Model, tokens_of
from evaluation.qa.prompts import NOTES, Label, answer_prompt, judge_prompt, judgement
from evaluation.qa.questions import Asked
from runtime.settings import Settings
from training.runs import Run
from training.sift.data.examples import Chosen, Example, UserExamples
from training.sift.evaluation.report import Judged, file_of
from training.sift.models.endpoints import estimated_cost
from training.sift.rewards.scoring import score

QA_ANSWERS: Final = "qa-answers.jsonl"
JUDGEMENTS: Final = "judge-answers.jsonl"
_MAX_TOKENS: Final = 400
"""Longest answer and longest judgement; a model that reasons needs more than the few words of either."""

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Shown:
    """A query and the sessions from which it is answered."""

    asked: Asked
    example: Example
    context: str


class AnswersAndJudge:
    """A model that answers, and a model that judges.

    Args:
        run: The run, for the cached answers.
        answering: The settings of the model that answers.
        judging: The settings of the judge.

    Raises:
        EvaluationError: If the settings name no endpoint.
    """

    def __init__(self, run: Run, *, answering: Settings, judging: Settings) -> None:
        self._answers = Model(answering, kept=KeptReplies(run.folder / QA_ANSWERS), purpose="the working LLM", max_tokens=_MAX_TOKENS)
        self._judge = Model(judging, kept=KeptReplies(run.folder / JUDGEMENTS), purpose="the judge", max_tokens=_MAX_TOKENS)
        self._runner = asyncio.Runner()

    def costs(self, chosen: Chosen, *, methods: int, sessions: int) -> Iterator[str]:
        """Lines with the most that the answers and the judgements can cost.

        Args:
            chosen: The queries.
            methods: Number of methods.
            sessions: Sessions in a prompt.
        """
        asked = [(user, example) for user, example in chosen if right_answer(example)]
        largest = [
            tokens_of(answer_prompt(example.query, example.asked_at, "")) + sum(sorted(_lengths(user, example), reverse=True)[:sessions])
            for user, example in asked
        ]
        judging = [tokens_of(judge_prompt(_asked(*each), "")) + _MAX_TOKENS for each in asked]
        for name, model, tokens in (("Answers", self._answers, largest), ("Judgements", self._judge, judging)):
            yield f"{name}. " + estimated_cost(
                Settings(),
                model=model.name,
                calls=len(asked) * methods,
                prompt_tokens=sum(tokens) * methods,
                completion_tokens=len(asked) * methods * _MAX_TOKENS,
            )

    def answers(self, shown: Sequence[Shown]) -> list[str]:
        """The answers, in the order of the queries.

        Raises:
            models.errors.ModelError: If the endpoint does not answer. Answers so far are cached.
        """
        prompts = [answer_prompt(each.asked.text, each.asked.asked_at, each.context) for each in shown]
        return self._runner.run(_gathered([self._answers.ask(each) for each in prompts]))

    def labels(self, shown: Sequence[Shown], answers: Sequence[str]) -> list[Label | None]:
        """The judge's labels. None: the judge twice said neither or both.

        Raises:
            models.errors.ModelError: If the endpoint does not answer. Judgements so far are cached.
        """
        return self._runner.run(
            _gathered([judgement(self._judge, each.asked, answer) for each, answer in zip(shown, answers, strict=True)])
        )

    def close(self) -> None:
        """Closes the connections."""
        self._runner.run(self._answers.close())
        self._runner.run(self._judge.close())
        self._runner.close()


def answer_and_judge(run: Run, methods: Sequence[str], chosen: Chosen, models: AnswersAndJudge, *, sessions: int) -> Iterator[str]:
    """Adds answers and labels to the results of methods. Yields a line per method.

    Args:
        run: The run with the results.
        methods: The methods.
        chosen: The queries, in the order of the results.
        models: The models.
        sessions: Number of first sessions to answer from.
    """
    results = {name: list(run.read(file_of(name), Judged)) for name in methods}
    shown = {
        name: [shown_of(*each, judged.ranking[:sessions]) for each, judged in zip(chosen, results[name], strict=True)] for name in methods
    }
    wanted = [(name, place, each) for name in methods for place, each in enumerate(shown[name]) if each is not None]
    prompts = [each for _, _, each in wanted]
    answers = models.answers(prompts)
    labels = models.labels(prompts, answers)
    for (name, place, each), answer, label in zip(wanted, answers, labels, strict=True):
        right = each.example.answer
        changed = {
            "answer": answer,
            "answer_score": score(answer, right) if right else None,
            "correct": None if label is None else label == "correct",
        }
        results[name][place] = results[name][place].model_copy(update=changed)
    for name, judged in results.items():
        run.write(file_of(name), judged)
        found = [each.correct for each in judged if each.correct is not None]
        unjudged = sum(each.answer is not None for each in judged) - len(found)
        yield f"{name}: {sum(found)} of {len(found)} answers correct, {unjudged} not judged"


def shown_of(user: UserExamples, example: Example, places: Sequence[int]) -> Shown | None:
    """A query with its sessions, oldest first. None: the right answer is unknown.

    Args:
        user: The user.
        example: The query.
        places: Positions of the sessions.
    """
    if not right_answer(example):
        return None
    lines = {each.name: each.lines for each in user.sessions}
    texts = ["\n".join(("<session>", *lines[example.sessions[place]], "</session>")) for place in sorted(places)]
    return Shown(_asked(user, example), example, "\n".join(texts))


def right_answer(example: Example) -> str:
    """The right answer, or what it makes use of. Empty: unknown."""
    return example.answer or "\n".join(example.notes)


def _asked(user: UserExamples, example: Example) -> Asked:
    return Asked(
        id=example.id,
        user=user.user,
        text=example.query,
        answer=right_answer(example),
        kind=example.kind if example.answer else NOTES,
        asked_at=example.asked_at,
        is_answerable=True,
    )


def _lengths(user: UserExamples, example: Example) -> list[int]:
    tokens = {each.name: each.tokens for each in user.sessions}
    return [tokens[name] for name in example.sessions]


async def _gathered(calls: Sequence[Awaitable[R]]) -> list[R]:
    return list(await asyncio.gather(*calls))
