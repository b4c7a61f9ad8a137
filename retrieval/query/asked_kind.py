"""Detects whether an English question asks for a time, a number or a name, and whether a text contains one."""

import re
from typing import Final

_ASKED: Final = (
    (
        re.compile(r"\bwhen\b|\bwhat time\b|\bwhich day\b|\bhow long\b|\bhow often\b", re.IGNORECASE),
        re.compile(
            r"\d|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|"
            r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|spring|summer|autumn|winter|christmas|easter|"
            r"morning|evening|night|noon|hour|minute|day|week|month|year)s?\b",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(r"\bhow (?:many|much|old|far|high|tall|fast|deep)\b|\bcosts?\b|\bprice\b", re.IGNORECASE),
        re.compile(
            r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|hundred|thousand|"
            r"half|twice|once|every|each)\b",
            re.IGNORECASE,
        ),
    ),
    (re.compile(r"\bwho\b|\bwhose\b|\bcalled\b|\bname", re.IGNORECASE), re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")),
)
"""For each kind, the patterns of a question and of an answer. The first kind that matches a question counts."""
_SPEAKER: Final = re.compile(r"^[^:\n]{1,60}: ")
"""The speaker and the day at the start of an offline extractor's memory. Neither is an answer."""


def lacks_asked_kind(question: str, text: str) -> bool:
    """Whether a question asks for a time, a number or a name that a text lacks.

    Args:
        question: The text of a query.
        text: The content of a memory.
    """
    has = next((has for asks, has in _ASKED if asks.search(question)), None)
    return has is not None and has.search(_SPEAKER.sub("", text)) is None
