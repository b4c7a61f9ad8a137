"""Reads the parts of OpenAI's and Anthropic's messages: texts, media, tool calls and results. Pure.

Images, audio and files become placeholders, never data. A model's reasoning is left out, because it is not part of the conversation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from memory.errors import MalformedRecordError
from memory.records.limits import MAX_NESTING
from memory.texts.text import shortened

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
_LONGEST_FILE_NAME: Final = 120


@dataclass(slots=True)
class Parts:
    """The parts of a message."""

    texts: list[str] = field(default_factory=list)
    calls: list[Any] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    is_of_result: bool = False
    """Whether they are the content of a tool's result."""
    is_cut: bool = False
    """Whether the last text ends inside a sentence: Anthropic cuts a text with citations into parts."""

    def add_text(self, text: str, *, is_cited: bool = False) -> None:
        """Adds a text on its own line, or continues the last one where a citation begins or ends."""
        if self.texts and (is_cited or self.is_cut):
            self.texts[-1] += text
        elif text:
            self.texts.append(text)
        self.is_cut = is_cited

    @property
    def text(self) -> str:
        """All texts."""
        return "\n".join(self.texts)


def read_content(parts: Parts, fields: Mapping[str, Any]) -> None:
    """Adds the content or text of a message, its audio and its refusal."""
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


def _read_parts(parts: Parts, value: Any, path: str) -> None:
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


def _read_part(parts: Parts, part: Any, path: str) -> None:
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
        parts.calls.append(tool_call(part.get("id"), part.get("name"), part.get("input")))
    elif kind.endswith(_RESULT):
        if parts.is_of_result:
            raise MalformedRecordError(f"{path}.type: a result contains no other result")
        parts.results.append(_result(part, kind, path))
    elif kind not in _THOUGHTS:
        parts.add_text(_media(part, kind, path))


def read_calls(parts: Parts, fields: Mapping[str, Any]) -> None:
    """Adds the calls in OpenAI's ``tool_calls`` and ``function_call``."""
    calls, call = fields.get("tool_calls"), fields.get("function_call")
    if calls is not None and not isinstance(calls, list):
        raise MalformedRecordError(f"tool_calls: give a list, not {json_type(calls)}")
    for index, element in enumerate(calls or ()):
        parts.calls.append(_call_of_element(element, f"tool_calls.{index}"))
    if call is not None:
        parts.calls.append(_call_of_element({"function": call}, "function_call"))


def _call_of_element(element: Any, path: str) -> Any:
    """A tool call in OpenAI's form (``function`` or ``custom``), or in Varve's own."""
    if not isinstance(element, dict):
        raise MalformedRecordError(f"{path}: a tool call is an object, not {json_type(element)}")
    function = element.get("function", element.get("custom"))
    if function is None:
        return with_parsed_arguments(element)
    if not isinstance(function, dict):
        raise MalformedRecordError(f"{path}.function: give an object, not {json_type(function)}")
    return tool_call(element.get("id"), function.get("name"), function.get("arguments", function.get("input")))


def tool_call(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    """A tool call in Varve's own form."""
    return {"id": call_id, "name": name, "arguments": _parsed(arguments)}


def with_parsed_arguments(call: Any) -> Any:
    """A tool call with its arguments as an object."""
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
        "content": _without_data(content, f"{path}.content") if is_of_own_tool else text_of(content, f"{path}.content"),
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


def text_of(content: Any, path: str) -> str:
    """The text of a tool's result."""
    parts = Parts(is_of_result=True)
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
