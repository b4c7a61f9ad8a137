"""Conversations: from files (messages, exports of chat services, the form of the LoCoMo benchmark), and the scenarios' samples."""

import codecs
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any, Final

import orjson

from memory.errors import RecordError
from memory.messages.message_parts import json_type
from memory.messages.message_preparation import native_fields
from memory.schema import sample_conversation
from varve.errors import ConversationError
from varve.imports.chat_exports import chatgpt_messages, claude_messages, is_chatgpt_export, is_claude_export

SECONDS_BETWEEN_TURNS: Final = 20
"""LoCoMo dates sessions, not turns."""
_SESSION_DATE: Final = "%I:%M %p on %d %B, %Y"
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ARCHIVES: Final = (
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"%PDF", "a PDF"),
    (b"SQLite format 3", "a database"),
)
_LOOKED_AT: Final = 1024
_MOST_NAMED: Final = 8
_SIGNS_OF_MESSAGE: Final = frozenset({"text", "content", "role", "tool_call", "tool_calls", "user", "session"})
_WHAT_TO_SEND: Final = (
    "Send JSONL with a message per line, a JSON array of messages, conversations.json of a ChatGPT or Claude export, or a LoCoMo file"
)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages, and questions that they answer."""

    messages: tuple[dict[str, Any], ...]
    """The fields of a :class:`memory.records.Message` except the tenant, in order."""
    questions: tuple[str, ...] = ()
    left_out: int = 0
    """Number of messages with neither text nor a tool call."""


def read_conversation(path: Path, *, user: str | None = None, session: str | None = None) -> Conversation:
    """Reads a file of messages: a message a line, an array of messages, an export of ChatGPT or Claude, or a conversation of LoCoMo.

    The messages may have the shapes of OpenAI's and Anthropic's APIs. The text may be UTF-8 or UTF-16, with or without a byte order mark.

    Args:
        path: The file.
        user: The user of messages that name none.
        session: The session of messages that name none.

    Raises:
        ConversationError: If the file cannot be read, or has another form; says what it is and what to do.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ConversationError(f"{path} cannot be read: {error.strerror}") from error
    text = _decoded(raw, path)
    try:
        whole = orjson.loads(text)
    except orjson.JSONDecodeError:
        found = list(_lines(text, path))
    else:
        if _is_locomo(whole):
            return locomo_conversation(whole, source=str(path))
        found = list(_messages_of(whole, str(path)))
    if not found:
        raise ConversationError(f"{path} has no messages. {_WHAT_TO_SEND}")
    defaults = {name: value for name, value in (("user", user), ("session", session)) if value is not None}
    messages = [{**defaults, **{name: value for name, value in each.items() if value is not None or name == "content"}} for each in found]
    _require_names(messages, path)
    stated = tuple(each for each in messages if not _states_nothing(each))
    return Conversation(stated, left_out=len(messages) - len(stated))


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
        problem = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise ConversationError(f"{source} is not in LoCoMo's form: {problem}") from error
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


def _decoded(raw: bytes, path: Path) -> str:
    kind = next((kind for start, kind in _ARCHIVES if raw.startswith(start)), None)
    if kind is not None:
        raise ConversationError(f"{path} is {kind}: unpack it first, and send the JSON file in it (of an export, conversations.json)")
    encoding = next((encoding for mark, encoding in _MARKS if raw.startswith(mark)), None)
    if encoding is None:
        start = raw[:_LOOKED_AT]
        zeros = start[::2].count(0), start[1::2].count(0)
        encoding = "utf-8" if not any(zeros) else "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
    try:
        return raw.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ConversationError(
            f"{path} is not text in UTF-8 or UTF-16 (byte {error.start}): convert it, for example with `iconv -f WINDOWS-1252 -t UTF-8`"
        ) from error


def _is_locomo(whole: Any) -> bool:
    sample = whole[0] if isinstance(whole, list) and whole else whole
    return isinstance(sample, dict) and "conversation" in sample


def _messages_of(value: Any, place: str) -> Iterator[dict[str, Any]]:
    """The messages of a parsed file: one, a list, an object with ``messages``, or an export."""
    if isinstance(value, list):
        for number, each in enumerate(value, start=1):
            if is_chatgpt_export(each):
                yield from chatgpt_messages(each, number)
            elif is_claude_export(each):
                yield from claude_messages(each, number)
            else:
                yield from _messages_of_item(each, f"{place}, item {number}")
    elif is_chatgpt_export(value):
        yield from chatgpt_messages(value, 1)
    elif is_claude_export(value):
        yield from claude_messages(value, 1)
    else:
        yield from _messages_of_item(value, place)


def _messages_of_item(value: Any, place: str) -> Iterator[dict[str, Any]]:
    if not isinstance(value, dict):
        raise ConversationError(f"{place}: a message is a JSON object, this is {json_type(value)}. {_WHAT_TO_SEND}")
    if isinstance(value.get("messages"), list) and not value.keys() & {"text", "content"}:
        names = {name: value[name] for name in ("user", "session") if isinstance(value.get(name), str)}
        for number, each in enumerate(value["messages"], start=1):
            for message in _messages_of_item(each, f"{place}, message {number}"):
                yield {**names, **message}
        return
    if not value.keys() & _SIGNS_OF_MESSAGE:
        fields = ", ".join(sorted(value)[:_MOST_NAMED]) or "no fields"
        raise ConversationError(f"{place} is a JSON object with {fields}, which is not a message. {_WHAT_TO_SEND}")
    yield value


def _require_names(messages: Sequence[Mapping[str, Any]], path: Path) -> None:
    for number, each in enumerate(messages, start=1):
        for name in ("user", "session"):
            if name not in each:
                raise ConversationError(f"{path}, message {number} names no {name}: add it to the message, or give --{name} NAME")


def _states_nothing(fields: Mapping[str, Any]) -> bool:
    """Whether a message has a known shape and neither text nor a tool call. The service validates everything else."""
    if not fields.keys() & {"text", "content"}:
        return False
    try:
        native = native_fields(fields)
    except RecordError:
        return False
    text = native.get("text")
    return (text is None or (isinstance(text, str) and not text.strip())) and not any(
        native.get(name) for name in ("tool_call", "tool_calls", "tool_results")
    )


def _lines(text: str, path: Path) -> Iterator[dict[str, Any]]:
    number = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise ConversationError(f"{path}, line {number}: not JSON: {error}. {_WHAT_TO_SEND}") from error
        yield from _messages_of(value, f"{path}, line {number}")
