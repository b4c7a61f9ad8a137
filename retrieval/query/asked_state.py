"""Whether an English question asks for the current state, a former one, or something else."""

import re
from functools import lru_cache
from typing import Final, Literal

from memory.dates.calendar import MONTH_NAMES
from retrieval.query.question import KEPT_QUESTIONS
from retrieval.redundancy.statement_forms import asked_attributes

AskedState = Literal["current", "former", "other"]

_PRESENT: Final = re.compile(
    r"(?:\b(?:do|does|is|are|am|can|don't|doesn't|isn't|can't)|\w['’](?:s|re|m))\b|\b(?:has|have) (?:\w+ )?(?:got|to)\b|\b(?:has|have)$",
    re.IGNORECASE,
)
_NARRATED: Final = re.compile(
    r"^\W*(?:why|when did|what (?:day|date|year|month) |how (?:does|do) \w+ (?!get\b|drink|spell|commute))"
    r"|\b(?:thinks?|says?|describes?|feels?|feeling|believes?|symboli[sz]es?|represents?|means?|plan(?:s|ning)?"
    r"|hopes?|gives?|offers?|offering|advi[cs]e|suggests?"
    r"|inspired?|motivated?|appreciates?|reminds?|reminder|excited|important|interested|according|wants?|kinds? of|types? of"
    r"|hobbies|activities|some of|reasons?)\b",
    re.IGNORECASE,
)
"""Questions about thoughts, words and plans, and about all of a kind: more than the newest statement answers them."""
_OF_MANY: Final = re.compile(
    r"^(?:what|which) are\b"
    r"|\b(?:what|which) (?:(?!days|times|hours)\w+ )?(?!days|times|hours)\w+(?<![sui])s (?:do|does|are|have|has|can)\b",
    re.IGNORECASE,
)
"""Questions that ask for several values: a new pet does not replace another one."""
_OPEN: Final = re.compile(
    r"^(?:what (?:do(?! (?:i|we)\b)|does)|how|(?:what|when) (?:is|are) \w+ \w+ing|who (?:do|does))\b(?! (?:many|much|old)\b)", re.IGNORECASE
)
"""Questions that name no kind of answer. Only an attribute of a person makes them questions about a state."""
_DATE: Final = re.compile(rf"\b(?:19|20)\d\d\b|\b(?:in|on|since|during) (?:{'|'.join(MONTH_NAMES)})\b", re.IGNORECASE)
_PAST: Final = re.compile(r"\b(?:did|didn't|was|wasn't|were|weren't|had|used to|ever|how (?:long|often)|since when)\b", re.IGNORECASE)
_FORMER: Final = re.compile(
    r"\b(?:before|previous(?:ly)?|former(?:ly)?|earlier|used to|did \w+ use to|originally|in the past|back then|at first|first"
    r"|prior|until|till|old(?= (?:job|address|phone|car|flat|home|house|name|number|boss|manager|employer|team|school|password|plan|place"
    r"|email|doctor))"
    r"|last(?= (?:job|address|phone|car|flat|employer|team|school)))\b",
    re.IGNORECASE,
)
_STATE_VERB: Final = re.compile(
    r"\b(?:did|was|were) (?:\w+ ){1,3}"
    r"(?:live|living|work|working|drive|use|using|drink|eat|study|studying|married|engaged|wear|own|called|named)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=KEPT_QUESTIONS)
def asked_state(question: str) -> AskedState:
    """Whether a question asks how things are now, or how they were before a change. ``other``: neither, or it is not English.

    Args:
        question: The text of a query.
    """
    if _NARRATED.search(question) or _DATE.search(question):
        return "other"
    if _PAST.search(question):
        return "former" if _FORMER.search(question) or _STATE_VERB.search(question) else "other"
    if not _PRESENT.search(question):
        return "other"
    if _FORMER.search(question):
        return "former"
    return "other" if _OF_MANY.search(question) or (_OPEN.search(question) and not asked_attributes(question)) else "current"
