r"""Invented conversations of three kinds with questions: chats of friends, chats with an assistant, and meetings.

A file of ``evaluation/recall/invented`` holds one kind, and all its conversations are one user's memory:

======================  ====================================================================================================
Line                    Meaning
======================  ====================================================================================================
``== chat mia-jonas``   Begins a conversation: its kind and name.
``-- 2025-02-03 18:02`` Begins a session at this time (UTC). A message follows 30 seconds after the one before.
``Mia: heyyy {label}``  A message. The label, which is optional, is not part of it. ``\n`` is a line break.
``? Who? | one two``    A question, and the labels of the messages that answer it.
======================  ====================================================================================================

The speakers ``user`` and ``assistant`` are roles without a name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from evaluation.errors import DataSetError
from evaluation.locomo import TENANT
from evaluation.windows import windows_of
from memory.records import Message, Window

FOLDER: Final = Path(__file__).with_name("invented")
KINDS: Final = ("chat", "assistant", "meeting")
_BETWEEN: Final = timedelta(seconds=30)
_ASKED_AFTER: Final = timedelta(days=3)
_LABEL: Final = re.compile(r" \{(\w+)\}$")
_ROLES: Final = frozenset({"user", "assistant"})


@dataclass(frozen=True, slots=True)
class InventedQuestion:
    """A question to a kind's memory."""

    text: str
    messages: frozenset[str]
    """Ids of the messages that answer it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InventedMemory:
    """The conversations of one kind, as one user's."""

    kind: str
    windows: tuple[Window, ...]
    questions: tuple[InventedQuestion, ...]
    asked_at: datetime
    """The moment of all questions: three days after the last message."""


@dataclass(slots=True)
class _Conversation:
    name: str
    sessions: list[tuple[datetime, list[Message]]] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    """Message ids by label."""
    questions: list[tuple[str, list[str]]] = field(default_factory=list)


def invented_memory(kind: str, folder: Path = FOLDER) -> InventedMemory:
    """Reads one kind.

    Args:
        kind: One of :data:`KINDS`.
        folder: The folder of the files.

    Raises:
        DataSetError: If a line has another form. The text names the line.
    """
    path = folder / f"{kind}.txt"
    conversations = _read(kind, path, path.read_text("utf-8").splitlines())
    sessions = sorted((session for each in conversations for session in each.sessions), key=lambda session: session[0])
    questions = []
    for conversation in conversations:
        for text, labels in conversation.questions:
            if unknown := [label for label in labels if label not in conversation.labels]:
                raise DataSetError(f"{path}: {conversation.name}: no message has the label {unknown[0]!r} of the question {text!r}")
            questions.append(InventedQuestion(text, frozenset(conversation.labels[label] for label in labels)))
    last = max(messages[-1].event_time for _, messages in sessions)
    return InventedMemory(
        kind=kind,
        windows=tuple(windows_of(messages for _, messages in sessions)),
        questions=tuple(questions),
        asked_at=last + _ASKED_AFTER,
    )


def _read(kind: str, path: Path, lines: Sequence[str]) -> list[_Conversation]:
    conversations: list[_Conversation] = []
    for number, line in enumerate(lines, start=1):
        try:
            _add(kind, conversations, line)
        except (ValueError, IndexError) as error:
            raise DataSetError(
                f"{path}, line {number}: {line!r} is not in the form of evaluation/recall/invented_conversations.py"
            ) from error
    return conversations


def _add(kind: str, conversations: list[_Conversation], line: str) -> None:
    if line.startswith("== "):
        _, _, name = line.split()
        conversations.append(_Conversation(name))
        return
    conversation = conversations[-1]
    if line.startswith("-- "):
        conversation.sessions.append((datetime.fromisoformat(line[3:]).replace(tzinfo=UTC), []))
    elif line.startswith("? "):
        text, labels = line[2:].split(" | ")
        conversation.questions.append((text, labels.split()))
    else:
        start, messages = conversation.sessions[-1]
        session = f"{conversation.name}/s{len(conversation.sessions)}"
        speaker, text = line.split(": ", 1)
        message_id = f"{session}/{len(messages)}"
        if label := _LABEL.search(text):
            conversation.labels[label[1]] = message_id
            text = text[: label.start()]
        messages.append(
            Message(
                tenant=TENANT,
                user=kind,
                session=session,
                id=message_id,
                role="assistant" if speaker == "assistant" else "user",
                speaker=None if speaker in _ROLES else speaker,
                text=text.replace("\\n", "\n").replace("[photo: ", "[picture: "),
                event_time=start + _BETWEEN * len(messages),
            )
        )
