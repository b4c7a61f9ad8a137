"""Conversations with questions and their evidence, as steps: first questions are asked, then messages are added."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from evaluation.recall.memories import last_moment
from memory.records import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question that the conversation answers."""

    text: str
    category: str
    evidence: tuple[str, ...]
    """Ids of the messages that answer it. Not empty."""
    asked_at: datetime
    is_dated: bool = True
    """Whether the data has the date of the question. Otherwise it is asked after the last message."""
    answer: str = ""
    """The right answer. Empty: the data has none that is short enough to compare words."""
    has_several_answers: bool = False
    """Whether the answer lists several facts, which LoCoMo's evaluation compares part by part."""


@dataclass(frozen=True, slots=True)
class Step:
    """A part of a conversation: first the questions are asked, then the windows are added."""

    questions: tuple[Asked, ...] = ()
    windows: tuple[Window, ...] = ()


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One user's conversation."""

    user: str
    steps: Sequence[Step]

    @property
    def questions(self) -> int:
        """Number of questions."""
        return sum(len(each.questions) for each in self.steps)

    @property
    def turns(self) -> int:
        """Number of messages."""
        return sum(len(window.messages) for each in self.steps for window in each.windows)


def first_sessions(dialogue: Dialogue, number: int) -> Dialogue:
    """The first sessions of a conversation, with the questions that they answer.

    Questions of a later date are left out. Those without a date are asked after the last message that remains.

    Args:
        dialogue: The whole conversation.
        number: How many sessions remain, at least one.
    """
    windows = [window for step in dialogue.steps for window in step.windows]
    sessions = set(list(dict.fromkeys(window.session for window in windows))[:number])
    remaining = [window for window in windows if window.session in sessions]
    messages, end = {message.id for window in remaining for message in window.messages}, last_moment(remaining)

    def is_answered(question: Asked) -> bool:
        return messages.issuperset(question.evidence) and (question.asked_at <= end or not question.is_dated)

    steps = [
        Step(
            tuple(each if each.is_dated else replace(each, asked_at=end) for each in step.questions if is_answered(each)),
            tuple(window for window in step.windows if window.session in sessions),
        )
        for step in dialogue.steps
    ]
    return Dialogue(dialogue.user, [each for each in steps if each.questions or each.windows])
