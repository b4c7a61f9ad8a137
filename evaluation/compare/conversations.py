"""Conversations with answerable questions, of LoCoMo or RealMem."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.locomo import read_locomo, read_samples
from evaluation.recall.corpus import UNANSWERABLE, Question, questions_of
from memory.records import Window


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One user's conversation."""

    user: str
    windows: Sequence[Window]
    questions: tuple[Question, ...]
    """Questions that the conversation answers, with the ids of the messages that do."""


def read_dialogues(path: Path, *, limit: int | None = None) -> list[Dialogue]:
    """Reads a file of LoCoMo, or a part of one.

    Args:
        path: The file.
        limit: Most conversations. None: all.

    Raises:
        ConversationError: If the file cannot be read or has another form.
    """
    pairs = list(zip(read_samples(path), read_locomo(path), strict=True))[:limit]
    dialogues = []
    for sample, conversation in pairs:
        windows = [each.window for each in conversation]
        questions = tuple(each for each in questions_of(sample, path) if each.category != UNANSWERABLE)
        dialogues.append(Dialogue(windows[0].user, windows, questions))
    return dialogues


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
