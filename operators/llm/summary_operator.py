"""An operator whose outcomes are summaries in memories of its own."""

from typing import ClassVar

from operators.llm.llm_json import read_summary_answer
from operators.llm.llm_operator import RULE, LLMOperator, Outcome, Question
from operators.llm.merge_by_rule import bounded
from operators.operator import State


class SummaryOperator(LLMOperator):
    """An operator that asks a model for summaries. Where no model wrote one, the memory keeps its extract."""

    kept_of_question: ClassVar[tuple[str, ...]]
    """The fields of a question that its outcome has, too: what was summarised, and as of when."""

    def adopted(self, state: State) -> int:
        """None: the summaries are in memories that have their own versions."""
        return 0

    def outcome(self, question: Question, answer: str, *, model: str) -> Outcome:
        """See :meth:`LLMOperator.outcome`."""
        return self._outcome(question, bounded(read_summary_answer(answer), question.content["limit"]), by=model)

    def outcome_by_rule(self, question: Question) -> Outcome:
        """See :meth:`LLMOperator.outcome_by_rule`: the extract stays."""
        return self._outcome(question, "", by=RULE)

    def _outcome(self, question: Question, text: str, *, by: str) -> Outcome:
        content = {name: question.content[name] for name in self.kept_of_question}
        return Outcome({**content, "text": text, "by": by}, part=question.part)
