"""Whether what stands around a date tells of the past or of the future."""

import re
from typing import Final, Literal

Tense = Literal["past", "future", "unknown"]

_REACH: Final = 200
"""Characters on each side that are looked at: what stands further away tells little, and a sentence may have no end."""
_PAST: Final = re.compile(
    r"\b(?:was|were|had|did|went|got|took|saw|met|made|came|left|bought|gave|found|told|said|ran|won|began|ate|been|since|[a-z]{2,}ed)\b",
    re.IGNORECASE,
)
_FUTURE: Final = re.compile(
    r"\b(?:will|won['’]t|going to|gonna|plan(?:ning|s)?|next|upcoming|tomorrow|shall|by|until|before|due|deadline|must|need|arrives?|"
    r"starts?|leaves?|opens?|ends?|visit|want|hope|hoping|should|could|can|see you)\b|['’]ll\b",
    re.IGNORECASE,
)


def tense_around(text: str, start: int, end: int) -> Tense:
    """The tense of the sentence that a stretch of a text stands in; a word for the past outweighs one for the future.

    Args:
        text: The whole text.
        start: Where the stretch begins.
        end: Behind its last character.
    """
    before, behind = text[max(0, start - _REACH) : start], text[end : end + _REACH]
    opening = max(before.rfind(mark) for mark in ".!?\n") + 1
    closing = min((place for mark in ".!?\n" if (place := behind.find(mark)) >= 0), default=len(behind))
    around = f"{before[opening:]} {text[start:end].split()[0]} {behind[:closing]}"
    return "past" if _PAST.search(around) else "future" if _FUTURE.search(around) else "unknown"
