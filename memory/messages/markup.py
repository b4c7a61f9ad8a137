"""Removal of HTML and of Slack's markup from messages. Pure, and linear in the length of a text.

``html``: tags of HTML are removed, entities are decoded once, blocks begin on a new line, quotations get ``>`` marks, links keep their
words, and images become ``[image]``. Other text in angle brackets stays.

``slack``: mentions become ``@name`` or ``@U123``, channels ``#name``, links their label or address; ``&lt;``, ``&gt;`` and ``&amp;`` are
decoded.

**Code stays code.** HTML's ``<pre>`` and ``<code>`` become fences and backticks with their entities decoded. Text that is already between
backticks is Markdown and keeps tags and entities, except Slack's, because Slack escapes code, too.
"""

import re
from collections.abc import Collection
from html import unescape
from typing import Final, Literal

Markup = Literal["html", "slack"]

_SLACK: Final = re.compile(
    r"<(?:(?P<mark>[@#!])(?P<id>[^<>|\n]{1,200})|(?P<url>(?:https?://|ftp://|mailto:|tel:|slack://)[^<>|\n]{1,4000}))"
    r"(?:\|(?P<label>[^<>\n]{0,1000}))?>"
)
_SLACK_ENTITY: Final = re.compile("&(lt|gt|amp);")
_SLACK_CHARACTERS: Final = {"lt": "<", "gt": ">", "amp": "&"}

_CODE: Final = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_ENTITY: Final = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_BLOCK_NAMES: Final = """
address article aside blockquote br center dd details div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p
pre section summary table tbody td tfoot th thead tr ul
"""
_INLINE_NAMES: Final = """
a abbr acronym b bdi bdo big body button cite code data del dfn em font html i img input ins kbd label mark meta o:p q s samp small span
strike strong sub sup time tt u var wbr
"""
_BLOCKS: Final = frozenset(_BLOCK_NAMES.split())
_CELLS: Final = frozenset({"td", "th"})
_MAX_QUOTED: Final = 9
_UNSEEN: Final = frozenset({"head", "script", "style", "template", "title", "svg"})
_ATTRIBUTE: Final = r"""\s++[A-Za-z_:@][\w:.@-]*+(?:\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>=`]++))"""
_NAMES: Final = "|".join(sorted(_BLOCKS.union(_UNSEEN, _INLINE_NAMES.split()), key=len, reverse=True))
_TAG: Final = re.compile(
    rf"<(?P<end>/?)(?P<name>{_NAMES})(?P<attributes>(?:{_ATTRIBUTE})*+)\s*+/?>",
    re.IGNORECASE,
)
_ALT: Final = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_BLANKS: Final = re.compile(r"[ \t]*\n[ \t\n]*")


def without_markup(text: str, kinds: Collection[Markup]) -> str:
    """The text as its reader sees it."""
    if "<" not in text and "&" not in text:
        return text
    if "slack" in kinds:
        text = _SLACK.sub(_shown_by_slack, text)
    if "html" in kinds:
        return _without_html(text, with_slack="slack" in kinds)
    return _decoded_slack(text) if "slack" in kinds else text


def _shown_by_slack(found: re.Match[str]) -> str:
    mark, label = found["mark"], found["label"]
    if mark is None:
        return label or found["url"].removeprefix("mailto:").removeprefix("tel:")
    if mark == "!":
        return label or f"@{found['id'].partition('^')[0]}"
    return f"{mark}{(label or found['id']).removeprefix(mark)}"


def _decoded_slack(text: str) -> str:
    return _SLACK_ENTITY.sub(lambda found: _SLACK_CHARACTERS[found[1]], text)


def _without_html(text: str, *, with_slack: bool) -> str:
    parts: list[str] = []
    done = 0
    for code in _CODE.finditer(text):
        parts.append(_plain(text[done : code.start()]))
        parts.append(_decoded_slack(code.group()) if with_slack else code.group())
        done = code.end()
    parts.append(_plain(text[done:]))
    return "".join(parts).strip() if _TAG.search(text) else "".join(parts)


def _plain(text: str) -> str:
    """HTML as text."""
    text = _without_comments(text)
    if not _TAG.search(text):
        return _decoded(text)
    writer = _Writer()
    done = 0
    lowered = text.lower()
    ends = {name: lowered.rfind(f"</{name}>") for name in _UNSEEN}
    for tag in _TAG.finditer(text):
        writer.add(text[done : tag.start()])
        name = tag["name"].lower()
        # An element without an end would hide the rest of the message.
        if ends.get(name, len(text)) >= tag.start():
            writer.tag(name, tag["attributes"], is_end=bool(tag["end"]))
        else:
            writer.add(tag.group())
        done = tag.end()
    writer.add(text[done:])
    return writer.text()


class _Writer:
    """Writes the visible text of HTML."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._parts: list[str] = []
        """The parts of the open line: appending to a text would copy it each time."""
        self._is_blank = True
        """Whether the open line has no words yet, only marks of quotations."""
        self._unseen = self._quoted = self._preformatted = 0

    def add(self, text: str) -> None:
        """Adds a text between two tags."""
        if self._unseen:
            return
        text = _decoded(text)
        for index, line in enumerate(text.split("\n") if self._preformatted else _BLANKS.split(text)):
            if index:
                self._break()
            self._append(line)

    def tag(self, name: str, attributes: str, *, is_end: bool) -> None:
        """Reads a tag."""
        step = -1 if is_end else 1
        if name in _UNSEEN:
            self._unseen = max(0, self._unseen + step)
        elif self._unseen:
            return
        elif name in _CELLS:
            self._append("" if is_end or self._is_blank else " | ")
        elif name == "pre":
            self._fence(step)
        elif name == "code" and not self._preformatted:
            self._append("`")
        elif name == "img":
            alt = _ALT.search(attributes)
            words = unescape((alt[1] or alt[2] or "") if alt else "").strip()
            self._append(f"[image {words}]" if words else "[image]")
        elif name in _BLOCKS:
            if name == "blockquote":
                self._break()
                self._quoted = min(_MAX_QUOTED, max(0, self._quoted + step))
                if self._is_blank:
                    self._parts = [self._mark()]
            self._break()

    def text(self) -> str:
        """The whole text."""
        return "\n".join(line.rstrip() for line in (*self._lines, "".join(self._parts))).strip("\n")

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._is_blank = self._is_blank and not text.strip("> ")

    def _fence(self, step: int) -> None:
        self._break()
        self._append("```")
        self._preformatted = max(0, self._preformatted + step)
        self._begin_line()

    def _break(self) -> None:
        """Begins a line, unless the last one is empty. Lines of code may be empty."""
        if self._preformatted or not self._is_blank:
            self._begin_line()

    def _begin_line(self) -> None:
        self._lines.append("".join(self._parts))
        self._parts, self._is_blank = [self._mark()], True

    def _mark(self) -> str:
        return "> " * self._quoted


def _without_comments(text: str) -> str:
    parts: list[str] = []
    done = 0
    while (start := text.find("<!--", done)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts.append(text[done:start])
        done = end + len("-->")
    return "".join([*parts, text[done:]])


def _decoded(text: str) -> str:
    return _ENTITY.sub(lambda found: unescape(found.group()).replace("\xa0", " "), text)
