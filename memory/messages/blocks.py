"""Splits a message into the writer's own prose and pasted parts: code, data, tables, logs, quotations, forwarded mail, signatures.

Only prose can state a fact about the writer. A line that fits no rule is prose; a block once begun ends where its form ends. The marks
are those of Markdown, of mail programs (``>``, "On ... wrote:", "Forwarded Message", ``-- ``) and of chat exports.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Final, Literal

from memory.messages.quote_heads import (
    begins_reply_head,
    is_chat_head,
    is_chat_line,
    is_forward_title,
    is_mail_field,
    is_reply_head,
    is_speaker_line,
)

Kind = Literal["prose", "list", "quoted", "pasted", "signature"]


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines of one kind."""

    kind: Kind
    """``list``: the writer's own items. ``quoted``: words of another person. ``pasted``: code, data, tables, logs."""
    text: str


_FENCE: Final = re.compile(r"^\s*(?:```|~~~)")
_QUOTE: Final = re.compile(r"^\s*(?:>|&gt;|\|\s(?=[^|]*$))")
_LIST_ITEM: Final = re.compile(r"^\s*(?:[-*•–▪◦]|\d{1,3}[.)]|\[[ xX]\])\s+\S")
_SIGNATURE: Final = re.compile(
    r"^(?:--\s*|_{5,}\s*|Sent from my .{2,40}|Get Outlook for .{2,20}|(?:(?:kind|best|warm|warmest|many) )?(?:regards|wishes)[,.!]?"
    r"|(?:yours )?(?:sincerely|faithfully|truly)(?: yours)?,?|yours,|best,|cheers,|thanks,)$",
    re.IGNORECASE,
)
_SALUTATION: Final = re.compile(
    r"^(?:dear|hello|hi|hey|good (?:morning|day|afternoon|evening)|to whom it may concern|greetings)\b[^.!?:]{0,40}[,!]?\s*$", re.IGNORECASE
)
"""Salutation of a letter: below other text, it begins one that was pasted."""
_TABLE: Final = re.compile(r"^\s*\|.*\|.*$|^[^|\n]+(?:\|[^|\n]*){2,}$|^[^\t\n]*(?:\t[^\t\n]*){2,}$")
_CSV: Final = re.compile(r"^[^,;\s][^,;]*(?:[,;][^,;\s][^,;]*){2,}$|^[^;\n]*(?:;[^;\n]*){3,}$")
_SEPARATED: Final = re.compile(r"[,;][^,;\s]")
_LOG: Final = re.compile(
    r"^\W{0,2}\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|^\W{0,2}(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b"
    r"|^Traceback \(most recent|^\s+File \"|^\s+at [\w$.<>]+\("
    r"|^\w+(?:Error|Exception)\b|^[A-Z][a-z]{2}\s+\d{1,2} \d\d:\d\d:\d\d |^\[?\d\d:\d\d:\d\d[\].,\s]"
    r"|^[\w.-]+@[\w.-]+[:~$#]|^\$ \S|^>>> |^\d{1,3}(?:\.\d{1,3}){3}\s"
)
_CODE_MARK: Final = re.compile(r"[;{}():=<>/]|--")
"""Every line of code has one. Most lines of prose have none, and need no slower look."""
_CODE: Final = re.compile(
    r"^\s*(?:def|class|async def|import|from \S+ import|#include|package|public|private|static|const|let|var|function"
    r"|func|fn|return|elif|else:|try:|except|SELECT|INSERT|UPDATE|DELETE FROM"
    r"|CREATE TABLE|echo|sudo|pip install|npm|git|docker|kubectl)\b.*(?:[;{}():=<>]|\S/\S|--)|^.*[;{}]\s*(?://.*)?$"
    r"|^\s*</?[a-z][^>]*>.*$|^\s*[\w.\[\]]+\s*(?:=|\+=|:=|=>|->)\s*\S.*$|^\s*(?://|/\*|\*/)"
)
_DATA: Final = re.compile(
    r"^\s*(?:[\[{]\s*(?:[\"\[{\]}]|-?\d|$)|[\]}],?\s*$|\"[^\"]{1,80}\"\s*:\s|'[^']{1,80}'\s*:\s)"
    r"|^\s*[{\[].*[}\]],?\s*$|^[\w.-]+:\s*$|^\s{2,}[\w.-]+:(?:\s\S.*)?$"
)
_KEPT_TEXTS: Final = 64
"""A window's messages are read several times: for their own words, their language and their authors."""
_LEAST_ROWS: Final = 2
"""One line with marks of a table, a chat or a log may be a sentence."""


@lru_cache(maxsize=_KEPT_TEXTS)
def blocks_of(text: str) -> tuple[Block, ...]:
    """The blocks of a message, in order.

    Args:
        text: A message, without binary data.
    """
    lines = text.splitlines()
    kinds = list(_kinds_of(lines))
    return tuple(
        Block(kind, block)
        for kind, group in groupby(zip(kinds, lines, strict=True), key=lambda pair: pair[0])
        if (block := "\n".join(line for _, line in group).strip())
    )


def prose_of(blocks: Sequence[Block]) -> str:
    """The writer's own sentences and list items."""
    return "\n".join(block.text for block in blocks if block.kind in ("prose", "list"))


def _kinds_of(lines: Sequence[str]) -> Iterator[Kind]:
    in_rows = _rows(lines)
    in_fence = False
    rest: Kind | None = None
    """The kind of all further lines: a signature or a forwarded mail extends to the end."""
    for index, line in enumerate(lines):
        if rest == "quoted":
            yield rest
        elif in_fence or (rest is None and _FENCE.match(line)):
            in_fence = in_fence != bool(_FENCE.match(line))
            yield "pasted"
        elif _QUOTE.match(line):
            yield "quoted"
        elif is_forward_title(lines, index) or _begins_mail(lines, index) or (rest is None and _begins_letter(lines, index)):
            rest = "quoted"
            yield "quoted"
        elif is_reply_head(line) or _is_wrapped_reply_head(lines, index):
            rest = rest if _is_quoted_below(lines, index) else "quoted"
            yield "quoted"
        elif rest is not None:
            yield rest
        elif _SIGNATURE.match(line.strip()) and (index > 0 or line.startswith("--")):
            rest = "signature"
            yield "signature"
        elif (kind := in_rows[index] or _kind_around(lines, in_rows, index)) is not None:
            yield kind
        else:
            yield "list" if _LIST_ITEM.match(line) else "prose"


def _kind_around(lines: Sequence[str], in_rows: Sequence[Kind | None], index: int) -> Kind | None:
    """The kind of the rows before and after an empty line, if both have the same."""
    is_between = not lines[index].strip() and 0 < index < len(lines) - 1
    return in_rows[index - 1] if is_between and in_rows[index - 1] == in_rows[index + 1] else None


def _begins_mail(lines: Sequence[str], index: int) -> bool:
    return is_mail_field(lines[index]) and any(is_mail_field(line) for line in lines[index + 1 : index + 3])


def _begins_letter(lines: Sequence[str], index: int) -> bool:
    line = lines[index]
    return bool(_SALUTATION.match(line)) and (line.lower().startswith("dear") or any(each.strip() for each in lines[:index]))


def _is_wrapped_reply_head(lines: Sequence[str], index: int) -> bool:
    return index + 1 < len(lines) and begins_reply_head(lines[index]) and is_reply_head(f"{lines[index]} {lines[index + 1]}")


def _is_quoted_below(lines: Sequence[str], index: int) -> bool:
    """Whether the mail that a head announces is marked line by line, so that what follows may be the writer's again."""
    return any(_QUOTE.match(line) for line in lines[index + 1 : index + 4])


_Form = Callable[[str], object]
_is_log, _is_data = _LOG.match, _DATA.match


def _is_table(line: str) -> object:
    return ("|" in line or "\t" in line) and _TABLE.match(line)


def _is_csv(line: str) -> object:
    return (_SEPARATED.search(line) or line.count(";") > 2) and _CSV.match(line)


def _is_code(line: str) -> object:
    return _CODE_MARK.search(line) and _CODE.match(line)


def _rows(lines: Sequence[str]) -> list[Kind | None]:
    """For each line the kind of the rows that it is part of; None if it is part of none."""
    found: list[Kind | None] = _chats(lines)
    forms: tuple[tuple[_Form, Kind], ...] = (
        (is_chat_line, "quoted"),
        (is_speaker_line, "quoted"),
        (_is_table, "pasted"),
        (_is_csv, "pasted"),
        (_is_log, "pasted"),
        (_is_data, "pasted"),
        (_is_code, "pasted"),
    )
    for form, kind in forms:
        index = 0
        while index < len(lines):
            end = index
            while end < len(lines) and not found[end] and form(lines[end]) and not _QUOTE.match(lines[end]):
                end += 1
            if end - index >= _LEAST_ROWS or (end > index and _is_surely(form, lines[index])):
                found[index:end] = [kind] * (end - index)
            index = max(end, index + 1)
    return _filled(found)


def _chats(lines: Sequence[str]) -> list[Kind | None]:
    """Messages that were copied from a chat: a head with name and time, and the lines below it up to an empty one."""
    found: list[Kind | None] = [None] * len(lines)
    for index, line in enumerate(lines):
        is_continued = index > 0 and found[index - 1] == "quoted" and line.strip()
        if is_continued or (
            is_chat_head(line) and index + 1 < len(lines) and lines[index + 1].strip() and not is_chat_head(lines[index + 1])
        ):
            found[index] = "quoted"
    return found


def _is_surely(form: _Form, line: str) -> bool:
    """Whether one line is enough: JSON from brace to brace, a dated chat or log line, a statement of code."""
    if form is _is_data:
        return len(line) > 20 and line.strip()[0] in "[{" and line.strip()[-1] in "]}" and '"' in line
    if form in (is_chat_line, _is_log):
        return True
    return form is _is_code and line.rstrip().endswith((";", "{", "}")) and bool(re.search(r"[=(){}<>]", line))


def _filled(found: list[Kind | None]) -> list[Kind | None]:
    """Rows with the single lines between them: a line of code without marks belongs to the lines around it that have them."""
    for index in range(1, len(found) - 1):
        if not found[index] and found[index - 1] == found[index + 1] == "pasted":
            found[index] = "pasted"
    return found
