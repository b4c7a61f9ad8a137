"""AGENT: a block of text that a model edits with memory tools (the core memory of MemGPT, arXiv 2310.08560, section 2; MemOS).

A state is that of LLM_MERGE (:mod:`operators.merged_text`): the newest outcome, the statements that were seen last, the block before those,
and the changes after it. So retraction, erasure and rebuild work alike. What differs is how a model writes, and that no rule writes:
without a model the block stays as it is.

If a recent statement is retracted, the loop runs again over the block before the recent statements, and the block is shown without them
until then. If an older one is retracted, the model removes what depends on it, and nothing is shown until then.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, cast

from pydantic import JsonValue

from memory.schema.operator_specs import OperatorSpec, built_in
from operators.agent.loop import Limits, Loop, Task, answered, found, step_prompt
from operators.entity_state import Sources
from operators.errors import UnusableAnswerError
from operators.llm_operator import Outcome, Prompt, Question
from operators.merge_by_rule import Statement
from operators.merged_text import RULE, MergedText, Net, base_of, net_of
from operators.operator import State, Value


class AgentText(MergedText):
    """See the module's docstring. The stage that asks runs the loop: :meth:`begin`, :meth:`step`, :meth:`conclude`."""

    spec: ClassVar[OperatorSpec] = built_in("AGENT")

    def value(self, state: State) -> Value:
        """The block, without anything that depends on a retracted statement."""
        base, net = base_of(state), net_of(state)
        if net.count <= 0 or net.withdrawn:
            return None
        return (base["settled"] if net.lost else base["text"]) or None

    def prompt(self, question: Question, *, subject: str) -> Prompt:
        """See :meth:`LLMOperator.prompt`: the first step's."""
        return self.step(question, self.begin(question), subject=subject)

    def outcome(self, question: Question, answer: str, *, model: str) -> Outcome:
        """See :meth:`LLMOperator.outcome`: of a loop with one step. Its searches find nothing."""
        loop = self.answered(question, self.begin(question), answer, model=model)
        while loop.lookup is not None:
            loop = self.found(question, loop, [])
        return self.conclude(question, loop)

    def outcome_by_rule(self, question: Question) -> Outcome:
        """See :meth:`LLMOperator.outcome_by_rule`: the block stays as it is. It is emptied if it may depend on a withdrawn statement."""
        content = cast(dict[str, Any], question.content)
        return self._outcome(question, "" if content["withdrawn"] else content["text"], by=RULE, superseded=())

    def begin(self, question: Question) -> Loop:
        """The state before the first step."""
        return Loop(block=cast(str, question.content["text"]))

    def step(self, question: Question, loop: Loop, *, subject: str) -> Prompt:
        """The prompt of the next step.

        Args:
            question: The question.
            loop: The state so far.
            subject: The entity and the property, for the model.
        """
        return step_prompt(self._task(question, subject), loop, self._limits)

    def answered(self, question: Question, loop: Loop, answer: str, *, model: str) -> Loop:
        """The state after an answer; it may have a lookup to resolve.

        Args:
            question: The question.
            loop: The state in which :meth:`step` was asked.
            answer: The model's text.
            model: The model's name.
        """
        return answered(self._task(question), loop, answer, self._limits, model=model)

    def found(self, question: Question, loop: Loop, memories: Sequence[dict[str, Any]]) -> Loop:
        """The state after the loop's lookup.

        Args:
            question: The question.
            loop: The state with the lookup.
            memories: The result, nearest first.
        """
        return found(self._task(question), loop, memories, self._limits)

    def conclude(self, question: Question, loop: Loop) -> Outcome:
        """The outcome of a loop, with all its calls.

        Raises:
            UnusableAnswerError: If no call could be executed.
        """
        if not loop.executed:
            errors = "; ".join(str(each["error"]) for each in loop.calls if "error" in each)
            raise UnusableAnswerError(f"no tool call could be executed: {errors}")
        outcome = self._outcome(question, loop.block, by=loop.by, superseded=())
        made: dict[str, JsonValue] = {"calls": [*loop.calls], "steps": loop.steps, "tokens": loop.tokens, "ended": loop.ended}
        return Outcome({**outcome.content, **made}, outcome.part)

    @property
    def _limits(self) -> Limits:
        given = self._configuration.parameters
        return Limits(characters=self._limit, steps=cast(int, given["Steps"]), tokens=cast(int, given["Tokens"]))

    def _task(self, question: Question, subject: str = "") -> Task:
        content = cast(dict[str, Any], question.content)
        named = f"{subject}: {self._configuration.description}" if subject and self._configuration.description else subject
        return Task(
            subject=named,
            added=[Statement(*each) for each in content["added"]],
            withdrawn=[Statement(*each) for each in content["withdrawn"]],
        )

    def _question(self, base: dict[str, Any], net: Net, covered: Sources) -> Question:
        """As LLM_MERGE's. If no model has seen the recent statements, it is asked about all of them."""
        question = super()._question(base, net, covered)
        if not base["unasked"] or net.lost:
            return question
        content = cast(dict[str, Any], question.content)
        statements = net.statements
        then = content["then"]
        if len(then["recent"]) < len(statements):
            then = {**then, "settled": None, "recent": []}
        rows: list[JsonValue] = [[each.time, each.text, *([0, each.offset] if each.offset else [])] for each in statements.values()]
        return Question({**content, "text": base["settled"], "added": rows, "then": then})
