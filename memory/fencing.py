"""Makes text that somebody else wrote safe to show to a model: one line each, inside a fence that no text can close."""

import hashlib
import re
from collections.abc import Sequence
from typing import Final

import orjson
from pydantic import JsonValue

_LINE_BREAKS: Final = re.compile(r"[ \t]*(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])[ \t]*")
_INVISIBLE: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_TAGS: Final = "s|bos|eos|pad|unk|start_of_turn|end_of_turn|start_of_image|think|thinking|reasoning|tool_call|tool_response|seed:[a-z_]+"
_BRACKETS: Final = "INST|SYSTEM_PROMPT|THINK|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_CONTENT|TOOL_RESULTS|gMASK"
_CHAT_TOKENS: Final = re.compile(
    rf"<(?=[|｜])|<(?=[a-z_]{{1,32}}\|>)|<(?=/?(?:{_TAGS})>)|\[(?=/?(?:{_BRACKETS})\])|<(?=</?SYS>>)",
    re.IGNORECASE,
)
"""How they begin: ChatML and Llama 3 (``<|``), DeepSeek and Hunyuan (``<｜``), Gemma (``<end_of_turn>``, ``<turn|>``), Mistral (``[``)."""
_UNSAFE_IN_JSON: Final = re.compile(f"[\\x85\\u2028\\u2029]|{_INVISIBLE.pattern}|{_CHAT_TOKENS.pattern}", re.IGNORECASE)
_NONCE_LENGTH: Final = 8


def one_line(text: str) -> str:
    """The text as one line that holds no line break, no invisible mark and none of the tokens that chat templates are made of."""
    flat = _LINE_BREAKS.sub(r"\\n", text.strip()).replace("\t", " ")
    return _CHAT_TOKENS.sub(lambda found: "‹" if found.group() == "<" else "(", _INVISIBLE.sub("", flat))


def one_line_json(value: JsonValue) -> str:
    """The value's JSON, as safe as :func:`one_line` makes a text. What it would remove is escaped: a copy reads as the same value."""
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found.group()):04x}", orjson.dumps(value).decode())


def nonce_of(texts: Sequence[str]) -> str:
    """Eight hex digits that follow from the texts and stand in none of them."""
    digest = hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass"))
    while any(digest.hexdigest()[:_NONCE_LENGTH] in text for text in texts):
        digest.update(b"again")
    return digest.hexdigest()[:_NONCE_LENGTH]


def fenced(name: str, lines: Sequence[str], nonce: str) -> str:
    """The lines between an opening and a closing line that bear the nonce.

    Args:
        name: Of the part.
        lines: One line each (:func:`one_line`).
        nonce: Eight hex digits that stand in no text of the prompt.
    """
    return "\n".join((f"<<<{name} {nonce}", *lines, f"{name} {nonce}>>>"))
