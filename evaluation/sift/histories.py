"""Reads LoCoMo, RealMem and LongMemEval as users with sessions, and queries whose relevant (gold) sessions are known."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from evaluation.data_files import format_of, read_entries
from evaluation.errors import DataSetError
from evaluation.locomo import read_locomo
from evaluation.longmemeval.dataset import read_longmemeval
from evaluation.realmem.dataset import User, read_user, user_files
from evaluation.recall.corpus import UNANSWERABLE, questions_of
from evaluation.recall.memories import last_moment
from memory.records import Window


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


def read_histories(path: Path) -> Iterator[UserHistory]:
    """Reads the users of a file or folder one after the other. Queries without gold sessions are left out.

    Raises:
        DataSetError: If the data cannot be read or has another form.
        ConversationError: If they lack a field of LoCoMo's form.
    """
    match format_of(path):
        case "LoCoMo":
            yield from _locomo(path)
        case "LongMemEval":
            yield from _longmemeval(path)
        case "RealMem":
            yield from (_realmem(read_user(each)) for each in user_files(path))
        case other:
            raise DataSetError(f"{path} is {other}, whose gold sessions are unknown: give LoCoMo, LongMemEval or RealMem")


def _locomo(path: Path) -> Iterator[UserHistory]:
    for sample, conversation in zip(read_entries(path), read_locomo(path), strict=True):
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
