"""Conversion of OpenAI's and Anthropic's messages to Varve's own fields. Pure.

Varve's own form has ``text``, ``tool_call`` and the other fields of :class:`memory.records.Message`, and is returned unchanged. The HTTP
API, the sessions stage and the command line accept the same shapes, because all of them use this module:

- ``content`` (or ``text``) as a string, a list of parts, or one part;
- OpenAI's ``tool_calls``, ``function_call``, and results in messages with the role ``tool`` and a ``tool_call_id``;
- Anthropic's ``tool_use`` and ``tool_result`` blocks;
- OpenAI's items ``function_call`` and ``function_call_output`` of the Responses API;
- the role ``developer``, which becomes ``system``.

Images, audio and files become placeholders, never data. A model's thoughts are left out, because nobody said them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from memory.errors import MalformedRecordError
from memory.records.limits import MAX_NESTING
from memory.records.message import Message
from memory.text import shortened

FOREIGN_FIELDS: Final = frozenset({"content", "name", "tool_call_id", "function_call", "refusal", "audio"})
"""Fields of OpenAI's and Anthropic's messages that become fields of Varve's form."""
_RESPONSE_FIELDS: Final = frozenset(
    {"annotations", "arguments", "call_id", "container", "model", "output", "reasoning", "reasoning_content", "status", "type", "usage"}
    | {"stop_details", "stop_reason", "stop_sequence"}
)
"""Further fields of their responses and items: left out if the message has their shape, because they state nothing that was said."""

_NATIVE_FIELDS: Final = frozenset(Message.model_fields)

_ROLES: Final = {"developer": "system", "function": "tool"}
_TEXT_PARTS: Final = frozenset({"text", "input_text", "output_text"})
_IMAGES: Final = frozenset({"image", "image_url", "input_image", "image_file", "computer_screenshot"})
_AUDIO: Final = frozenset({"audio", "input_audio", "output_audio", "audio_url"})
_VIDEOS: Final = frozenset({"video", "video_url", "input_video"})
_FILES: Final = frozenset({"file", "input_file", "document", "container_upload", "file_url"})
_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking", "reasoning"})
_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_RESULT: Final = "tool_result"
"""Also the end of the names of results of Anthropic's own tools."""
_DATA: Final = frozenset({"data", "encrypted_content", "encrypted_index", "encrypted_stdout", "file_data"})
_KNOWN_PARTS: Final = "text, image_url, image, input_audio, file, document, tool_use and tool_result"
_ITEM_CALL: Final = "function_call"
_ITEM_RESULT: Final = "function_call_output"
_LONGEST_FILE_NAME: Final = 120
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
    return _NATIVE_FIELDS | FOREIGN_FIELDS | (_RESPONSE_FIELDS if is_foreign else frozenset())


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


@dataclass(slots=True)
class _Parts:
    """The parts of a message."""

    texts: list[str] = field(default_factory=list)
    calls: list[Any] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    is_of_result: bool = False
    """Whether they are the content of a tool's result."""
    is_cut: bool = False
    """Whether the last text ends inside a sentence: Anthropic cuts a text with citations into parts."""

    def add_text(self, text: str, *, is_cited: bool = False) -> None:
        """Adds a text on a line of its own, or continues the last one where a citation begins or ends."""
        if self.texts and (is_cited or self.is_cut):
            self.texts[-1] += text
        elif text:
            self.texts.append(text)
        self.is_cut = is_cited

    @property
    def text(self) -> str:
        """All texts."""
        return "\n".join(self.texts)


def _converted(fields: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in fields.items() if name not in FOREIGN_FIELDS | {"text", "tool_calls"}}
    if "content" in fields or fields.get("type") in (_ITEM_CALL, _ITEM_RESULT):
        kept = {name: value for name, value in kept.items() if name not in _RESPONSE_FIELDS}
    role = fields.get("role")
    if isinstance(role, str) and role in _ROLES:
        kept["role"] = _ROLES[role]
    parts = _Parts()
    _read_content(parts, fields)
    _read_calls(parts, fields)
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
        parts.calls.append(_with_parsed_arguments(fields["tool_call"]))
    kept.pop("tool_call", None)
    if len(parts.calls) == 1:
        kept["tool_call"] = parts.calls[0]
    elif parts.calls:
        kept["tool_calls"] = parts.calls
    if parts.results:
        kept["tool_results"] = [*(fields.get("tool_results") or ()), *parts.results]
    return kept


def _read_content(parts: _Parts, fields: Mapping[str, Any]) -> None:
    text, content = fields.get("text"), fields.get("content")
    if text not in (None, "") and content not in (None, "", text):
        raise MalformedRecordError("content: the message also has text; give one of them")
    if content not in (None, ""):
        _read_parts(parts, content, "content")
    else:
        _read_parts(parts, text, "text")
    audio, refusal = fields.get("audio"), fields.get("refusal")
    if isinstance(audio, dict):
        parts.add_text(_media(audio, "audio", "audio"))
    if isinstance(refusal, str):
        parts.add_text(refusal)


def _read_parts(parts: _Parts, value: Any, path: str) -> None:
    match value:
        case None:
            return
        case str():
            parts.add_text(value)
        case list():
            for index, part in enumerate(value):
                _read_part(parts, part, f"{path}.{index}")
        case dict():
            _read_part(parts, value, path)
        case _:
            raise MalformedRecordError(f"{path}: give a string, a list of parts or one part, not {json_type(value)}")


def _read_part(parts: _Parts, part: Any, path: str) -> None:
    if isinstance(part, str):
        parts.add_text(part)
        return
    if not isinstance(part, dict):
        raise MalformedRecordError(f"{path}: a part is a string or an object, not {json_type(part)}")
    kind = part.get("type", "text" if "text" in part else None)
    if not isinstance(kind, str):
        raise MalformedRecordError(f"{path}.type: give the type of the part; known types are {_KNOWN_PARTS}")
    if kind in _TEXT_PARTS:
        parts.add_text(_string_at(part, "text", path), is_cited=bool(part.get("citations")))
    elif kind == "refusal":
        parts.add_text(_string_at(part, "refusal", path))
    elif kind in _CALLS:
        parts.calls.append(_call(part.get("id"), part.get("name"), part.get("input")))
    elif kind.endswith(_RESULT):
        if parts.is_of_result:
            raise MalformedRecordError(f"{path}.type: a result contains no other result")
        parts.results.append(_result(part, kind, path))
    elif kind not in _THOUGHTS:
        parts.add_text(_media(part, kind, path))


def _read_calls(parts: _Parts, fields: Mapping[str, Any]) -> None:
    calls, call = fields.get("tool_calls"), fields.get("function_call")
    if calls is not None and not isinstance(calls, list):
        raise MalformedRecordError(f"tool_calls: give a list, not {json_type(calls)}")
    for index, element in enumerate(calls or ()):
        parts.calls.append(_call_of_element(element, f"tool_calls.{index}"))
    if call is not None:
        parts.calls.append(_call_of_element({"function": call}, "function_call"))


def _read_item(parts: _Parts, fields: Mapping[str, Any], kept: dict[str, Any]) -> None:
    """Reads an item of the Responses API that is a call or a result."""
    if fields.get("type") == _ITEM_CALL:
        kept["role"] = "assistant"
        parts.calls.append(_call(fields.get("call_id"), fields.get("name"), fields.get("arguments")))
    elif fields.get("type") == _ITEM_RESULT:
        kept["role"] = "tool"
        parts.results.append({"call_id": fields.get("call_id"), "content": _text_of(fields.get("output"), "output")})


def _call_of_element(element: Any, path: str) -> Any:
    """A tool call in OpenAI's form (``function`` or ``custom``), or in Varve's own."""
    if not isinstance(element, dict):
        raise MalformedRecordError(f"{path}: a tool call is an object, not {json_type(element)}")
    function = element.get("function", element.get("custom"))
    if function is None:
        return _with_parsed_arguments(element)
    if not isinstance(function, dict):
        raise MalformedRecordError(f"{path}.function: give an object, not {json_type(function)}")
    return _call(element.get("id"), function.get("name"), function.get("arguments", function.get("input")))


def _call(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "name": name, "arguments": _parsed(arguments)}


def _with_parsed_arguments(call: Any) -> Any:
    return {**call, "arguments": _parsed(call.get("arguments"))} if isinstance(call, dict) else call


def _parsed(arguments: Any) -> Any:
    """Arguments as an object, if they are its JSON."""
    if not isinstance(arguments, str):
        return arguments
    try:
        value = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return arguments or None
    return value if isinstance(value, dict | list) else arguments


def _result(part: Mapping[str, Any], kind: str, path: str) -> dict[str, Any]:
    content = part.get("content")
    is_of_own_tool = kind != _RESULT and isinstance(content, dict | list)
    result = {
        "call_id": part.get("tool_use_id"),
        "content": _without_data(content, f"{path}.content") if is_of_own_tool else _text_of(content, f"{path}.content"),
    }
    return result if part.get("is_error") is None else {**result, "success": not part["is_error"]}


def _without_data(value: Any, path: str, room: int = MAX_NESTING) -> Any:
    """A result of one of Anthropic's own tools without encrypted and binary content."""
    if not isinstance(value, dict | list):
        return value
    if not room:
        raise MalformedRecordError(f"{path}: lists and objects may be nested at most {MAX_NESTING} deep")
    if isinstance(value, dict):
        return {name: _without_data(each, path, room - 1) for name, each in value.items() if name not in _DATA}
    return [_without_data(each, path, room - 1) for each in value]


def _text_of(content: Any, path: str) -> str:
    parts = _Parts(is_of_result=True)
    _read_parts(parts, content, path)
    return parts.text


def _media(part: Mapping[str, Any], kind: str, path: str) -> str:
    if kind in _IMAGES:
        return "[image]"
    if kind in _AUDIO:
        transcript = part.get("transcript")
        return transcript if isinstance(transcript, str) and transcript else "[audio]"
    if kind in _VIDEOS:
        return "[video]"
    if kind in _FILES:
        inner = part.get("file")
        named = {**part, **inner} if isinstance(inner, dict) else part
        return _placeholder("file", named.get("filename") or named.get("title"))
    if kind == "search_result":
        return _placeholder("search result", part.get("title"))
    raise MalformedRecordError(f"{path}.type: {kind!r} is not a known type of part; known types are {_KNOWN_PARTS}")


def _placeholder(kind: str, name: Any) -> str:
    if not isinstance(name, str) or not name.strip():
        return f"[{kind}]"
    return f"[{kind} {shortened(' '.join(name.split()), _LONGEST_FILE_NAME)}]"


def _string_at(part: Mapping[str, Any], name: str, path: str) -> str:
    value = part.get(name)
    if not isinstance(value, str):
        raise MalformedRecordError(f"{path}.{name}: give a string, not {json_type(value)}")
    return value


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


def json_type(value: object) -> str:
    """Name of the type of a parsed JSON value."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return "a number"
