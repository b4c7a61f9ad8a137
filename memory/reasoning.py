"""Separates a reasoning model's thoughts from its answer.

Models and servers use many tags for thoughts and omit some: the chat template may contain the opening tag, and the token limit may come
before the closing one. Known tags are removed with an unclosed thought after them. Of unknown tags, one that names a thought and closes
(``</deliberation>``, ``◁/think▷``, ``<|END_THINKING|>``) ends the thought before it; a reader of JSON must expect thoughts without any tag.

A tag inside a quoted text of the answer does not count, because memories may be about such tags. In valid JSON this is exact, because
strings do not span lines; in other text it depends on the quotes before the tag on its line.
"""

import re
from typing import Final

_NAMES: Final = "think|thinking|thought|reasoning|seed:think"
_NAMES_OF_THOUGHTS: Final = "think|thought|reason|reflect|scratch|analy|deliberat|monologue|ponder|planning|draft|cot"
_OPENS: Final = rf"<(?:{_NAMES})>|\[THINK\]|<\|channel\|?>\s*+(?:analysis|commentary|thought)\b|<unused94>"
_CLOSES: Final = (
    rf"</(?:{_NAMES})>|\[/THINK\]|<channel\|>|<unused95>|final\s*+(?:<\|constrain\|>\s*+\w*+\s*+)?+<\|message\|>"
    rf"|[<\[◁【「⟨]\|?(?:/|end[_-]?(?:of[_-])?)[\w:.-]{{0,24}}?(?:{_NAMES_OF_THOUGHTS})[\w:.-]{{0,24}}\|?[>\]▷】」⟩]"
)
_MARKS: Final = re.compile(rf'(?P<opens>{_OPENS})|(?P<closes>{_CLOSES})|(?P<quote>")|(?P<line>\n)|\\["\\]', re.IGNORECASE)
_BEGINS_JSON: Final = re.compile(r'\s*+(?:```\w*+\s*+)?+[{\[][\s{\[]*+"[^\s,:}\]"]')
"""A container with a text in it. It cannot occur within a string of valid JSON, where an unescaped quote ends the string."""


def strip_reasoning(text: str) -> str:
    """The answer after the last thought; an unclosed thought is removed, too."""
    begin = 0
    opened: int | None = None
    is_quoted = False
    for found in _MARKS.finditer(text):
        match found.lastgroup:
            case "quote":
                is_quoted = not is_quoted
            case "line":
                is_quoted = False
            case "opens" if opened is None and not is_quoted:
                opened = found.start()
            case "closes" if opened is not None or not is_quoted or _BEGINS_JSON.match(text, found.end()):
                begin, opened, is_quoted = found.end(), None, False
    return text[begin:opened]
