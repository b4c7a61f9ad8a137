"""What kind of thing a question in English asks for, and whether a text has one: a time, a number, a name."""

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
"""What asks for each kind, and what has it. The first that a question asks for counts."""
_SPEAKER: Final = re.compile(r"^[^:\n]{1,60}: ")
"""What the offline extractor begins a memory with: who spoke, and on which day. Neither is an answer."""


def lacks_asked_kind(question: str, text: str) -> bool:
    """Whether a question asks for a time, a number or a name, and a text has none.

    Args:
        question: The text of a query.
        text: The content of a memory.
    """
    has = next((has for asks, has in _ASKED if asks.search(question)), None)
    return has is not None and has.search(_SPEAKER.sub("", text)) is None
