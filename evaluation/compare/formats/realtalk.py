"""REALTALK (Lee et al. 2025): chats of two people over three weeks, with questions as in LoCoMo.

A file has ``name`` (``speaker_1`` and ``speaker_2``), ``session_1`` and so on (messages with ``dia_id``, ``speaker``, ``date_time``,
``clean_text``, and ``blip_caption`` if there is a picture), and ``qa`` (``question``, ``answer``, ``evidence``, ``category``).
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from evaluation.compare.conversations import Asked, Dialogue, Step
from evaluation.data_files import REALTALK_FILES, read_json
from evaluation.errors import DataSetError
from evaluation.locomo import TENANT
from evaluation.recall.memories import last_moment
from evaluation.windows import windows_of
from memory.records import Message
from memory.validation_problems import problems_of

_DATE: Final = "%d.%m.%Y, %H:%M:%S"
_SESSION: Final = "session_"
_CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "commonsense"}
_SEVERAL_FACTS: Final = 1


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class _Name(_Part):
    speaker_1: str
    speaker_2: str


class _Message(_Part):
    dia_id: str
    speaker: str
    date_time: datetime
    clean_text: str = Field(default="", validation_alias=AliasChoices("clean_text", "text"))
    blip_caption: str | None = None

    @field_validator("date_time", mode="before")
    @classmethod
    def _read_date(cls, value: object) -> object:
        if not isinstance(value, str):
            raise ValueError("a text such as '29.12.2023, 22:42:04' is expected")
        try:
            return datetime.strptime(value.strip(), _DATE).replace(tzinfo=UTC)
        except ValueError as error:
            raise ValueError(f"a time such as '29.12.2023, 22:42:04' is expected, not {value!r}") from error

    @property
    def said(self) -> str:
        """The words, with the caption of the picture."""
        return f"{self.clean_text} [picture: {self.blip_caption}]".strip() if self.blip_caption else self.clean_text.strip()


class _Question(_Part):
    question: str
    answer: str | int | float
    evidence: tuple[str, ...]
    category: int


class _Chat(_Part):
    name: _Name
    qa: tuple[_Question, ...]


_SESSIONS: Final = TypeAdapter(dict[str, tuple[_Message, ...]])


def read(path: Path, *, limit: int | None) -> list[Dialogue]:
    """Reads the chats of a folder, or one file. Questions whose evidence is not in the chat are left out.

    Args:
        path: The folder or file.
        limit: Most chats. None: all.

    Raises:
        DataSetError: If a file cannot be read or has another form. The text names the field.
    """
    return [_dialogue(each) for each in chat_files(path)[:limit]]


def chat_files(path: Path) -> list[Path]:
    """The files of a folder, or the file."""
    return sorted(path.glob(REALTALK_FILES)) if path.is_dir() else [path]


def _dialogue(path: Path) -> Dialogue:
    data = read_json(path)
    try:
        chat = _Chat.model_validate(data)
        sessions = _SESSIONS.validate_python({name: data[name] for name in sorted(filter(_is_session, data), key=_number)})
    except ValidationError as error:
        raise DataSetError(f"{path} is not in REALTALK's form: {problems_of(error)}") from error
    windows = tuple(windows_of(_messages(path.stem, *each, chat.name.speaker_1) for each in sessions.items()))
    if not windows:
        raise DataSetError(f"{path} is not in REALTALK's form: it has no field session_1 with messages")
    end = last_moment(windows)
    known = {message.id for window in windows for message in window.messages}
    questions = tuple(
        Asked(
            text=each.question,
            category=_CATEGORIES.get(each.category, str(each.category)),
            evidence=found,
            asked_at=end,
            is_dated=False,
            answer=str(each.answer),
            has_several_answers=each.category == _SEVERAL_FACTS,
        )
        for each in chat.qa
        if (found := tuple(one for one in each.evidence if one in known))
    )
    return Dialogue(path.stem, (Step(windows=windows), Step(questions=questions)))


def _is_session(field: str) -> bool:
    return field.startswith(_SESSION) and field.removeprefix(_SESSION).isdecimal()


def _number(session: str) -> int:
    return int(session.removeprefix(_SESSION))


def _messages(user: str, session: str, said: Sequence[_Message], first_speaker: str) -> list[Message]:
    return [
        Message(
            tenant=TENANT,
            user=user,
            session=session,
            id=each.dia_id,
            role="user" if each.speaker == first_speaker else "assistant",
            speaker=each.speaker,
            text=each.said,
            event_time=each.date_time,
        )
        for each in said
        if each.said
    ]
