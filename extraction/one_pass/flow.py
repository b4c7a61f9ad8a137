"""The calls of one extraction, free of I/O: a generator that yields requests and is sent answers, so that any driver can run it.

It asks for an answer. If that was cut off at the token limit, it keeps the whole items and asks once for the rest. If the answer is
unusable, it sends the answer back with the problem and asks once for a repair.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from extraction.drafts import Draft
from extraction.errors import UnusableAnswerError
from extraction.one_pass.answer import form
from extraction.one_pass.answer.loops import ends_in_loop
from extraction.one_pass.answer.parsing import RawAnswer, parse_answer
from extraction.one_pass.answer.patches import repaired_patches
from extraction.one_pass.answer.quotations import Quotations
from extraction.one_pass.answer.validation import validate_answer
from extraction.one_pass.extraction_input import ExtractionInput
from extraction.one_pass.prompt.build import build_prompt
from extraction.one_pass.prompt.example import example
from extraction.one_pass.prompt.limits import PromptLimits, truncate
from extraction.port import ExtractionContext
from memory.lenient_json import strip_reasoning
from models.llm.port import ChatMessage, LLMAnswer, LLMRequest

R = TypeVar("R")
Flow = Generator[LLMRequest, LLMAnswer, R]

STAGE: Final = "extraction"

_LOOP_CHARACTERS: Final = 400
"""Characters of a loop after which its answer is stopped."""
_LOOP_STEP: Final = 40
"""No longer than the shortest loop: any other word between would show."""

_CONTINUE: Final = (
    "Your answer was cut off at the length limit. Answer with one JSON object of the same form that holds only what is still missing; "
    "repeat nothing."
)
_REPAIR: Final = "That answer cannot be used: {problem}. Answer again with the whole JSON object of the asked form, nothing else. {advice}"
_SHORTER: Final = "Be shorter, and do not repeat yourself."
_BENIGN_REASONS: Final = frozenset({"recalled", "repeated", "no_change", "too_many"})
"""Reasons for which leaving an item out is right: no repair would change them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One extraction to make."""

    source: ExtractionInput
    context: ExtractionContext
    limits: PromptLimits
    answer_schema: dict[str, Any]
    max_tokens: int
    """Limit of each answer."""


def extraction_flow(task: Task) -> Flow[Draft]:
    """Yields requests, is sent their answers, and returns their valid items.

    The first request may wait for off-peak hours. Those after it may not: an extraction that has begun has been paid for.

    Raises:
        UnusableAnswerError: If neither the answer nor its repair can be used; carries the raw text of both.
    """
    prompt = build_prompt(task.source, task.context, task.limits)
    messages = prompt.messages()
    answer = yield replace(_request(task, messages), deferrable=True)
    quotations = Quotations(task.source, further=[example(task.source.schema)])
    raw = parse_answer(answer.text, quotations.hold).ended_by(answer.finish_reason)
    if raw.cut and raw.has_items and not raw.problem and not ends_in_loop(answer.text):
        whole_items = ChatMessage("assistant", form.encode_answer(raw.lists))
        continuation = yield _request(task, (*messages, whole_items, ChatMessage("user", _CONTINUE)))
        raw = raw.continued_by(parse_answer(continuation.text, quotations.hold).ended_by(continuation.finish_reason))
    draft, problem = _validated(task, raw, quotations)
    if problem:
        draft = yield from _repaired(task, messages, answer, problem, quotations)
    draft.tally.drop("message", "cut", prompt.truncated_messages)
    return draft


def _repaired(task: Task, messages: tuple[ChatMessage, ...], unusable: LLMAnswer, problem: str, quotations: Quotations) -> Flow[Draft]:
    advice = _SHORTER if unusable.finish_reason == "length" else ""
    quoted = ChatMessage("assistant", truncate(strip_reasoning(unusable.text).strip(), task.max_tokens) or "(nothing)")
    repaired = yield _request(task, (*messages, quoted, ChatMessage("user", _REPAIR.format(problem=problem, advice=advice).rstrip())))
    draft, remaining_problem = _validated(task, parse_answer(repaired.text, quotations.hold).ended_by(repaired.finish_reason), quotations)
    if remaining_problem:
        raise UnusableAnswerError(
            f"the model's answer for window {task.source.window.id} cannot be used ({problem}), nor can its repair ({remaining_problem})",
            raw=f"{unusable.text}\n--- repair ---\n{repaired.text}",
        )
    return draft


def _validated(task: Task, raw: RawAnswer, quotations: Quotations) -> tuple[Draft, str]:
    """The valid items of an answer, and what makes it unusable as a whole, if anything does."""
    if raw.problem:
        return Draft(), raw.problem
    draft = validate_answer(raw, task.source, quotations)
    draft = replace(draft, patches=repaired_patches(draft.patches, task.source.schema, task.context.entities, draft.tally))
    problem = _problem_of(task, raw, draft)
    for (kind, reason), count in raw.skipped.items():
        draft.tally.drop(kind, reason, count)
    if raw.cut:
        draft.tally.drop("event", "truncated")
    return draft, problem


def _problem_of(task: Task, raw: RawAnswer, draft: Draft) -> str:
    """Why an answer cannot be used. An answer that has content, but no valid event or patch, is never taken for an empty one."""
    lists = ", ".join(f'"{name}"' for name in task.answer_schema["properties"])
    if not raw.found:
        return f"it holds no JSON object with {lists}"
    if draft.events or draft.patches:
        return ""
    if raw.cut:
        return "it was cut off before its first whole event"
    faults = [each for each in draft.tally.as_dropped() if each.what in ("event", "patch") and each.reason not in _BENIGN_REASONS]
    if faults:
        return "nothing in it fits the types: " + ", ".join(f"{each.count} {each.what} {each.reason}" for each in faults)
    if raw.has_unread:
        return f"it has content outside the lists {lists}, whose items are objects"
    if draft.segments and not raw.names.issuperset({form.EVENTS, form.PATCHES}.intersection(task.answer_schema["properties"])):
        return f"it lacks some of the lists {lists}"
    return ""


def _request(task: Task, messages: tuple[ChatMessage, ...]) -> LLMRequest:
    window = task.source.window
    return LLMRequest(
        messages=messages,
        tenant=window.tenant,
        stage=STAGE,
        subject=window.id,
        user=None if window.users else window.user,
        json_schema=task.answer_schema,
        max_tokens=task.max_tokens,
        attempt=task.context.attempt,
        stop_when=_loops_on,
        probes_refusals=True,
    )


def _loops_on(text: str) -> bool:
    """Whether a text has been in a loop for a while: a line of dashes looks like one, too, but ends."""
    return all(ends_in_loop(text[: len(text) - back]) for back in range(0, _LOOP_CHARACTERS + 1, _LOOP_STEP))
