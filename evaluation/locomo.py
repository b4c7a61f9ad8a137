"""Reads LoCoMo as windows to extract from, with the annotations that a good extraction would match."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.data_files import read_entries
from evaluation.windows import session_windows
from memory.records import Message, Window
from varve.conversations import locomo_conversation

TENANT = "evaluation"


@dataclass(frozen=True, slots=True)
class Observation:
    """A fact that LoCoMo's authors annotated, and the turns that are its evidence."""

    text: str
    message_indexes: tuple[int, ...]
    """In the window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedWindow:
    """A window with its annotations."""

    window: Window
    observations: tuple[Observation, ...]
    significant_events: tuple[str, ...]
    """The session's, a sentence each. Only the session's last window has them."""
    summary: str
    """Summary of the previous session. Empty for the first."""


def read_locomo(path: Path) -> list[list[AnnotatedWindow]]:
    """Reads conversations, each as its windows in order. A window holds turns of one session, at most the message cap.

    Raises:
        DataSetError: If the file cannot be read.
        ConversationError: If it has another form.
    """
    return [list(_windows(sample, source=f"{path}, conversation {index}")) for index, sample in enumerate(read_entries(path))]


def _windows(sample: Mapping[str, Any], *, source: str) -> Iterator[AnnotatedWindow]:
    sessions: dict[str, list[Message]] = {}
    for fields in locomo_conversation(sample, source=source).messages:
        message = Message.model_validate({**fields, "tenant": TENANT})
        sessions.setdefault(message.session, []).append(message)
    summary, offset = "", 0
    for session, messages in sessions.items():
        windows = list(session_windows(messages, first_offset=offset))
        for window in windows:
            is_last = window is windows[-1]
            yield AnnotatedWindow(
                window=window,
                observations=tuple(_observations(sample, session, window.messages)),
                significant_events=tuple(_significant_events(sample, session)) if is_last else (),
                summary=summary,
            )
        offset += len(messages)
        summary = sample.get("session_summary", {}).get(f"{session}_summary", "")


def _observations(sample: Mapping[str, Any], session: str, messages: list[Message]) -> Iterator[Observation]:
    index_of = {message.id: index for index, message in enumerate(messages)}
    for facts in sample.get("observation", {}).get(f"{session}_observation", {}).values():
        for text, evidence in facts:
            message_ids = evidence if isinstance(evidence, list) else [evidence]
            indexes = tuple(index_of[each] for each in message_ids if each in index_of)
            if indexes:
                yield Observation(text, indexes)


def _significant_events(sample: Mapping[str, Any], session: str) -> Iterator[str]:
    for speaker, sentences in sample.get("event_summary", {}).get(f"events_{session}", {}).items():
        if speaker != "date":
            yield from sentences
