"""What an operator is that needs an LLM: it yields questions, and is sent what their answers come to. No I/O of its own.

The answers come late, once, and in any order with the events. So what an answer comes to, its outcome, says by itself which events it rests
on, by their places in the log. An operator adopts an outcome that covers more of the log than what it holds, and drops any other. Then the
newest outcome and the events behind it give the same state in whichever order they come: live, in a replay, and in a rebuild, which has the
newest outcome from the log (ADR 25).
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from memory.records import WrittenText
from operators.entity_state import Sources
from operators.operator import Operator, State


@dataclass(frozen=True, slots=True)
class Question:
    """What an operator asks."""

    content: dict[str, JsonValue]
    """All that it takes to ask it, and to make an outcome of the answer."""
    part: str = ""
    """Which part of the state it concerns, where there are several. Of each, one question is open at a time: what comes meanwhile is asked
    together."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a question has come to, or what needed none."""

    content: dict[str, JsonValue]
    part: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A question in a model's words."""

    system: str
    """The same for every question of the operator, so that prefix caches hit."""
    user: str
    json_schema: Mapping[str, Any]
    """Of the answer."""
    max_tokens: int | None = None
    """The longest answer, with the thoughts of a model that thinks; None: the endpoint's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When an operator is asked what it needs."""

    sources: Sources
    """The places in the log that the entity has applied."""
    newest: int
    """The newest event time of the entity, in microseconds since 1970."""
    has_llm: bool
    """Whether anybody answers questions."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What follows from a state."""

    state: State
    questions: tuple[Question, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    """Reached without a question, and part of the state already."""
    dropped: tuple[str, ...] = ()
    """The parts whose outcomes the state needs no more, nor will a rebuild."""


class LLMOperator(Operator):
    """An operator that asks an LLM. :meth:`settle` and :meth:`apply_outcome` belong to the state; the rest to the question alone."""

    @abstractmethod
    def plan_questions(self, state: State, moment: Moment) -> Settled:
        """What the state needs now; called behind the changes of a batch, so that they are asked about together.

        Args:
            state: The state; it is not changed.
            moment: When.
        """

    def forget(self, state: State, moment: Moment) -> Settled:
        """Gives up what was written of what the state has no more, behind an erasure: it is not kept until a model answers.

        Args:
            state: The state, with what was erased retracted; it is not changed.
            moment: When.
        """
        return Settled(state)

    @abstractmethod
    def outcomes(self, state: State) -> tuple[Outcome, ...]:
        """The outcomes that the state stands on: the log keeps them for a rebuild, and gives them up with the entity."""

    @abstractmethod
    def apply_outcome(self, state: State | None, outcome: Outcome) -> State:
        """The state with an outcome; the state itself where the outcome says nothing new.

        Args:
            state: The state so far; None if there is none.
            outcome: What a question has come to, now or before a rebuild.
        """

    @abstractmethod
    def adopted(self, state: State) -> int:
        """How many outcomes the state stands on, one on another; the same in a rebuild."""

    @abstractmethod
    def prompt(self, question: Question, *, subject: str) -> Prompt:
        """A question in a model's words.

        Args:
            question: What :meth:`settle` asked.
            subject: The entity and the property, for the model.
        """

    @abstractmethod
    def outcome(self, question: Question, answer: str, *, model: str) -> Outcome:
        """What an answer comes to.

        Args:
            question: What was asked.
            answer: The model's text.
            model: Its name.

        Raises:
            operators.errors.UnusableAnswerError: If nothing can be made of it.
        """

    @abstractmethod
    def outcome_by_rule(self, question: Question) -> Outcome:
        """What a question comes to that no model answers. It says so."""

    def written(self, state: State) -> WrittenText | None:
        """How the value came about; None where there is nothing to say."""
        return None
