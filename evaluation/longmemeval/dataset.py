"""Reads LongMemEval (Wu et al. 2025, section 3): questions, each with its own history of dated sessions."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from evaluation.data_files import read_entries
from evaluation.errors import DataSetError
from evaluation.locomo import TENANT
from evaluation.windows import windows_of
from memory.records import Message, Window

_DATE: Final = re.compile(r"(\d{4}/\d{2}/\d{2}) \(\w{3}\) (\d{2}:\d{2})")
_ABSTENTION: Final = "_abs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to one user's history."""

    id: str
    kind: str
    """As the data set names it: ``single-session-user``, ``multi-session``, ``temporal-reasoning`` and others."""
    text: str
    asked_at: datetime
    windows: tuple[Window, ...]
    """The history, in its order; a session's number in it is the session's name."""
    sessions: int
    answer_sessions: frozenset[str]
    """Sessions with the answer; empty if the history does not have it."""
    answer: str = ""
    """The right one, or what a good one respects."""
    evidence: tuple[str, ...] = ()
    """Ids of the messages that the data set marks as evidence; if it marks none, all of the sessions with the answer."""


def read_longmemeval(path: Path) -> Iterator[Question]:
    """Reads the questions one after the other. The history of each belongs to its own user.

    Raises:
        DataSetError: If the file cannot be read or has another form; says where.
    """
    for index, entry in enumerate(read_entries(path)):
        try:
            yield _question(entry)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataSetError(f"{path}, question {index}: not in LongMemEval's form: {type(error).__name__} at {error}") from error


def _question(entry: Any) -> Question:
    question_id = str(entry["question_id"])
    names = list(map(str, entry["haystack_session_ids"]))
    histories = zip(entry["haystack_sessions"], entry["haystack_dates"], strict=True)
    sessions = [_messages(turns, user=question_id, session=str(number), at=_time(date)) for number, (turns, date) in enumerate(histories)]
    # The id says whether a history contains the answer: sessions are listed even if they only seem to contain it.
    wanted = set() if question_id.endswith(_ABSTENTION) else set(map(str, entry["answer_session_ids"]))
    answer_sessions = frozenset(str(number) for number, name in enumerate(names) if name in wanted)
    return Question(
        id=question_id,
        kind=str(entry["question_type"]),
        text=str(entry["question"]),
        asked_at=_time(entry["question_date"]),
        windows=tuple(windows_of(sessions)),
        sessions=len(names),
        answer=str(entry.get("answer", "")),
        answer_sessions=answer_sessions,
        evidence=_evidence(entry["haystack_sessions"], answer_sessions),
    )


def _evidence(sessions: Sequence[Any], answer_sessions: Collection[str]) -> tuple[str, ...]:
    turns = [
        (_message_id(session, number), bool(turn.get("has_answer")))
        for session, turns in ((str(place), each) for place, each in enumerate(sessions))
        if session in answer_sessions
        for number, turn in enumerate(turns)
    ]
    marked = tuple(name for name, is_marked in turns if is_marked)
    return marked or tuple(name for name, _ in turns)


def _messages(turns: Sequence[Any], *, user: str, session: str, at: datetime) -> list[Message]:
    return [
        Message(
            tenant=TENANT,
            user=user,
            session=session,
            id=_message_id(session, number),
            role=turn["role"],
            text=turn["content"],
            event_time=at,
        )
        for number, turn in enumerate(turns)
    ]


def _message_id(session: str, number: int) -> str:
    return f"{session}/{number}"


def _time(text: str) -> datetime:
    found = _DATE.fullmatch(text)
    if found is None:
        raise ValueError(f"a date as 2023/05/30 (Tue) 23:40 is expected, not {text!r}")
    return datetime.strptime(" ".join(found.groups()), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
