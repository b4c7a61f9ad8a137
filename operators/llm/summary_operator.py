"""Operators that ask a model for summaries in separate memories, and the texts and open questions that their states keep (ADR 25)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Self, TypeVar

from operators.applied_positions import last_positions, reaches
from operators.llm.llm_json import read_summary_answer
from operators.llm.llm_operator import RULE, LLMOperator, Moment, Outcome, Question, Settled
from operators.llm.merge_by_rule import bounded
from operators.operator import State

Text = dict[str, Any]
"""``known``: by source, the last position that the entity had applied at the question; ``text`` and ``by``: the text and its author; no
text if no model could write one. The other fields say what was summarised; they depend on the operator."""


@dataclass(frozen=True, slots=True)
class Texts(ABC):
    """The written texts and the open questions of an operator, by the keys of what is summarised. Immutable."""

    written: Mapping[str, Text] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)
    """For each open question, what it is about (:meth:`subject_of`)."""

    @classmethod
    def of_state(cls, state: State | None) -> Self:
        """The texts and questions in an operator's state."""
        fields = state or {}
        return cls(fields.get("texts", {}), fields.get("asked", {}))

    @staticmethod
    @abstractmethod
    def subject_of(text: Text) -> str:
        """Identifies the content that a text summarises."""

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a text nor a question."""
        return not self.written and not self.asked

    def with_text(self, key: str, text: Text) -> Self:
        """Adds an outcome; the same object if it has nothing new, and no question waits for it."""
        before, asked = self.written.get(key), self.asked
        if asked.get(key) == self.subject_of(text):
            asked = {each: subject for each, subject in asked.items() if each != key}
        if before is not None and self._covers(before, text):
            return self if asked is self.asked else type(self)(self.written, asked)
        return type(self)({**self.written, key: text}, asked)

    def may_ask(self, moment: Moment) -> bool:
        """Whether the operator may ask questions at a log position.

        Not in a rebuild, which is running if a text covers more of the log than the entity has read. And not at a position whose questions
        were answered already: a batch of changes is asked about once.
        """
        known = last_positions(moment.sources)
        return moment.has_llm and all(reaches(known, text["known"]) and text["known"] != known for text in self.written.values())

    def _ahead_of(self, moment: Moment) -> set[str]:
        """The keys of the texts that cover more of the log than the entity has read."""
        known = last_positions(moment.sources)
        return {key for key, text in self.written.items() if not reaches(known, text["known"])}

    @staticmethod
    def _covers(before: Text, text: Text) -> bool:
        """Whether a text is based on at least as much of the log as another."""
        return reaches(before["known"], text["known"])


T = TypeVar("T", bound=Texts)


class SummaryOperator(LLMOperator, Generic[T]):
    """An operator that asks a model for summaries. Without a text of a model, a summary's memory has an extract."""

    kept_of_question: ClassVar[tuple[str, ...]]
    """The fields of a question that its outcome has, too: what was summarised, and as of which log position."""

    @abstractmethod
    def _texts_of(self, state: State | None) -> T:
        """The texts in a state."""

    @abstractmethod
    def _with_texts(self, state: State | None, texts: T) -> State:
        """A state with other texts."""

    @abstractmethod
    def _valid_texts(self, state: State) -> T:
        """Only the texts in a state that are valid for its events."""

    def forget(self, state: State, moment: Moment) -> Settled:
        """See :meth:`LLMOperator.forget`: drops the texts that are no longer valid."""
        valid = self._valid_texts(state)
        dropped = self._texts_of(state).written.keys() - valid.written.keys()
        return Settled(self._with_texts(state, valid), dropped=tuple(sorted(dropped))) if dropped else Settled(state)

    def outcomes(self, state: State) -> tuple[Outcome, ...]:
        """See :meth:`LLMOperator.outcomes`: one for each text."""
        return tuple(Outcome(dict(text), key) for key, text in sorted(self._texts_of(state).written.items()))

    def apply_outcome(self, state: State | None, outcome: Outcome) -> State:
        """See :meth:`LLMOperator.apply_outcome`."""
        texts = self._texts_of(state)
        after = texts.with_text(outcome.part, dict(outcome.content))
        return state if state is not None and after is texts else self._with_texts(state, after)

    def adopted(self, state: State) -> int:
        """0: the summaries are in memories that have their own versions."""
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
