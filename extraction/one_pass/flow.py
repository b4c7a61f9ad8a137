"""The course of one extraction, free of I/O: it yields requests and is sent answers, so that one driver serves live, replay and tests.

Ask; where the answer was cut off at the token limit, keep its whole items and ask once for the rest; where it cannot be used, show it back
with what is wrong and ask once for a repaired one.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from extraction.drafts import Draft
from extraction.errors import UnusableAnswerError
from extraction.one_pass.answer import form
from extraction.one_pass.answer.items import RawAnswer, gather
from extraction.one_pass.answer.loops import ends_in_loop
from extraction.one_pass.answer.reading import Rules, read_answer
from extraction.one_pass.prompt.build import build_prompt
from extraction.one_pass.prompt.limits import PromptLimits, cut
from extraction.port import ExtractionContext
from models.llm.port import ChatMessage, LLMAnswer, LLMRequest

R = TypeVar("R")
Flow = Generator[LLMRequest, LLMAnswer, R]

STAGE: Final = "extraction"

_LOOP_LASTS: Final = 400
"""Characters that a loop has to go on for before its answer is given up."""
_LOOP_STEP: Final = 40
"""No longer than the shortest loop: any other word between would show."""

_CONTINUE: Final = (
    "Your answer was cut off at the length limit. Answer with one JSON object of the same form that holds only what is still missing; "
    "repeat nothing."
)
_REPAIR: Final = "That answer cannot be used: {problem}. Answer again with the whole JSON object of the asked form, nothing else. {advice}"
_SHORTER: Final = "Be shorter, and do not repeat yourself."
_INNOCENT: Final = frozenset({"recalled", "repeated", "no_change", "too_many"})
"""Reasons for which leaving an item out is right: no repair would change them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What one extraction is to do."""

    rules: Rules
    context: ExtractionContext
    limits: PromptLimits
    answer_schema: dict[str, Any]
    max_tokens: int
    """Of each answer."""


def extraction_flow(task: Task) -> Flow[Draft]:
    """Yields requests, is sent their answers, and returns what is good in them.

    The first request may wait for off-peak hours. Those behind it may not: what is begun is paid for, and is brought to its end.

    Raises:
        UnusableAnswerError: If neither the answer nor its repair can be used; carries the raw text of both.
    """
    prompt = build_prompt(task.rules, task.context, task.limits)
    asked = prompt.messages()
    answer = yield replace(_request(task, asked), deferrable=True)
    raw = gather(answer.text)
    if raw.cut and raw.has_items and not ends_in_loop(answer.text):
        kept = ChatMessage("assistant", form.encode_answer(raw.lists))
        further = yield _request(task, (*asked, kept, ChatMessage("user", _CONTINUE)))
        raw = raw.joined(gather(further.text))
    draft, problem = _judged(task, raw, answer)
    if problem:
        draft, problem = yield from _repaired(task, asked, answer, problem)
    draft.tally.drop("message", "cut", prompt.cut_messages)
    return draft


def _repaired(task: Task, asked: tuple[ChatMessage, ...], bad: LLMAnswer, problem: str) -> Flow[tuple[Draft, str]]:
    advice = _SHORTER if bad.finish_reason == "length" else ""
    shown = ChatMessage("assistant", cut(bad.text, task.max_tokens) or "(nothing)")
    repaired = yield _request(task, (*asked, shown, ChatMessage("user", _REPAIR.format(problem=problem, advice=advice).rstrip())))
    draft, still = _judged(task, gather(repaired.text), repaired)
    if still:
        raise UnusableAnswerError(
            f"the model's answer for window {task.rules.window.id} cannot be used ({problem}), nor can its repair ({still})",
            raw=f"{bad.text}\n--- repair ---\n{repaired.text}",
        )
    return draft, ""


def _judged(task: Task, raw: RawAnswer, answer: LLMAnswer) -> tuple[Draft, str]:
    """What is good in an answer, and what makes it useless as a whole, if anything does."""
    draft = read_answer(raw, task.rules)
    if not raw.found:
        return draft, "it holds no JSON object with " + ", ".join(f'"{name}"' for name in task.answer_schema["properties"])
    if raw.cut:
        draft.tally.drop("event", "truncated")
    if draft.events or draft.patches:
        return draft, ""
    if raw.cut:
        return draft, "it was cut off before its first whole event"
    faults = [each for each in draft.tally.as_dropped() if each.what in ("event", "patch") and each.reason not in _INNOCENT]
    if faults:
        return draft, "nothing in it fits the types: " + ", ".join(f"{each.count} {each.what} {each.reason}" for each in faults)
    return draft, ""


def _request(task: Task, messages: tuple[ChatMessage, ...]) -> LLMRequest:
    window = task.rules.window
    return LLMRequest(
        messages=messages,
        tenant=window.tenant,
        stage=STAGE,
        subject=window.id,
        json_schema=task.answer_schema,
        max_tokens=task.max_tokens,
        attempt=task.context.attempt,
        hang_up_if=_loops_on,
    )


def _loops_on(text: str) -> bool:
    """Whether a text has been in a loop for a while: a rule drawn in dashes looks like one too, but comes to an end."""
    return all(ends_in_loop(text[: len(text) - back]) for back in range(0, _LOOP_LASTS + 1, _LOOP_STEP))
