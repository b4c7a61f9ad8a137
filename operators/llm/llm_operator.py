"""The interface of operators that need an LLM: they return questions, and receive the outcomes of the answers. No I/O.

Answers arrive late, once, and in any order relative to events. So an outcome names the events that it is based on, by their log offsets.
An operator adopts an outcome that covers more of the log than its current one, and drops any other. So the newest outcome and the events
after it give the same state in any order: live, in a replay, and in a rebuild, which reads the newest outcome from the log (ADR 25).
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from memory.records import Lookup, NoteUpdate, WrittenText
from operators.applied_positions import Sources, is_beyond, joined
from operators.operator import Operator, State

RULE: Final = "rule"
"""The author of an outcome that no model gave."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of an operator to the LLM."""

    content: dict[str, Any]
    """The data needed to render the prompt, and to turn the answer into an outcome."""
    part: str = ""
    """The part of the state, if it has several. Each part has at most one open question; later changes wait for the next question."""
    lookups: tuple[Lookup, ...] = ()
    """Memories that the question needs. The merging stage finds them, and adds them to the content as ``found``: ``id``, ``version``,
    ``score`` (the cosine, 0 to 1), ``type``, ``content``, ``keywords``, ``entity_key``, ``day``, and ``note`` if the memory is a note."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a question, or a result that needed none."""

    content: dict[str, Any]
    part: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A question in a model's words."""

    system: str
    """The same for every question of the operator, so that prefix caches hit."""
    user: str
    json_schema: Mapping[str, Any]
    """JSON schema of the answer."""
    max_tokens: int | None = None
    """Maximum length of the answer, reasoning tokens included. Default: the endpoint's limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The time and log position at which an operator plans its questions."""

    sources: Sources
    """The places in the log that the entity has applied."""
    newest: int
    """The newest event time of the entity, in microseconds since 1970."""
    has_llm: bool
    """Whether a model answers questions."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The questions and outcomes that follow from a state."""

    state: State
    questions: tuple[Question, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    """Reached without a question, and part of the state already."""
    dropped: tuple[str, ...] = ()
    """The parts whose outcomes neither the state nor a rebuild needs."""


class LLMOperator(Operator):
    """An operator that asks an LLM. :meth:`plan_questions` and :meth:`apply_outcome` need the state; the rest only the question."""

    @abstractmethod
    def plan_questions(self, state: State, moment: Moment) -> Settled:
        """Plans the questions that the state needs. Called once after a batch of changes, so that one question covers them all.

        Args:
            state: The state; not modified.
            moment: The time and log position of the batch.
        """

    def forget(self, state: State, moment: Moment) -> Settled:
        """Drops texts about erased events at once, without waiting for a model's answer.

        Args:
            state: The state, with the erased events retracted; not modified.
            moment: The time and log position of the erasure.
        """
        return Settled(state)

    @abstractmethod
    def outcomes(self, state: State) -> tuple[Outcome, ...]:
        """The outcomes that the state uses: the log keeps them for a rebuild, and drops them with the entity."""

    @abstractmethod
    def apply_outcome(self, state: State | None, outcome: Outcome) -> State:
        """The state with an outcome; the same object if the outcome has nothing new.

        Args:
            state: The state so far; None if there is none.
            outcome: The outcome of a question, asked now or before a rebuild.
        """

    @abstractmethod
    def adopted(self, state: State) -> int:
        """The number of successive outcomes in the state; the same in a rebuild."""

    @abstractmethod
    def prompt(self, question: Question, *, subject: str) -> Prompt:
        """The prompt for a question.

        Args:
            question: A question of :meth:`plan_questions`.
            subject: The entity and the property, for the model.
        """

    @abstractmethod
    def outcome(self, question: Question, answer: str, *, model: str) -> Outcome:
        """Turns an answer into an outcome.

        Args:
            question: The question.
            answer: The model's text.
            model: The model's name.

        Raises:
            operators.errors.UnusableAnswerError: If the answer cannot be read.
        """

    @abstractmethod
    def outcome_by_rule(self, question: Question) -> Outcome:
        """The outcome of a question that no model answered; marked as such."""

    def updates(self, state: State) -> tuple[NoteUpdate, ...]:
        """The changes of other entities that follow from the newest outcome. The stage sends them once the outcome is adopted.

        None if the outcome is ahead of the state: in a rebuild, the log has them already.
        """
        return ()

    def written(self, state: State) -> WrittenText | None:
        """The origin of the value; None if there is none to show."""
        return None

    def _described(self, subject: str) -> str:
        """The subject of a prompt, with the schema's description of the property."""
        description = self._configuration.description
        return f"{subject}: {description}" if description else subject


def is_news(outcome: Mapping[str, Any], newest: Mapping[str, Any]) -> bool:
    """Whether an outcome covers more of the log than another, or as much and follows it.

    Args:
        outcome: An outcome with its ``number`` and its ``sources``.
        newest: The newest outcome so far.
    """
    covers_as_much = joined(outcome["sources"], {}) == joined(newest["sources"], {})
    return is_beyond(outcome["sources"], newest["sources"]) or (covers_as_much and outcome["number"] > newest["number"])
