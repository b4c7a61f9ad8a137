"""Authors of the parts of a message: quoted mails, chats and direct speech are words of others, not of the message's writer."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from memory.messages.blocks import Block, blocks_of
from memory.messages.quote_heads import author_of_head, author_of_line, begins_reply_head


class Part(NamedTuple):
    """Consecutive lines, or a part of a line, by one author."""

    text: str
    author: str | None
    """The author's name. Empty: somebody whom the message does not name. None: the message's writer."""


_MAY_QUOTE: Final = re.compile(r"[\n>\"“”„«»:：]")
_FIRST_PERSON: Final = re.compile(
    r"\b(?:I|I['’]\w+|[Mm]y|[Mm]e|[Mm]ine|[Ww]e|[Ww]e['’]\w+|[Oo]ur|[Ii]ch|[Mm]eine?[nmrs]?|[Mm]ir|[Mm]ich|[Ww]ir|[Uu]nsere?[nmrs]?|[Jj]e|[Jj]['’]\w+"
    r"|[Mm]on|[Mm]es|[Nn]ous|[Yy]o|[Mm]i|[Mm]is|[Ii]o|[Mm]io|[Mm]ia|[Ee]u|[Mm]eu|[Mm]inha|[Ii]k|[Mm]ijn|[Jj]ag|[Mm]in|[Mm]itt|[Jj]eg|[Jj]a"
    r"|[Mm]ój|[Mm]oja|[Яя]|[Мм]ой|[Мм]оя|[Уу] меня)\b|我|私|僕|俺|나는|저는"
)
_SPOKEN: Final = re.compile(r"\"[^\"\n]{3,500}\"|“[^”\n]{3,500}”|„[^“”\n]{3,500}[“”]|«[^»\n]{3,500}»")
_SAYS: Final = (
    r"(?:said|says|wrote|writes|texted|texts|messaged|emailed|replied|replies|answered|answers|posted|commented|told \w+|tells \w+|goes"
    r"|sagte?|schrieb|schreibt|meinte?|antwortete|a dit|dit|a écrit|écrit|dice|dijo|escribió|ha detto"
    r"|ha scritto|disse|escreveu|zei|schreef)"
)
_SPEAKER: Final = re.compile(rf"(?P<who>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*)?) {_SAYS}(?:\s*[,:：])?$")
_LONGEST_LEAD: Final = 200
"""Characters before a quotation in which its speaker is looked for."""
_ANNOUNCED: Final = re.compile(rf"(?P<who>\b[^\W\d_][\w.'’-]{{0,40}}(?: [A-Z][\w.'’-]{{0,40}})?) {_SAYS}\s?[:：]\s*(?=\S)")
"""The parts of a name are bounded: a longer run of letters and hyphens would take the square of its length."""
_WRITERS_OWN: Final = frozenset({"i", "we", "ich", "wir", "je", "nous", "yo", "io", "eu", "ik"})
_LEAST_OF_DIALOGUE: Final = 2


def attributed_parts(text: str) -> list[Part]:
    """The parts of a message with their authors, in order; white space at their ends may be missing.

    Args:
        text: A message.
    """
    if not _MAY_QUOTE.search(text):
        return [Part(text, None)]
    return [part for block in blocks_of(text) for part in (_of_quoted(block) if block.kind == "quoted" else _of_prose(block.text))]


def speaks_of_oneself(text: str) -> bool:
    """Whether a text has a pronoun of the first person."""
    return _FIRST_PERSON.search(text) is not None


def _of_quoted(block: Block) -> list[Part]:
    lines = block.text.split("\n")
    authors = list(_authors(lines))
    return [
        Part("\n".join(line for _, line in group), author)
        for author, group in groupby(zip(authors, lines, strict=True), lambda pair: pair[0])
    ]


def _authors(lines: Sequence[str]) -> Iterator[str | None]:
    """The author of each quoted line: the one whom the last head names."""
    is_dialogue = sum(author_of_line(line) is not None for line in lines) >= _LEAST_OF_DIALOGUE
    author: str | None = ""
    has_head = is_wrapped = False
    for index, line in enumerate(lines):
        # The second line of a head may contain nothing but the mail address.
        named = None if is_wrapped else author_of_head(line)
        is_wrapped = False
        if named is None and begins_reply_head(line) and index + 1 < len(lines):
            named = author_of_head(f"{line} {lines[index + 1]}")
            is_wrapped = named is not None
        has_head = has_head or named is not None
        if named is None and is_dialogue and not has_head:
            named = author_of_line(line)
        if named is not None:
            author = named or None
        yield author


def _of_prose(text: str) -> Iterator[Part]:
    """Splits off direct speech in the first person: ``Carla wrote: "I live in Genoa"``. Titles and single words stay."""
    for line in text.split("\n"):
        announced = _ANNOUNCED.search(line)
        if announced is not None and speaks_of_oneself(line[announced.end() :]) and not _SPOKEN.search(line):
            yield Part(line[: announced.end()], None)
            yield Part(line[announced.end() :], _speaker(announced["who"]))
            continue
        done = 0
        for found in _SPOKEN.finditer(line):
            if speaks_of_oneself(found.group()):
                before = _SPEAKER.search(line[done : found.start()].rstrip()[-_LONGEST_LEAD:])
                yield from _filled(line[done : found.start()])
                yield Part(found.group(), "" if before is None else _speaker(before["who"]))
                done = found.end()
        yield from _filled(line[done:])


def _filled(text: str) -> Iterator[Part]:
    if text.strip():
        yield Part(text, None)


def _speaker(who: str) -> str | None:
    words = who.split()
    if words[-1].casefold() in _WRITERS_OWN or words[0].casefold() in _WRITERS_OWN:
        return None
    return " ".join(word for word in words if word[0].isupper() and word not in ("My", "The", "He", "She", "They", "And", "But", "Then"))
