"""Messages of chat completions as OpenAI's API takes and returns them, in JSON or JSON lines.

An item is a message, or a conversation: an object with ``messages``, such as a request, a line of a fine-tuning or batch file, or a stored
completion. The messages of an answer (``choices``) follow those of the request. The API's messages have neither times nor ids: the time is
that of the message, of its conversation, or else the one that the options give.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from memory.errors import RecordError
from memory.messages.message_preparation import message_of
from varve.errors import ImportFileError, UnreadableTimeError
from varve.imports.files import ExportFile, Item
from varve.imports.messages import (
    NO_TEXT,
    Found,
    ImportOptions,
    Skipped,
    another_form,
    content_id,
    named,
    recordable,
    time_of,
    unreadable_time,
)

_TIMES: Final = ("event_time", "created_at", "created", "timestamp")
_NAMES: Final = ("session", "conversation_id", "session_id", "thread_id", "id", "custom_id")
_OWN_FIELDS: Final = ("user", "session", "id", "speaker", "time_zone", "metadata", "automated")
_API_FIELDS: Final = (
    *("role", "content", "text", "name", "tool_calls", "tool_call_id", "function_call", "refusal", "audio", "tool_call", "tool_results"),
    *("type", "arguments", "call_id", "output"),
)
_STEP: Final = timedelta(seconds=1)
"""Between messages that have one time together, so that their order can be seen."""


def openai_messages(file: ExportFile, options: ImportOptions) -> Iterator[Found]:
    """The messages of a file, in order.

    Raises:
        ImportFileError: If an item is no message and no conversation, or its user or time is unknown; says where and what to do.
    """
    untimed = 0
    for number, item in enumerate(file.items(), start=1):
        fields = _body(item.value)
        is_conversation = isinstance(fields, list) or (isinstance(fields, Mapping) and isinstance(fields.get("messages"), list))
        head = {**item.value, **fields} if is_conversation and isinstance(fields, Mapping) else {}
        messages = _messages(item.value) if is_conversation else [fields]
        defaults = {
            "user": head.get("user") or options.user,
            "session": _session(head, options, number) if is_conversation else options.session,
        }
        time = _first(head, _TIMES)
        for index, each in enumerate(messages, start=1):
            at = Item(each, f"{item.place}, message {index}" if is_conversation else item.place)
            if not isinstance(each, Mapping) or not each.keys() & {"content", "text", "tool_calls", "function_call", "type"}:
                raise another_form("a message (an object with role and content) or a conversation (an object with messages)", at)
            own = _first(each, _TIMES)
            try:
                if own is not None:
                    found = time_of(own, at)
                elif time is not None:
                    found = _later(time_of(time, item), index - 1, at)
                else:
                    found = _start(options, untimed, at)
                    untimed += 1
            except UnreadableTimeError as error:
                yield unreadable_time(error)
                continue
            yield _message(each, defaults, found, at, index if is_conversation else number)


def _message(fields: Mapping[str, Any], defaults: Mapping[str, Any], time: str | None, item: Item, index: int) -> Found:
    known = {name: fields[name] for name in (*_API_FIELDS, *_OWN_FIELDS) if fields.get(name) is not None}
    sent = named({**{name: value for name, value in defaults.items() if value}, **known}, item) | {"event_time": time}
    try:
        message = message_of({**sent, "tenant": "import"})
    except RecordError as error:
        if _is_empty(fields):
            return Skipped(NO_TEXT)
        raise ImportFileError(f"{item.place}: {error}") from error
    native = message.model_dump(mode="json", exclude_defaults=True, exclude={"tenant", "event_time"})
    native |= {"role": message.role, "text": message.text, "event_time": time}
    return {
        **native,
        "id": native.get("id") or f"{content_id({**native, 'text': [message.text, native.get('tool_calls')]}, str(time))}-{index}",
    }


def _body(value: Any) -> Any:
    """The request of a line of a batch file, or the value itself."""
    return value["body"] if isinstance(value, Mapping) and isinstance(value.get("body"), Mapping) else value


def _messages(value: Any) -> list[Any]:
    """The messages of a conversation, and those of its answer."""
    fields = _body(value)
    if isinstance(fields, list):
        return fields
    answer = fields.get("response") if isinstance(fields.get("response"), Mapping) else fields
    choices = answer.get("choices") if isinstance(answer, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    said = first.get("message") if isinstance(first, Mapping) else None
    return [*fields["messages"], *([said] if said else [])]


def _session(head: Mapping[str, Any], options: ImportOptions, number: int) -> str:
    name = _first(head, _NAMES)
    return str(name) if name is not None else f"{options.session or 'openai'}-{number}"


def _first(fields: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((fields[name] for name in names if fields.get(name) not in (None, "")), None)


def _start(options: ImportOptions, count: int, item: Item) -> str:
    if options.start is None:
        raise ImportFileError(f"{item.place} has no time: give --start TIME, the time of the first message, such as 2024-05-31T09:00:00Z")
    return recordable(recordable(options.start, item) + count * _STEP, item).isoformat()


def _later(time: str | None, count: int, item: Item) -> str | None:
    return None if time is None else recordable(datetime.fromisoformat(time) + count * _STEP, item).isoformat()


def _is_empty(fields: Mapping[str, Any]) -> bool:
    return all(
        fields.get(name) in (None, "", []) or (isinstance(fields[name], str) and not fields[name].strip()) for name in ("content", "text")
    ) and not any(fields.get(name) for name in ("tool_calls", "function_call", "tool_results", "tool_call"))
