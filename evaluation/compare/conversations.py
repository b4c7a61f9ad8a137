"""Conversations with questions and their evidence, as steps: first questions are asked, then messages are added."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

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
