"""Reads PersonaMem (Jiang et al. 2025): a folder with ``questions_SIZE.csv`` and ``shared_contexts_SIZE.jsonl``.

A context is one persona's messages; a system message begins a session and is left out, since it describes the persona. A question sees the
messages before its ``end_index_in_shared_context``. Relevant sessions are not annotated. The data has no dates: sessions get one day each.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import orjson

from evaluation.errors import DataSetError
from evaluation.locomo import TENANT
from evaluation.sift.histories import SessionQuery, UserHistory
from evaluation.windows import windows_of
from memory.records import Message

_QUESTIONS: Final = "questions_*.csv"
_BEGIN: Final = datetime(2024, 1, 1, tzinfo=UTC)


def is_personamem(path: Path) -> bool:
    """Whether a path is a folder of PersonaMem."""
    return path.is_dir() and any(path.glob(_QUESTIONS))


def read_personamem(path: Path) -> Iterator[UserHistory]:
    """Reads the personas of a folder one after the other, each with its contexts of all sizes. A question sees its own context only.

    Raises:
        DataSetError: If a file is missing or has another form.
    """
    contexts: dict[str, list[Any]] = {}
    by_persona: dict[str, list[tuple[str, dict[str, str]]]] = {}
    for questions in sorted(path.glob(_QUESTIONS)):
        size = questions.stem.removeprefix("questions_")
        try:
            contexts |= {f"{size}/{name}": each for name, each in _contexts(questions.with_name(f"shared_contexts_{size}.jsonl"))}
            for row in _rows(questions):
                by_persona.setdefault(row["persona_id"], []).append((f"{size}/{row['shared_context_id']}", row))
        except OSError as error:
            raise DataSetError(f"{error.filename} cannot be read: {error.strerror}") from error
        except (KeyError, ValueError, AttributeError) as error:
            raise _form_error(questions, error) from error
    for persona, asked in by_persona.items():
        try:
            yield _persona(persona, contexts, asked)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _form_error(path, error) from error


def _form_error(path: Path, error: Exception) -> DataSetError:
    return DataSetError(f"{path} is not in PersonaMem's form: {type(error).__name__} at {error}")


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _contexts(path: Path) -> Iterator[tuple[str, list[Any]]]:
    for line in path.read_bytes().splitlines():
        if line:
            yield from orjson.loads(line).items()


def _persona(user: str, contexts: Mapping[str, list[Any]], asked: Sequence[tuple[str, Mapping[str, str]]]) -> UserHistory:
    sessions: dict[str, list[Message]] = {}
    queries = []
    for context, row in asked:
        seen = _sessions(contexts[context][: int(row["end_index_in_shared_context"])], user, context)
        sessions |= seen
        queries.append(
            SessionQuery(
                text=f"{row['user_question_or_message']}\n{row['all_options']}",
                asked_at=_BEGIN + timedelta(days=len(seen)),
                sessions=tuple(seen),
                gold=frozenset(),
                answer=row["correct_answer"],
            )
        )
    return UserHistory(user, tuple(windows_of(sessions.values())), tuple(queries))


def _sessions(messages: Sequence[Any], user: str, context: str) -> dict[str, list[Message]]:
    """The sessions by name. The name has the number of messages: a question may see a part of a session, which is its own session."""
    parts: list[list[Any]] = [[]]
    for message in messages:
        if message["role"] == "system":
            parts.append([])
        elif message["content"].strip():
            parts[-1].append(message)
    return {
        name: [
            Message(
                tenant=TENANT,
                user=user,
                session=name,
                id=f"{name}/{place}",
                role=message["role"],
                text=message["content"],
                event_time=_BEGIN + timedelta(days=number, seconds=place),
            )
            for place, message in enumerate(part)
        ]
        for number, part in enumerate(each for each in parts if each)
        for name in [f"{context}/{number}/{len(part)}"]
    }
