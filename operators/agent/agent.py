"""AGENT: a block of text that a model edits with memory tools (the core memory of MemGPT, arXiv 2310.08560, section 2; MemOS).

A state is that of LLM_MERGE (:mod:`operators.llm.merged_text`): the newest outcome, the statements that were seen last, the block before
those, and the changes after it. So retraction, erasure and rebuild work alike. What differs is how a model writes, and that no rule writes:
without a model the block stays as it is.

Agents outside Varve edit the block with the same tools (:mod:`operators.agent.edits`). An edit is an outcome that needs no question: it is
based on the block as the log has it at the edit's place, and covers the log up to there. The answer to a question that was open then is
dropped, and the model sees the edited block. Edits do not depend on statements, and retractions of statements keep them.

If a recent statement is retracted, the loop runs again over the block before the recent statements, and the block is shown without them
until then. If an older one is retracted, the model removes what depends on it, and nothing is shown until then.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import JsonValue

from memory.records import WrittenText
from memory.schema.operator_specs import OperatorSpec, built_in
from operators.agent.edits import UNDO, Edited, as_settled, edit_of, replayed, shown, with_edit, without_edit
from operators.agent.loop import Limits, Loop, Task, answered, found, step_prompt
from operators.applied_positions import Sources, covers, joined
from operators.errors import UnusableAnswerError
from operators.llm.llm_operator import RULE, Moment, Outcome, Prompt, Question, Settled
from operators.llm.merge_by_rule import Statement
from operators.llm.merged_text import MergedText, NetChange, base_of, net_of, waiting_changes
from operators.operator import Operand, State, Value


class AgentText(MergedText):
    """See the module's docstring. The stage that asks runs the loop: :meth:`begin`, :meth:`step`, :meth:`conclude`."""

    spec: ClassVar[OperatorSpec] = built_in("AGENT")

    def apply(self, state: State | None, operand: Operand) -> State:
        """See :meth:`Operator.apply`; takes a statement or an edit."""
        edit = edit_of(operand.value)
        return super().apply(state, operand) if edit is None else _with_pending(state, operand, edit)

    def retract(self, state: State | None, operand: Operand) -> State:
        """See :meth:`Operator.retract`; takes a statement or an edit back."""
        edit = edit_of(operand.value)
        return super().retract(state, operand) if edit is None else _with_pending(state, operand, {"tool": UNDO, "edit": operand.source_id})

    def value(self, state: State) -> Value:
        """The block, without anything that depends on a retracted statement."""
        base, net = base_of(state), net_of(state)
        if net.count <= 0 or net.withdrawn:
            return Edited.of(base).alone(self._limit) or None
        return (self._settled_text(base) if net.lost else base["text"]) or None

    def written(self, state: State) -> WrittenText | None:
        """See :meth:`LLMOperator.written`; with the edits."""
        written, base = super().written(state), base_of(state)
        edits = base.get("edits", ())
        if written is None:
            return None
        by = next((each.by for each in shown(edits) if each.status == "applied"), written.by) if base["by"] in ("", RULE) else written.by
        return written.model_copy(update={"by": by, "version": base["number"], "edits": shown(edits) or None})

    def _may_stand(self, statements: dict[str, Statement]) -> bool:
        """Never: a block has what a model writes of statements."""
        return False

    def plan_questions(self, state: State, moment: Moment) -> Settled:
        """See :meth:`LLMOperator.plan_questions`. Applies the edits first."""
        if not state.get("edits"):
            return super().plan_questions(state, moment)
        outcome = self._edited(state, moment)
        after = self.apply_outcome(state, outcome)
        settled = super().plan_questions(after, moment)
        # A later outcome of the same batch covers this one.
        return settled if settled.outcomes else replace(settled, outcomes=(outcome,))

    def forget(self, state: State, moment: Moment) -> Settled:
        """See :meth:`LLMOperator.forget`. The edits stay: they are not based on messages."""
        if not state.get("edits"):
            return super().forget(state, moment)
        outcome = self._edited(state, moment)
        settled = super().forget(self.apply_outcome(state, outcome), moment)
        return settled if settled.outcomes else replace(settled, outcomes=(outcome,))

    def apply_outcome(self, state: State | None, outcome: Outcome) -> State:
        """See :meth:`LLMOperator.apply_outcome`."""
        after = super().apply_outcome(state, outcome)
        if state is None or after is state or not state.get("edits"):
            return after
        sources = base_of(after)["sources"]
        pending = [each for each in state["edits"] if not covers(sources, each[0], each[1])]
        return {**after, "edits": pending} if pending else after

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
        content = question.content
        if not content["withdrawn"]:
            return self._outcome(question, content["text"], by=RULE, superseded=())
        alone = Edited.of({"settled": "", "text": "", **content["then"]}).alone(self._limit)
        return self._outcome(question, alone, by=RULE, superseded=())

    def begin(self, question: Question) -> Loop:
        """The state before the first step."""
        return Loop(block=question.content["text"])

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
        given = self._configuration
        return Limits(characters=self._limit, steps=given.whole("Steps"), tokens=given.whole("Tokens"))

    def _task(self, question: Question, subject: str = "") -> Task:
        content = question.content
        return Task(
            subject=self._described(subject) if subject else "",
            added=[Statement(*each) for each in content["added"]],
            withdrawn=[Statement(*each) for each in content["withdrawn"]],
        )

    def _emptied(self, base: dict[str, Any]) -> dict[str, Any]:
        """As LLM_MERGE's, with the edits."""
        empty, block = super()._emptied(base), Edited.of(base)
        if not block.entries:
            return empty
        entries = tuple(as_settled(block.entries, is_settled=False))
        return {**empty, **replace(block, settled=block.older, text=block.alone(self._limit), entries=entries).fields()}

    def _edited(self, state: State, moment: Moment) -> Outcome:
        """The outcome of the edits that the state has not applied yet, in the order of the log. The statements keep waiting."""
        base = base_of(state)
        block, number = Edited.of(base), base["number"]
        for _, _, edit_id, edit in state["edits"]:
            if edit["tool"] == UNDO:
                block = without_edit(block, edit_id, edit, limit=self._limit)
            else:
                block = with_edit(block, edit_id, edit, version=number, limit=self._limit)
            number += 1
        covered = joined(base["sources"], moment.sources)
        return Outcome({**base, **block.fields(), "number": number, "sources": covered, "waiting": waiting_changes(state)})

    def _settled_text(self, base: dict[str, Any]) -> str:
        """The settled text, with the edits after it."""
        return replayed(base["settled"], base.get("edits", ()), limit=self._limit)

    def _question(self, base: dict[str, Any], net: NetChange, covered: Sources) -> Question:
        """As LLM_MERGE's, with the edits. If no model has seen the recent statements, it is asked about all of them."""
        question = super()._question(base, net, covered)
        content, edits = question.content, base.get("edits", ())
        then, statements = content["then"], net.statements
        if net.lost or base["unasked"]:
            content = {**content, "text": self._settled_text(base)}
        if base["unasked"] and not net.lost:
            if len(then["recent"]) < len(statements):
                then = {**then, "settled": None, "recent": []}
            rows: list[JsonValue] = [[each.time, each.text, *([0, each.offset] if each.offset else [])] for each in statements.values()]
            content = {**content, "added": rows}
        if edits:
            is_moved = then["settled"] is None or then["settled"] != base["settled"]
            then = {**then, "older": base.get("older", ""), "edits": as_settled(edits) if is_moved else [*edits]}
        return Question({**content, "then": then})


def _with_pending(state: State | None, operand: Operand, edit: dict[str, Any]) -> State:
    before: State = state or {"changes": []}
    if covers(base_of(before)["sources"], operand.source, operand.position):
        # In a rebuild, the newest outcome has the edit already.
        return before
    pending = [*before.get("edits", ()), [operand.source, operand.position, operand.source_id, edit]]
    return {**before, "edits": sorted(pending, key=lambda each: (each[0], each[1]))}
