"""Replaces binary data in texts (data URIs, long runs of base64 or hex digits) by a placeholder such as ``[image, 90 kB]``.

Binary data is no text: embedded, it displaces what was said around it, and a model is billed for it by the token. The functions are
idempotent, and cheap for texts without such data.
"""

import re
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from memory.records.message import Message, ToolCall

_LEAST_CHARACTERS: Final = 200
"""Shorter runs are ids, hashes and links."""
_MAX_DEPTH: Final = 20
_BASE64: Final = r"A-Za-z0-9+/_\-"
_DATA_URI: Final = re.compile(
    rf"data:(?P<type>[a-z]+/[\w.+-]+)?(?:;(?!base64,)[\w=.+-]+)*(?:;base64,(?P<base64>[{_BASE64}%]*(?:\s*\n\s*[{_BASE64}%]{{40,}})*={{0,2}})"
    rf"|,(?P<text>[^\s\"'<>()]{{40,}}))",
    re.IGNORECASE,
)
_LINES: Final = re.compile(rf"(?<![{_BASE64}])[{_BASE64}]{{60,}}={{0,2}}(?:[ \t]*\r?\n[ \t]*[{_BASE64}]{{4,}}={{0,2}}(?=\s|$))*")
"""A run of base64 or hex digits, possibly wrapped into lines."""
_HEX: Final = re.compile(r"[0-9a-fA-F\s]+")
_LEAST_SHARE: Final = {"lower": 0.15, "upper": 0.15, "digit": 0.04}
"""Least share of each kind of character in base64; random data has 0.41, 0.41 and 0.16. A path or a repeated word has less."""
_MOST_SIGNS: Final = 0.12
_SIGNATURES: Final = {"iVBORw0KGgo": "image", "/9j/": "image", "R0lGOD": "image", "UklGR": "image", "JVBERi0": "file", "UEsDB": "file"}
"""First characters of PNG, JPEG, GIF, WebP, PDF and ZIP in base64."""
_KINDS: Final = frozenset({"image", "audio", "video"})
_PLACEHOLDER: Final = re.compile(r"\[(?:image|audio|video|file|binary data), \d+ (?:bytes|kB|MB)\]")


def without_binary(text: str) -> str:
    """The text with a placeholder for each piece of binary data in it."""
    if len(text) < _LEAST_CHARACTERS:
        return text
    if "data:" in text or "DATA:" in text:
        text = _DATA_URI.sub(_uri_placeholder, text)
    return _LINES.sub(_run_placeholder, text) if len(text) >= _LEAST_CHARACTERS else text


def without_placeholders(text: str) -> str:
    """The text without the placeholders of :func:`without_binary`, which say nothing to search for."""
    parts = _PLACEHOLDER.split(text) if "[" in text else [text]
    return text if len(parts) == 1 else " ".join(part.strip(" \t") for part in parts).strip()


def message_without_binary(message: Message) -> Message:
    """The message with placeholders in its text and in the values of its tool call; the same object if it has no binary data."""
    text, call = without_binary(message.text), message.tool_call
    changed: dict[str, object] = {} if text == message.text else {"text": text}
    if call is not None and (values := _changed_values(call)):
        changed["tool_call"] = call.model_copy(update=values)
    return message.model_copy(update=changed) if changed else message


def _changed_values(call: ToolCall) -> dict[str, JsonValue]:
    values: dict[str, JsonValue] = {"arguments": call.arguments, "result": call.result, "error": call.error}
    replaced = {name: _without_binary_values(value, 0) for name, value in values.items()}
    return {name: value for name, value in replaced.items() if value is not values[name]}


def _without_binary_values(value: JsonValue, depth: int) -> JsonValue:
    """The value with placeholders in its texts; the same object if nothing was replaced."""
    if isinstance(value, str):
        text = without_binary(value)
        return value if text == value else text
    if depth >= _MAX_DEPTH:
        return value
    if isinstance(value, list):
        items = [_without_binary_values(each, depth + 1) for each in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if isinstance(value, Mapping):
        fields = {name: _without_binary_values(each, depth + 1) for name, each in value.items()}
        return fields if any(fields[name] is not value[name] for name in fields) else value
    return value


def _uri_placeholder(found: re.Match[str]) -> str:
    data = found["base64"]
    if data is None:
        return _placeholder(_kind_of_type(found["type"] or ""), len(found["text"]))
    return _placeholder(_kind_of_type(found["type"] or ""), len(data) * 3 // 4)


def _run_placeholder(found: re.Match[str]) -> str:
    run = found.group()
    digits = "".join(run.split())
    if len(digits) < _LEAST_CHARACTERS:
        return run
    if _HEX.fullmatch(digits) and len(set(digits)) > 4:
        return _placeholder("binary data", len(digits) // 2)
    if not _is_base64(digits):
        return run
    kind = next((kind for start, kind in _SIGNATURES.items() if digits.startswith(start)), "binary data")
    return _placeholder(kind, len(digits) * 3 // 4)


def _is_base64(digits: str) -> bool:
    length = len(digits)
    counts = {
        "lower": sum(map(str.islower, digits)),
        "upper": sum(map(str.isupper, digits)),
        "digit": sum(map(str.isdigit, digits)),
    }
    return (
        all(counts[kind] >= share * length for kind, share in _LEAST_SHARE.items()) and sum(counts.values()) >= (1 - _MOST_SIGNS) * length
    )


def _kind_of_type(media_type: str) -> str:
    kind = media_type.partition("/")[0].lower()
    return kind if kind in _KINDS else "file"


def _placeholder(kind: str, size: int) -> str:
    if size < 1000:
        return f"[{kind}, {size} bytes]"
    return f"[{kind}, {round(size / 1000)} kB]" if size < 999_500 else f"[{kind}, {round(size / 1_000_000)} MB]"
