"""Functions of texts: counts, truncation, values in error messages, tokens, content hash, surrogates, and checks of ids and names."""

import hashlib
import re
from collections.abc import Callable, Iterable
from math import ceil
from typing import Final, TypeVar
from unicodedata import category, normalize

T = TypeVar("T")

_ASCII_TOKEN: Final = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,2}|[^\w\s]|_")
"""Matches once for each token of a text in ASCII."""

_INVISIBLE: Final = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Invisible characters that Unicode classifies as letters, marks or symbols."""
_BREAKS: Final = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})
_CONTROLS: Final = frozenset({"Cc", "Zl", "Zp"})
_BLANKS: Final = frozenset({"Zs", "Cf"})
"""Categories of spaces, and of characters that only change their neighbours."""
_DOT_SEGMENTS: Final = frozenset({".", ".."})
"""Segments that clients and proxies remove from the path of a URL, also when they are percent-encoded."""

MOST_TOKENS_OF_CHARACTER: Final = 3
_ENGLISH_LETTERS_PER_TOKEN: Final = 6
_LATIN_LETTERS_PER_TOKEN: Final = 3
"""For words with letters of German, French, Vietnamese, ..."""
_EASTERN_LETTERS_PER_TOKEN: Final = 2
"""For words with letters of Polish, Turkish, ..."""
_LATIN: Final = r"A-Za-z\xaa\xb5\xba\xc0-\xd6\xd8-\xf6\xf8-\u024f\u1e00-\u1eff"
_TOKENS_OF_CHARACTERS: Final = {
    r"\u0400-\u052f": 0.5,  # Cyrillic
    r"\u0591-\u05c7": 2.0,  # the points of Hebrew
    r"\u0600-\u06ff": 0.75,  # Arabic
    r"\u0900-\u097f": 1.25,  # Devanagari
    r"\u0980-\u09ff": 1.25,  # Bengali
    r"\u0b80-\u0bff\u1780-\u17ff": 1.5,  # Tamil, Khmer
    r"\u0a00-\u0b7f\u0c00-\u0dff\u0e80-\u0eff\u1000-\u10ff\u0530-\u058f": 2.0,  # other Indic scripts, Lao, Burmese, Georgian, Armenian
    r"\u1100-\u11ff\u1200-\u139f": 3.0,  # single Korean letters, Ethiopic
    r"\U00010000-\U0001ffff": 2.5,  # emoji
    r"\u0370-\u03ff\u05d0-\u05ff\u0e00-\u0e7f": 1.0,  # Greek, Hebrew, Thai
    r"\u3005-\u30ff\u3400-\u9fff\uac00-\ud7a3": 1.0,  # Japanese, Chinese, Korean
}
"""Approximate maximum number of tokens per letter or mark among the tokenizers of GPT-4o, Llama 3, Qwen 3 and Gemma 3. Other visible
characters count one token."""
_PIECE: Final = re.compile("|".join([rf"([{_LATIN}]+)", *(f"([{each}]+)" for each in _TOKENS_OF_CHARACTERS), r"(\d+)", r"\S"]))
_TOKENS_BY_GROUP: Final = (1.0, 0.0, *_TOKENS_OF_CHARACTERS.values(), 0.5)

_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_HIGH: Final = ("\ud800", "\udbff")

_LONGEST_QUOTED: Final = 80


def counted(count: int, noun: str) -> str:
    """A number with its noun for people: ``1 window``, ``2,000 memories``."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"


def content_hash(text: str) -> str:
    """SHA-256 (hex) of a text in UTF-8 with normalized white space; equal texts have equal hashes."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


def first_that_fit(items: Iterable[T], size_of: Callable[[T], int], most: int) -> list[T]:
    """The first items whose sizes together are within a limit; the first one in any case.

    Args:
        items: The items, the most important first.
        size_of: The size of an item.
        most: The limit.
    """
    fitting: list[T] = []
    total = 0
    for item in items:
        total += size_of(item)
        if fitting and total > most:
            break
        fitting.append(item)
    return fitting


def shortened(text: str, longest: int) -> str:
    """The text, truncated to at most ``longest`` characters with an ellipsis."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def quoted(value: object) -> str:
    """A value for an error message, truncated."""
    text = repr(value)
    return text if len(text) <= _LONGEST_QUOTED else f"{text[:_LONGEST_QUOTED]}..."


def fair_share(sizes: list[int], total: int) -> int:
    """The max-min fair cap: the largest one on each size under which their sum is at most ``total``. Small sizes stay whole."""
    left, count = total, len(sizes)
    for size in sorted(sizes):
        if size * count > left:
            return left // count
        left -= size
        count -= 1
    return max(sizes, default=0)


def estimate_tokens(text: str) -> int:
    """Estimates the number of tokens of a subword tokenizer, for limits where no tokenizer is installed.

    A run of Latin letters counts one token per six letters (rounded up), or per fewer letters if it has non-English ones; a run of digits
    one per two. Letters of other scripts count as in :data:`_TOKENS_OF_CHARACTERS`; any other visible character counts one.
    """
    if text.isascii():
        # Gives the same result in half the time: every message is estimated, and most are ASCII.
        return len(_ASCII_TOKEN.findall(text))
    words = text.split()
    ascii_words = " ".join(each for each in words if each.isascii())
    others = " ".join(each for each in words if not each.isascii())
    return len(_ASCII_TOKEN.findall(ascii_words)) + sum(map(_tokens_of, _PIECE.finditer(others)))


def _tokens_of(found: re.Match[str]) -> int:
    piece, group = found.group(), found.lastindex or 0
    return -(-len(piece) // _letters_per_token(piece)) if group == 1 else ceil(len(piece) * _TOKENS_BY_GROUP[group])


def _letters_per_token(piece: str) -> int:
    if piece.isascii():
        return _ENGLISH_LETTERS_PER_TOKEN
    return _EASTERN_LETTERS_PER_TOKEN if "\u0100" <= max(piece) < "\u0250" else _LATIN_LETTERS_PER_TOKEN


def problem_of_name(name: str) -> str | None:
    """Why a name can be mistaken for another one that looks the same; None if it cannot."""
    if normalize("NFC", name) != name:
        return "is not in Unicode's composed form (NFC), and looks the same as the name that is"
    if name[:1].isspace() or name[-1:].isspace():
        return "begins or ends with a space"
    hidden = next((each for each in name if category(each) in _BREAKS or _INVISIBLE.match(each)), None)
    if hidden is not None:
        return f"has the character U+{ord(hidden):04X}, which is invisible or a control character"
    return None


def problem_of_id(text: str) -> str | None:
    """Why a text cannot be the id of a user, a session or a message: it comes from a mistake such as a variable without a value.

    Ids are otherwise compared as they are: they belong to the application.
    """
    if text in _DOT_SEGMENTS:
        return f"an id cannot be {text!r}: clients and proxies remove it from the path of a URL, so no request could name it"
    if text.isprintable() and not text.isspace():
        return None
    for place, character in enumerate(text, start=1):
        if category(character) in _CONTROLS:
            return f"an id has no control characters or line breaks: remove U+{ord(character):04X}, its character {place}"
    if all(category(character) in _BLANKS for character in text):
        return "an id needs a visible character, and this one has only spaces or invisible characters"
    return None


def join_surrogates(text: str) -> str:
    """The text with each surrogate pair joined to one character, and each lone surrogate replaced by U+FFFD."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class SurrogateJoiner:
    """Joins surrogate pairs across the pieces of a stream."""

    def __init__(self) -> None:
        self._pending = ""

    def add(self, piece: str) -> str:
        """The next piece; a high surrogate at its end is held back until the low one arrives."""
        piece = self._pending + piece
        self._pending = piece[-1] if piece and _HIGH[0] <= piece[-1] <= _HIGH[1] else ""
        return join_surrogates(piece[: len(piece) - len(self._pending)])

    def end(self) -> str:
        """The surrogate still held back, replaced."""
        pending, self._pending = self._pending, ""
        return join_surrogates(pending)
