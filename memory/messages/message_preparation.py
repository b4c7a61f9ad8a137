"""Reading of messages in any accepted shape, and their preparation for a window. Pure.

The record in the log stays as it was sent. Windows contain the prepared message: in Varve's own form, without the markup that the tenant's
source uses, and with its time in the user's time zone.

Varve's own form has ``text``, ``tool_call`` and the other fields of :class:`memory.records.Message`, and is returned unchanged. The HTTP
API, the sessions stage and the command line accept the same shapes, because all of them use this module:

- ``content`` (or ``text``) as a string, a list of parts, or one part;
- OpenAI's ``tool_calls``, ``function_call``, and results in messages with the role ``tool`` and a ``tool_call_id``;
- Anthropic's ``tool_use`` and ``tool_result`` blocks;
- OpenAI's items ``function_call`` and ``function_call_output`` of the Responses API;
- the role ``developer``, which becomes ``system``.

See :mod:`memory.messages.message_parts` for their parts.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict, Field

from memory.errors import MalformedRecordError
from memory.messages.markup import Markup, without_markup
from memory.messages.message_parts import Parts, json_type, read_calls, read_content, text_of, tool_call, with_parsed_arguments
from memory.records.message import Message, TimeZoneName
from memory.times import in_zone

FOREIGN_FIELDS: Final = frozenset({"content", "name", "tool_call_id", "function_call", "refusal", "audio"})
"""Fields of OpenAI's and Anthropic's messages that become fields of Varve's form."""
_RESPONSE_FIELDS: Final = frozenset(
    {"annotations", "arguments", "call_id", "container", "model", "output", "reasoning", "reasoning_content", "status", "type", "usage"}
    | {"stop_details", "stop_reason", "stop_sequence"}
)
"""Further fields of their responses and items: left out if the message has their shape, because they state nothing that was said."""

MESSAGE_FIELDS: Final = frozenset(Message.model_fields)
"""The fields of Varve's own form."""

_ROLES: Final = {"developer": "system", "function": "tool"}
_ITEM_CALL: Final = "function_call"
_ITEM_RESULT: Final = "function_call_output"
_MOST_NAMED: Final = 20


def message_of(fields: Any) -> Message:
    """Makes a message of the fields of any accepted shape.

    Raises:
        MalformedRecordError: If the fields are no message, or the message has neither text nor a tool call; names the field.
    """
    if not isinstance(fields, dict):
        return Message.from_fields(fields)
    native = native_fields(fields)
    message = Message.from_fields(native)
    if not message.text.strip() and not message.calls and not message.tool_results:
        raise MalformedRecordError(_emptiness(fields))
    return message


def native_fields(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields in Varve's own form; the same object if they are in it already.

    The function is idempotent. It leaves fields that it does not know unchanged.

    Raises:
        MalformedRecordError: If ``content`` or ``tool_calls`` have no known shape; names the path.
    """
    return fields if is_native(fields) else _converted(fields)


def known_fields(fields: Mapping[str, Any]) -> frozenset[str]:
    """The names of the fields that a message of this shape may have."""
    is_foreign = "content" in fields or fields.get("type") in (_ITEM_CALL, _ITEM_RESULT)
    return MESSAGE_FIELDS | FOREIGN_FIELDS | (_RESPONSE_FIELDS if is_foreign else frozenset())


def is_native(fields: Mapping[str, Any]) -> bool:
    """Whether the fields are in Varve's own form."""
    calls = fields.get("tool_calls", [])
    return (
        isinstance(fields.get("text", ""), str)
        and fields.keys().isdisjoint(FOREIGN_FIELDS)
        and isinstance(calls, list)
        and all(map(_is_native_call, (fields.get("tool_call"), *calls)))
        and fields.get("role") not in tuple(_ROLES)
        and fields.get("type") not in (_ITEM_CALL, _ITEM_RESULT)
        and not _is_bare_result(fields)
    )


def _is_native_call(call: Any) -> bool:
    return not isinstance(call, dict) or not ("function" in call or "custom" in call or isinstance(call.get("arguments"), str))


def _is_bare_result(fields: Mapping[str, Any]) -> bool:
    """Whether the text of the message is the result of a tool that an earlier message called."""
    return fields.get("role") in ("tool", "function") and not any(fields.get(each) for each in ("tool_call", "tool_calls", "tool_results"))


def _converted(fields: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in fields.items() if name not in FOREIGN_FIELDS | {"text", "tool_calls"}}
    if "content" in fields or fields.get("type") in (_ITEM_CALL, _ITEM_RESULT):
        kept = {name: value for name, value in kept.items() if name not in _RESPONSE_FIELDS}
    role = fields.get("role")
    if isinstance(role, str) and role in _ROLES:
        kept["role"] = _ROLES[role]
    parts = Parts()
    read_content(parts, fields)
    read_calls(parts, fields)
    _read_item(parts, fields, kept)
    name = fields.get("name") if fields.get("type") != _ITEM_CALL else None
    if name is not None and kept.get("speaker") is None:
        kept["speaker"] = name
    kept["text"] = parts.text
    if _is_bare_result(fields) and not parts.calls and not parts.results and parts.text.strip():
        parts.results.append({"call_id": _call_id(fields), "name": kept.get("speaker"), "content": parts.text})
        kept["text"] = ""
    if fields.get("tool_call") is not None:
        if parts.calls:
            raise MalformedRecordError("tool_calls: the message also has tool_call; give one of them")
        parts.calls.append(with_parsed_arguments(fields["tool_call"]))
    kept.pop("tool_call", None)
    if len(parts.calls) == 1:
        kept["tool_call"] = parts.calls[0]
    elif parts.calls:
        kept["tool_calls"] = parts.calls
    if parts.results:
        given = fields.get("tool_results") or []
        if not isinstance(given, list):
            raise MalformedRecordError(f"tool_results: give a list, not {json_type(given)}")
        kept["tool_results"] = [*given, *parts.results]
    return kept


def _read_item(parts: Parts, fields: Mapping[str, Any], kept: dict[str, Any]) -> None:
    """Reads an item of the Responses API that is a call or a result."""
    if fields.get("type") == _ITEM_CALL:
        kept["role"] = "assistant"
        parts.calls.append(tool_call(fields.get("call_id"), fields.get("name"), fields.get("arguments")))
    elif fields.get("type") == _ITEM_RESULT:
        kept["role"] = "tool"
        parts.results.append({"call_id": fields.get("call_id"), "content": text_of(fields.get("output"), "output")})


def _call_id(fields: Mapping[str, Any]) -> Any:
    metadata = fields.get("metadata")
    return fields.get("tool_call_id") or (metadata.get("tool_call_id") if isinstance(metadata, dict) else None)


def _emptiness(fields: Mapping[str, Any]) -> str:
    """Why a message states nothing, with the fields that may hold the text under another name, and how to delete a message."""
    for name in ("content", "text"):
        if isinstance(fields.get(name), list | dict):
            return f"{name}: it holds no text and no tool call; leave this message out"
    unknown = sorted(name for name, value in fields.items() if name not in known_fields(fields) and isinstance(value, str | list | dict))
    hint = f"; {', '.join(unknown[:_MOST_NAMED])}: unknown, write what was said into text" if unknown else ""
    return f"text: a message needs text (or content) or a tool call{hint}; to delete a message, send DELETE /v1/messages/SESSION/ID"


class MessageSettings(BaseModel):
    """A tenant's settings for messages."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    time_zone: TimeZoneName | None = None
    """Time zone of messages that name none. Default: the UTC offset of each ``event_time``."""
    unescape: tuple[Markup, ...] = Field(default=(), max_length=2)
    """Markup that is removed from texts before windows are formed: ``html``, ``slack``. Default: none."""


class LoggedMessage(NamedTuple):
    """A message as its record states it."""

    message: Message
    is_native: bool
    """Whether the record has Varve's own form, so that its bytes can be used as they are."""


def read_message(raw: bytes) -> LoggedMessage:
    """Reads a message of any accepted shape from its record.

    Raises:
        UnsupportedVersionError: If its major version is newer than this code's.
        MalformedRecordError: If the bytes are no message, or the message states nothing; names the field.
    """
    try:
        fields = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise MalformedRecordError(f"Message: not JSON in UTF-8: {error}") from error
    return LoggedMessage(message_of(fields), isinstance(fields, dict) and is_native(fields))


def prepared(raw: bytes, logged: LoggedMessage, settings: MessageSettings, *, identity: str) -> tuple[Message, bytes]:
    """A message as windows contain it, and its bytes.

    Args:
        raw: The record in the log.
        logged: The message in it.
        settings: The tenant's settings.
        identity: The message's id.

    Returns:
        The record's own bytes, if there is nothing to change.

    Raises:
        MalformedRecordError: If JSON cannot contain the value of a field.
    """
    message = logged.message
    changes: dict[str, object] = {}
    if message.id is None:
        changes["id"] = identity
    text = without_markup(message.text, settings.unescape) if settings.unescape else message.text
    if text != message.text and text.strip():
        changes["text"] = text
    zone = message.time_zone or settings.time_zone
    if zone is not None:
        local = in_zone(message.event_time, zone)
        if local.utcoffset() != message.event_time.utcoffset():
            changes["event_time"] = local
    if not changes:
        return message, raw if logged.is_native else message.to_json()
    message = message.model_copy(update=changes)
    return message, message.to_json()
