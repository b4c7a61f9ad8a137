"""Reads RealMem: users with dated sessions, queries among the user's turns, and annotated (gold) memories.

A query's evidence is the source messages of the memories that its answer used. A gold memory names its source by a copy of the message;
about one in twenty differs from every message, and then its turn number (from 1) and role decide. A memory whose source cannot be
found so counts for its session alone.

Sessions are in the order of the file, and every query uses memories of earlier sessions in this order. Two users have sessions whose
date goes back by months (a placeholder): such a session takes the date of the session before it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Final, Literal

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from evaluation.errors import DataSetError
from evaluation.locomo import TENANT
from evaluation.windows import session_windows
from memory.records import Message, Window
from memory.validation_problems import problems_of

_FILES: Final = "*_dialogues_*.json"
_DATE_LENGTH: Final = len("2025-12-15")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class _UsedMemory(_Part):
    session_uuid: str
    content: str


class _Turn(_Part):
    speaker: Literal["User", "Assistant"]
    content: str
    is_query: bool = False
    query_id: str | None = None
    category_name: str = ""
    session_type: str = ""
    memory_used: tuple[_UsedMemory, ...] = ()


def _as_text(value: object) -> object:
    return orjson.dumps(value).decode() if isinstance(value, dict | list) else value


class _GoldMemory(_Part):
    content: Annotated[str, BeforeValidator(_as_text)]
    """A text; one memory of the published files is an object, such as an itinerary, and is read as its JSON."""
    type: str
    source_turn: int
    source_content_snapshot: str
    source_role_snapshot: str


class _Dialogue(_Part):
    session_uuid: str
    current_time: str
    dialogue_turns: tuple[_Turn, ...]
    extracted_memory: tuple[_GoldMemory, ...] = ()


class _Metadata(_Part):
    person_name: str


class _File(_Part):
    metadata: _Metadata = Field(alias="_metadata")
    dialogues: tuple[_Dialogue, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class GoldMemory:
    """A memory that RealMem's authors annotated."""

    content: str
    type: str
    """``Dynamic``, ``Static`` or ``Schedule``."""
    message_id: str | None
    """The source message. None: it cannot be found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A user's turn that needs memories of earlier sessions."""

    id: str
    text: str
    category: str
    """As the data set names it: ``Dynamic Incremental``, ``Implicit Preference`` and others."""
    session_type: str
    """``single_session`` or ``multi_session``."""
    asked_at: datetime
    sessions: frozenset[str]
    """The sessions of the memories that the answer used, all of them earlier. Empty: none."""
    messages: frozenset[str]
    """Their source messages."""
    used: tuple[str, ...] = ()
    """Their texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation of one day."""

    id: str
    windows: tuple[Window, ...]
    queries: tuple[Query, ...]
    gold: tuple[GoldMemory, ...]
    is_redated: bool
    """Whether the file's date went back and was replaced."""


@dataclass(frozen=True, slots=True)
class User:
    """One user's sessions, in the order of the file."""

    name: str
    sessions: tuple[Session, ...]


def user_files(path: Path, name: str | None = None) -> list[Path]:
    """The files of a folder, one per user.

    Args:
        path: RealMem's folder, or one of its files.
        name: Only the user whose file begins with this name, for example ``Pak_Budi``. None: all.

    Raises:
        DataSetError: If there is no such file; the text lists the users.
    """
    files = [path] if path.is_file() else sorted(path.glob(_FILES))
    if not files:
        raise DataSetError(f"{path} has no file {_FILES}; give RealMem's folder of dialogues, or one of its files")
    chosen = [each for each in files if name is None or each.name.startswith(name)]
    if not chosen:
        names = ", ".join(each.name.partition("_dialogues")[0] for each in files)
        raise DataSetError(f"{path} has no user {name!r}; its users are {names}")
    return chosen


def read_user(path: Path) -> User:
    """Reads one user's file.

    Raises:
        DataSetError: If the file cannot be read or has another form. The text names the field.
    """
    try:
        data = _File.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DataSetError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise DataSetError(f"{path} is not in RealMem's form: {problems_of(error)}") from error
    name = data.metadata.person_name
    try:
        return User(name, tuple(_sessions(name, data.dialogues)))
    except ValueError as error:
        raise DataSetError(f"{path} is not in RealMem's form: {error}") from error


def _sessions(user: str, dialogues: Sequence[_Dialogue]) -> Iterator[Session]:
    sources: dict[tuple[str, str], str | None] = {}
    day, of_day, offset = date.min, 0, 0
    for dialogue in dialogues:
        own_day = date.fromisoformat(dialogue.current_time[:_DATE_LENGTH])
        if own_day > day:
            day, of_day = own_day, 0
        start = datetime.combine(day, time(), UTC) + timedelta(seconds=of_day)
        messages = _messages(user, dialogue, start)
        gold = tuple(GoldMemory(each.content, each.type, _source(dialogue, each)) for each in dialogue.extracted_memory)
        queries = tuple(_queries(dialogue, start, sources))
        sources |= {(dialogue.session_uuid, each.content): each.message_id for each in gold}
        windows = tuple(session_windows(messages, first_offset=offset))
        yield Session(id=dialogue.session_uuid, windows=windows, queries=queries, gold=gold, is_redated=own_day < day)
        of_day += len(dialogue.dialogue_turns)
        offset += len(messages)


def _messages(user: str, dialogue: _Dialogue, start: datetime) -> list[Message]:
    """The turns that are not blank. The data has no times of day: a message is one second after the one before, to keep their order."""
    return [
        Message(
            tenant=TENANT,
            user=user,
            session=dialogue.session_uuid,
            id=_message_id(dialogue, number),
            role="user" if turn.speaker == "User" else "assistant",
            text=turn.content,
            event_time=start + timedelta(seconds=number),
        )
        for number, turn in enumerate(dialogue.dialogue_turns)
        if turn.content.strip()
    ]


def _queries(dialogue: _Dialogue, start: datetime, sources: Mapping[tuple[str, str], str | None]) -> Iterator[Query]:
    for number, turn in enumerate(dialogue.dialogue_turns):
        if not turn.is_query or not turn.content.strip():
            continue
        answer = dialogue.dialogue_turns[number + 1 : number + 2]
        used = [each for one in answer for each in one.memory_used]
        found = [sources.get((each.session_uuid, each.content)) for each in used]
        yield Query(
            id=turn.query_id or _message_id(dialogue, number),
            text=turn.content,
            category=turn.category_name,
            session_type=turn.session_type,
            asked_at=start + timedelta(seconds=number),
            sessions=frozenset(each.session_uuid for each in used if each.session_uuid != dialogue.session_uuid),
            messages=frozenset(each for each in found if each is not None),
            used=tuple(dict.fromkeys(each.content for each in used if each.session_uuid != dialogue.session_uuid)),
        )


def _source(dialogue: _Dialogue, gold: _GoldMemory) -> str | None:
    turns = dialogue.dialogue_turns
    equal = [number for number, turn in enumerate(turns) if turn.content == gold.source_content_snapshot and turn.content.strip()]
    if equal:
        return _message_id(dialogue, equal[0])
    number = gold.source_turn - 1
    is_turn = 0 <= number < len(turns) and turns[number].speaker == gold.source_role_snapshot and bool(turns[number].content.strip())
    return _message_id(dialogue, number) if is_turn else None


def _message_id(dialogue: _Dialogue, number: int) -> str:
    return f"{dialogue.session_uuid}/{number}"
