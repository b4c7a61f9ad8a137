"""Conversations with questions and their evidence, of LoCoMo or RealMem, as steps: what is asked, and what is said afterwards."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from evaluation.locomo import read_locomo, read_samples
from evaluation.realmem.dataset import read_user, user_files
from evaluation.recall.corpus import UNANSWERABLE, questions_of
from evaluation.recall.memories import last_moment
from memory.records import Window

_LOCOMO_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that the conversation answers."""

    text: str
    category: str
    evidence: tuple[str, ...]
    """Ids of the messages that answer it. Not empty."""
    asked_at: datetime


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


def read_dialogues(path: Path, *, limit: int | None = None) -> list[Dialogue]:
    """Reads a file of LoCoMo, or a part of one; or a folder of RealMem, or one of its files.

    Args:
        path: The file or folder.
        limit: Most conversations. None: all.

    Raises:
        ConversationError: If the file cannot be read or has another form.
        DataSetError: If the folder has no file of RealMem, or one has another form.
    """
    if path.is_dir() or "_dialogues_" in path.name:
        return [_realmem(each) for each in user_files(path)[:limit]]
    pairs = list(zip(read_samples(path), read_locomo(path), strict=True))[:limit]
    dialogues = []
    for sample, conversation in pairs:
        windows = tuple(each.window for each in conversation)
        end = last_moment(windows)
        questions = tuple(
            Asked(each.text, _LOCOMO_CATEGORIES.get(each.category, str(each.category)), each.evidence, end)
            for each in questions_of(sample, path)
            if each.category != UNANSWERABLE
        )
        dialogues.append(Dialogue(windows[0].user, (Step(windows=windows), Step(questions=questions))))
    return dialogues


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, or of all files of a folder by name, in hexadecimal."""
    files = user_files(path) if path.is_dir() else [path]
    return hashlib.sha256(b"".join(hashlib.sha256(each.read_bytes()).digest() for each in files)).hexdigest()


def _realmem(path: Path) -> Dialogue:
    """A user of RealMem. Queries whose source messages cannot be found are left out."""
    user = read_user(path)
    steps = [
        Step(
            questions=tuple(
                Asked(each.text, each.category, tuple(sorted(each.messages)), each.asked_at) for each in session.queries if each.messages
            ),
            windows=session.windows,
        )
        for session in user.sessions
    ]
    return Dialogue(user.name, steps)
