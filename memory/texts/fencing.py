"""Makes untrusted text safe for prompts: one line each, between delimiters that no text can close.

Every prompt quotes with these functions. They change only the prompt's copy; stored text is not changed.

**Invisible characters are removed**, because they can hide an instruction or split a token: control and format characters,
default-ignorable characters (fillers, variation selectors, tag characters) and lone surrogates. They are kept only where they have a
visible effect:

- ``ZWJ`` between two emoji, and ``ZWJ`` or ``ZWNJ`` after a letter of a script that joins letters (Arabic, Indic and others), one each;
- the emoji or text selector after a symbol that has both forms, and in keycaps;
- the tags of the flags of England, Scotland and Wales.

Soft hyphens, direction marks, ideographic and Mongolian variation selectors and Hangul fillers are removed: words stay readable.

**Delimiters and chat tokens are broken by replacing their first character** with a similar one. Nothing is deleted, so pieces cannot join
to a new token. They are searched in the text as a model's normalizer may see it: compatibility forms folded (``＜`` is ``<``), without
joiners, ignoring case.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final
from unicodedata import is_normalized, normalize

import orjson
from pydantic import JsonValue

_LINE_BREAK: Final = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_BLANKS: Final = str.maketrans("\t\u2800", "  ")

_CONTROLS: Final = r"\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\ud800-\udfff"
_FORMATS: Final = (
    r"\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
"""Format characters (Cf), except those that are drawn, such as the Arabic number sign."""
_IGNORABLE: Final = r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff"
"""Default-ignorable characters of other categories, assigned or not."""
_HIDDEN: Final = f"{_CONTROLS}{_FORMATS}{_IGNORABLE}"

_EMOJI: Final = (
    r"\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    r"\U0001f000-\U0001faff"
)
_JOINING: Final = (
    r"(?<=[\u0620-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u1900-\u1cff\ua800-\uabff\U00010a00-\U00011fff\U0001e900-\U0001e95f])"
    r"(?<![\u17b4\u17b5\u180b-\u180f])"
)
_FLAG_TAGS: Final = "|".join("".join(chr(0xE0000 + ord(letter)) for letter in name) for name in ("gbeng", "gbsct", "gbwls"))
_VISIBLE_EFFECT: Final = (
    rf"\U0001f3f4(?:{_FLAG_TAGS})\U000e007f"
    rf"|{_JOINING}[\u200c\u200d]"
    rf"|(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])"
    rf"|(?<=[{_EMOJI}])[\ufe0e\ufe0f]"
    r"|(?<=[0-9#*])\ufe0f(?=\u20e3)"
)
_INVISIBLE: Final = re.compile(rf"(?P<kept>{_VISIBLE_EFFECT})|[{_HIDDEN}]")
_UNSEEN: Final = re.compile(f"[{_HIDDEN}]")

_TAGS: Final = "s|bos|eos|pad|unk|start_of_turn|end_of_turn|start_of_image|think|thinking|reasoning|tool_call|tool_response|seed:[a-z_]+"
_SECTIONS: Final = r"query|ranking|session\s*\d*"
"""Tags of Varve's prompts, with any text after their name."""
_BRACKETS: Final = "INST|SYSTEM_PROMPT|THINK|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_CONTENT|TOOL_RESULTS|gMASK"
_MARKUP: Final = re.compile(
    rf"<(?=\s*+(?:[|]|[a-z_]{{1,32}}\|>|(?:/\s*+)?(?:(?:{_TAGS})\s*+>|(?:{_SECTIONS})(?![a-z0-9_]))|</?SYS>>))|\[(?=\s*+(?:/\s*+)?(?:{_BRACKETS})\s*+\])",
    re.IGNORECASE,
)
"""ChatML and Llama 3 (``<|``), DeepSeek and Hunyuan (``<｜``), Gemma (``<end_of_turn>``, ``<turn|>``), Mistral (``[``)."""
_OPENING: Final = re.compile("[<\\[\uff1c\ufe64\uff3b\ufe47]")
"""The characters that fold to ``<`` or ``[``."""
_JSON_BREAKS: Final = "\x85\u2028\u2029"
_NONCE_LENGTH: Final = 8
_BREAK: Final = "·"


def one_line(text: str) -> str:
    """The text as one line without line breaks, hidden characters, chat tokens and the tags of Varve's prompts.

    The function is idempotent.
    """
    # Most texts have no hidden character, and a search for one is faster than the substitution.
    seen = (text if _UNSEEN.search(text) is None else _INVISIBLE.sub(_kept, text)).translate(_BLANKS).strip()
    # A pattern with the spaces before a line break would take the square of the length of a run of spaces.
    flat = "\\n".join(line.strip(" \t") for line in _LINE_BREAK.split(seen))
    return _replaced(flat, {at: "‹" if _folded(flat[at]) == "<" else "(" for at in _markup(flat)})


def one_line_json(value: JsonValue) -> str:
    """The value's JSON, as safe as a text from :func:`one_line`. Unsafe characters are escaped, so the JSON still has the same value."""
    text = orjson.dumps(value).decode()
    unsafe = {found.start() for found in _INVISIBLE.finditer(text) if found["kept"] is None}
    unsafe |= {at for at, char in enumerate(text) if char in _JSON_BREAKS} if not text.isascii() else set()
    return _replaced(text, {at: _json_escape(text[at]) for at in sorted(unsafe.union(_markup(text)))})


def _json_escape(char: str) -> str:
    """The JSON escape of a character, with one or two UTF-16 code units."""
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def delimiter_for(texts: Sequence[str]) -> str:
    """Eight hex digits that are derived from the texts and occur in none of them."""
    digest = hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass"))
    read = [_folded_whole(text) for text in texts]
    while any(digest.hexdigest()[:_NONCE_LENGTH] in text for text in read):
        digest.update(b"again")
    return digest.hexdigest()[:_NONCE_LENGTH]


def without_nonce(line: str, nonce: str) -> str:
    """The line with all occurrences of the nonce broken, so that several texts can use the same nonce."""
    # An occurrence may overlap the previous one: the next pass finds what is left of it.
    while places := _middles(line, nonce):
        line = _BREAK.join(line[begin:end] for begin, end in pairwise((0, *places, len(line))))
    return line


def _middles(line: str, nonce: str) -> list[int]:
    """Places in the middles of a nonce's occurrences, where a character breaks them."""
    read, places = _as_read(line)
    # Without case by the pattern: lower case has another length than a text with a Turkish capital letter, and so other places.
    middles = [found.start() + len(nonce) // 2 for found in re.finditer(re.escape(nonce), read, re.IGNORECASE | re.ASCII)]
    return middles if places is None else [places[at] for at in middles]


def fenced(name: str, lines: Sequence[str], nonce: str) -> str:
    """The lines between an opening and a closing line with the nonce.

    Args:
        name: Name of the part.
        lines: Lines from :func:`one_line`.
        nonce: Eight hex digits that occur in no text of the prompt.
    """
    return "\n".join((f"<<<{name} {nonce}", *lines, f"{name} {nonce}>>>"))


def _kept(found: re.Match[str]) -> str:
    return found["kept"] or ""


def _markup(text: str) -> Iterator[int]:
    """Start positions of delimiters and chat tokens in a text."""
    if _OPENING.search(text) is None:
        return
    read, places = _as_read(text)
    for found in _MARKUP.finditer(read):
        yield found.start() if places is None else places[found.start()]


def _folded_whole(text: str) -> str:
    return text.lower() if text.isascii() else normalize("NFKC", _UNSEEN.sub("", text)).lower()


def _as_read(text: str) -> tuple[str, Sequence[int] | None]:
    """A text as a model's normalizer may see it, and the original position of each character; None: the same positions."""
    if text.isascii() or (_UNSEEN.search(text) is None and is_normalized("NFKC", text)):
        return text, None
    read: list[str] = []
    places: list[int] = []
    for at, char in enumerate(text):
        folded = char if char < "\x80" else _folded(char)
        read.append(folded)
        places += [at] * len(folded)
    return "".join(read), places


@lru_cache(maxsize=16_384)
def _folded(char: str) -> str:
    return "" if _UNSEEN.fullmatch(char) else normalize("NFKC", char)


def _replaced(text: str, by_place: dict[int, str]) -> str:
    if not by_place:
        return text
    parts: list[str] = []
    begin = 0
    for at, replacement in by_place.items():
        parts += (text[begin:at], replacement)
        begin = at + 1
    return "".join([*parts, text[begin:]])
