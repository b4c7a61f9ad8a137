"""Merges statements into a text without a model: dated, without duplicates, newest last; the oldest are dropped if the text gets too long.

It resolves no contradictions: the text keeps both statements, each with its day.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple
from unicodedata import normalize

from memory.texts.scripts import FULL_WIDTH_ENDS, SENTENCE_ENDS
from memory.times import time_of_microseconds

_DATED: Final = re.compile(r"(\d{4}-\d{2}-\d{2}): (.*)")
_OPENING: Final = "¡"
_CLOSING: Final = ".,;:!…。、，；：！।॥۔،؛။។።։"
"""Punctuation around a word that has no meaning. All other characters count: a question is not a statement, and "C++" is not "C"."""
_SENTENCE_END: Final = re.compile(rf"[.{SENTENCE_ENDS}](?=\s|$)|[{FULL_WIDTH_ENDS}]|\n")


class Statement(NamedTuple):
    """The text of one event."""

    time: int
    """Its event time, in microseconds since 1970."""
    text: str
    order: int = 0
    """Orders statements of equal time: the higher is the later (``operators/entities/order.py``); 0: no longer known."""
    offset: int = 0
    """The UTC offset of its event time, in microseconds."""

    @property
    def day(self) -> str:
        """The day of its event time in the zone of its user."""
        return day_of(self.time + self.offset)

    def is_again(self, other: "Statement") -> bool:
        """Whether both have the same text and time."""
        return (self.time, self.text) == (other.time, other.text)


class _Line(NamedTuple):
    day: str
    """Empty for a line without a date: a model wrote it, and it comes first."""
    text: str

    def __str__(self) -> str:
        return f"{self.day}: {self.text}" if self.day else self.text


def merge_by_rule(text: str, added: Sequence[Statement], withdrawn: Iterable[str] = (), *, limit: int) -> str:
    """A text with further statements.

    Args:
        text: The text so far, a model's or this function's.
        added: The statements to add, in order.
        withdrawn: Statements to remove, if the text still has them as they were added.
        limit: Maximum length of the text, in characters.
    """
    removed = {_words(each) for each in withdrawn}
    lines: dict[tuple[str, ...], _Line] = {}
    for line in (*_lines(text), *(_Line(each.day, flat(each.text)) for each in added)):
        words = _words(line.text)
        known = lines.get(words)
        if words not in removed and (known is None or (known.day and known.day <= line.day)):
            lines[words] = line
    for statement in added:
        # A statement that was withdrawn and repeated counts.
        words = _words(statement.text)
        if words in removed and words not in lines:
            lines[words] = _Line(statement.day, flat(statement.text))
    ordered = sorted(lines.values(), key=lambda line: line.day)
    return bounded("\n".join(map(str, _newest_that_fit(ordered, limit))), limit)


def bounded(text: str, limit: int) -> str:
    """The beginning of a text that is too long, up to a whole sentence or line; up to a word where the first is too long."""
    if len(text) <= limit:
        return text
    ends = [found.end() for found in _SENTENCE_END.finditer(text, 0, limit)]
    if ends and ends[-1] > limit // 2:
        return text[: ends[-1]].rstrip()
    return text[:limit].rpartition(" ")[0].rstrip() or text[:limit]


def day_of(time: int) -> str:
    """The day of a local time in microseconds since 1970."""
    return time_of_microseconds(time).date().isoformat()


def flat(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def _lines(text: str) -> Iterable[_Line]:
    for line in filter(None, map(str.strip, text.splitlines())):
        dated = _DATED.fullmatch(line)
        yield _Line(dated[1], dated[2]) if dated else _Line("", line)


def _words(text: str) -> tuple[str, ...]:
    """The normalized words. Statements with equal words are duplicates; the earlier one is dropped."""
    words = normalize("NFC", normalize("NFC", text).casefold()).split()
    return tuple(filter(None, (word.lstrip(_OPENING).rstrip(_CLOSING) for word in words))) or tuple(words)


def _newest_that_fit(lines: Sequence[_Line], limit: int) -> list[_Line]:
    kept = list(lines)
    size = sum(len(str(line)) + 1 for line in kept) - 1
    while size > limit and len(kept) > 1:
        oldest = next((index for index, line in enumerate(kept) if line.day), 0)
        if oldest == len(kept) - 1:
            # The newest dated line is the last to go.
            oldest = 0
        size -= len(str(kept.pop(oldest))) + 1
    return kept
