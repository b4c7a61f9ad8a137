"""Conversations: from files (a message a line, or the form of the LoCoMo benchmark), and the scenarios' samples."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any, Final

import orjson

from memory.schema import sample_conversation
from varve.errors import ConversationError

SECONDS_BETWEEN_TURNS: Final = 20
"""LoCoMo dates sessions, not turns."""
_SESSION_DATE: Final = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages, and questions that they answer."""

    messages: tuple[dict[str, Any], ...]
    """The fields of a :class:`memory.records.Message` but the tenant, in order."""
    questions: tuple[str, ...] = ()


def read_conversation(path: Path) -> Conversation:
    """Reads a file: JSON in LoCoMo's form (of several conversations the first), else JSONL with a message a line.

    Raises:
        ConversationError: If the file cannot be read or has neither form; says where and why.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ConversationError(f"{path} cannot be read: {error.strerror}") from error
    try:
        whole = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return Conversation(tuple(_lines(raw, path)))
    if isinstance(whole, dict) and "conversation" not in whole:
        return Conversation(tuple(_lines(raw, path)))
    return locomo_conversation(whole, source=str(path))


def locomo_conversation(data: Any, *, source: str) -> Conversation:
    """A conversation in LoCoMo's form: sessions with a date each, turns with ``dia_id``, ``speaker``, ``text``, and a ``qa`` list.

    The whole conversation feeds one user's memory: the one it is named after. A turn's picture joins its text by its caption.

    Args:
        data: One conversation, or a list of which the first is taken.
        source: Names the file in errors.

    Raises:
        ConversationError: If it has another form; says where and why.
    """
    sample = data[0] if isinstance(data, list) and data else data
    try:
        conversation, user = sample["conversation"], str(sample.get("sample_id") or sample["conversation"]["speaker_a"])
        messages = tuple(_locomo_messages(conversation, user))
        questions = tuple(str(each["question"]) for each in sample.get("qa", ()))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ConversationError(f"{source} is not in LoCoMo's form: {type(error).__name__} at {error}") from error
    if not messages:
        raise ConversationError(f"{source} has no sessions with turns")
    return Conversation(messages, questions)


def scenario_sample(scenario: str) -> Conversation:
    """The sample conversation of a scenario that ships with Varve, with questions to it.

    Raises:
        SchemaError: If there is no such scenario.
    """
    questions: dict[str, list[str]] = orjson.loads(resources.files("varve.demo").joinpath("questions.json").read_bytes())
    return Conversation(tuple(sample_conversation(scenario)), tuple(questions.get(scenario, ())))


def _locomo_messages(conversation: Mapping[str, Any], user: str) -> Iterator[dict[str, Any]]:
    first_speaker = conversation["speaker_a"]
    for session in sorted((name for name in conversation if _is_session(name)), key=lambda name: int(name.removeprefix("session_"))):
        start = datetime.strptime(conversation[f"{session}_date_time"], _SESSION_DATE).replace(tzinfo=UTC)
        for index, turn in enumerate(conversation[session]):
            yield {
                "user": user,
                "session": session,
                "id": turn["dia_id"],
                "role": "user" if turn["speaker"] == first_speaker else "assistant",
                "speaker": turn["speaker"],
                "text": _with_caption(turn["text"], turn.get("blip_caption")),
                "event_time": (start + timedelta(seconds=SECONDS_BETWEEN_TURNS * index)).isoformat(),
            }


def _is_session(name: str) -> bool:
    return name.startswith("session_") and name.removeprefix("session_").isdecimal()


def _with_caption(text: str, caption: str | None) -> str:
    return f"{text} [picture: {caption}]".strip() if caption else text


def _lines(raw: bytes, path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(raw.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise ConversationError(f"{path}, line {number}: not JSON: {error}") from error
        if not isinstance(fields, dict):
            raise ConversationError(f"{path}, line {number}: a message is a JSON object, this is {type(fields).__name__}")
        yield fields
