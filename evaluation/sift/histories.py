"""Reads LoCoMo, RealMem and LongMemEval as users with sessions, and queries whose relevant (gold) sessions are known."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

import orjson

from evaluation.errors import DataSetError
from evaluation.locomo import read_locomo, read_samples
from evaluation.longmemeval.dataset import read_longmemeval
from evaluation.realmem.dataset import User, read_user, user_files
from evaluation.recall.corpus import UNANSWERABLE, questions_of
from evaluation.recall.memories import last_moment
from memory.records import Window

DataFormat = Literal["locomo", "longmemeval", "realmem"]
_FIELDS: Final[dict[DataFormat, str]] = {"locomo": "conversation", "longmemeval": "haystack_sessions", "realmem": "dialogues"}
"""A field by which each format is recognised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionQuery:
    """A query with its gold sessions."""

    text: str
    asked_at: datetime
    sessions: tuple[str, ...]
    """The sessions before the query, oldest first."""
    gold: frozenset[str]
    """The relevant ones. Empty: unknown."""
    answer: str = ""
    """Empty: unknown."""
    notes: tuple[str, ...] = ()
    """Texts that a right answer makes use of, if the data set names these instead of an answer."""
    kind: str = ""
    """The data set's name for the kind of question."""


@dataclass(frozen=True, slots=True)
class UserHistory:
    """A user's sessions and queries."""

    user: str
    windows: tuple[Window, ...]
    queries: tuple[SessionQuery, ...]


def format_of(path: Path) -> DataFormat:
    """The format of a file, or of a folder of RealMem.

    Raises:
        DataSetError: If the file cannot be read or has none of the formats.
    """
    if path.is_dir():
        return "realmem"
    try:
        data = orjson.loads(path.read_bytes())
    except OSError as error:
        raise DataSetError(f"{path} cannot be read: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise DataSetError(f"{path} is not JSON: {error}") from error
    first = data[0] if isinstance(data, list) and data else data
    found = [name for name, field in _FIELDS.items() if isinstance(first, dict) and field in first]
    if not found:
        raise DataSetError(f"{path} is in none of the formats: expected the field {' or '.join(_FIELDS.values())}")
    return found[0]


def read_histories(path: Path) -> Iterator[UserHistory]:
    """Reads the users of a file or folder one after the other. Queries without gold sessions are left out.

    Raises:
        DataSetError: If the data cannot be read or has another form.
        ConversationError: As LoCoMo and LongMemEval raise it.
    """
    match format_of(path):
        case "locomo":
            yield from _locomo(path)
        case "longmemeval":
            yield from _longmemeval(path)
        case "realmem":
            yield from (_realmem(read_user(each)) for each in user_files(path))


def _locomo(path: Path) -> Iterator[UserHistory]:
    for sample, conversation in zip(read_samples(path), read_locomo(path), strict=True):
        windows = tuple(each.window for each in conversation)
        session_of = {message.id: window.session for window in windows for message in window.messages}
        names = tuple(dict.fromkeys(each.session for each in windows))
        queries = [
            SessionQuery(
                text=question.text,
                asked_at=last_moment(windows),
                sessions=names,
                gold=frozenset(session_of[message] for message in question.evidence if message in session_of),
                answer=question.answer,
                kind=str(question.category),
            )
            for question in questions_of(sample, path)
            if question.category != UNANSWERABLE
        ]
        yield UserHistory(windows[0].user, windows, tuple(each for each in queries if each.gold))


def _longmemeval(path: Path) -> Iterator[UserHistory]:
    for question in read_longmemeval(path):
        names = tuple(dict.fromkeys(window.session for window in question.windows))
        gold = question.answer_sessions.intersection(names)
        query = SessionQuery(
            text=question.text, asked_at=question.asked_at, sessions=names, gold=gold, answer=question.answer, kind=question.kind
        )
        yield UserHistory(question.id, question.windows, (query,) if gold else ())


def _realmem(user: User) -> UserHistory:
    queries: list[SessionQuery] = []
    earlier: list[str] = []
    for session in user.sessions:
        for query in session.queries:
            gold = query.sessions.intersection(earlier)
            if gold:
                queries.append(
                    SessionQuery(
                        text=query.text,
                        asked_at=query.asked_at,
                        sessions=tuple(earlier),
                        gold=gold,
                        notes=query.used,
                        kind=query.category,
                    )
                )
        if session.windows:
            earlier.append(session.id)
    return UserHistory(user.name, tuple(window for each in user.sessions for window in each.windows), tuple(queries))
