"""Where a reasoning model's thoughts end and its answer begins.

Models and servers mark thoughts in several ways, and leave marks out: a chat template may hold the opening one, and the token limit may
come before the closing one. A mark that a text of the answer quotes is none, since what is remembered may be about such marks. In valid
JSON that is told exactly, for no string of it spans lines; elsewhere by the quotes that stand before the mark on its line.
"""

import re
from typing import Final

_NAMES: Final = "think|thinking|thought|reasoning|seed:think"
_OPENS: Final = rf"<(?:{_NAMES})>|\[THINK\]|<\|channel\|?>\s*+(?:analysis|commentary|thought)\b"
_CLOSES: Final = rf"</(?:{_NAMES})>|\[/THINK\]|<channel\|>|final\s*+(?:<\|constrain\|>\s*+\w*+\s*+)?+<\|message\|>"
_MARKS: Final = re.compile(rf'(?P<opens>{_OPENS})|(?P<closes>{_CLOSES})|(?P<quote>")|(?P<line>\n)|\\["\\]', re.IGNORECASE)
_BEGINS_JSON: Final = re.compile(r'\s*+(?:```\w*+\s*+)?+[{\[][\s{\[]*+"[^\s,:}\]"]')
"""A container with a text in it, which cannot stand within a string of valid JSON: there a bare quote is the string's end."""


def strip_reasoning(text: str) -> str:
    """What a model says behind the last of its thoughts; nothing of it where a thought opens there and never closes.

    Args:
        text: All that the model wrote.
    """
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
