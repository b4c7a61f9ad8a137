"""The tense of the sentence around a date: it decides between the last and the next Friday."""

import re
from functools import lru_cache
from typing import Final, Literal

Tense = Literal["past", "future", "unknown"]

_REACH: Final = 200
"""Characters on each side that are searched. Words further away say little about the date, and a sentence may have no end."""
_KEPT_PLACES: Final = 256
"""Cached results: repetitive text has the same words around many dates, and a search takes 0.2 ms."""
_IRREGULAR_PAST: Final = (
    "was were had did been ate beat became began blew bought brought built came caught chose crept dealt drank drew drove dug "
    "fed fell felt fled flew forgave forgot fought found froze gave got grew heard held hid hung kept knew laid led left lent "
    "lost made meant met overcame paid ran rang rode said sang sank saw sent slept slid sold sought spent spoke sprang spun "
    "bent bit bled broke burnt learnt overslept rose shook shot spilt stuck stung swung withdrew "
    "stole stood struck swam swept swore taught thought threw told took tore understood went wept woke won wore wrote"
)
"""Past forms that are not also a present form, an everyday noun or an adjective."""
_PAST: Final = re.compile(
    rf"\b(?:{'|'.join(_IRREGULAR_PAST.split())}|since|(?-i:(?<!on )(?<!by )(?<!this )(?<!next )(?<!last )(?<!until )sat(?! \d))|"
    r"(?!(?:need|indeed|speed|feed|seed|exceed|proceed|shed|bed|red|wed|supposed"
    r"|sposed)\b)(?<!\bis )(?<!\bare )(?<!\bam )(?<!\bbe )[a-z]{2,}ed)\b",
    re.IGNORECASE,
)
"""Words of the past. "Sat" is Saturday, "sat" is a verb; "is switched off on the 27th" may be in the future."""
_OF_NO_TENSE: Final = re.compile(
    r"\b(?:was|were) (?:going|due|meant|supposed|about|to)\b|\bhad to\b"
    r"|\b(?:(?:have|has|had)(?: already)?|['’](?:ve|s|d)) got\b"
    r"|\b(?:promised|planned|agreed|arranged|booked|scheduled|reserved|registered|offered|invited)\b(?! (?:on|in|since|during|back)\b)",
    re.IGNORECASE,
)
"""Words of the past that leave the day of what they announce open, so that the nearest day counts ("I promised her a cake, 4 October", "the
freeze was going to be 31 October"); and the present "has got"."""
_BY: Final = re.compile(r"\bby(?: the)? ?$", re.IGNORECASE)
"""Precedes a deadline."""
_UNTIL: Final = re.compile(r"\b(?:until|till)(?: the)? ?$", re.IGNORECASE)
"""Precedes the end of a period: a promise until then is in the future, a wait until then is in the past."""
_IS_ON: Final = re.compile(r"(?:\b(?:is|are|am)|['’]s)(?: on| due| due on)?(?: the)? ?$", re.IGNORECASE)
"""Precedes a date that is fixed now: "the exam is on Friday"."""
_STARTING: Final = re.compile(r"\b(?:starting|beginning|commencing|effective)(?: on| from)?(?: the)? ?$", re.IGNORECASE)
"""Precedes the day on which something announced begins: "I was offered a post, starting on 7 May"."""
_FROM: Final = re.compile(r",\s*from(?: the)? ?$", re.IGNORECASE)
"""Precedes such a day unless the sentence reports a state that is over: "I asked for leave, from 1 April"."""
_POSTPONED: Final = re.compile(
    r"\b(?:moved?|moving|pushed?|pushing|postponed?|rescheduled?|shift(?:ed)?|delayed?|brought|bring|put)\b[^.!?;,]*"
    r"\b(?:to|until|till)(?: the)? ?$",
    re.IGNORECASE,
)
"""Precedes the new day of an appointment: "I moved the review to 20 February"."""
_MOVED_AWAY: Final = re.compile(r"\b(?:i|we|he|she|they) moved (?:to|until)(?: the)? ?$", re.IGNORECASE)
_OVER: Final = re.compile(r"\b(?:was|were|had|did)\b", re.IGNORECASE)
_ARRANGED: Final = (
    r"(?:moving|leaving|flying|starting|going|coming|travel+ing|arriving|returning|driving|meeting|seeing|visiting|getting married|hiking"
    r"|taking|running|racing|performing|presenting|interviewing|hosting|out|away|off|back|busy|free|in|at|on leave|on holiday|on call)"
)
"""After a present form of "be": with a day, it is arranged ("I'm flying on the 3rd", "she's in Oslo on the 13th")."""
_FUTURE: Final = re.compile(
    r"\b(?:will|won['’]t|going to|gonna|plan(?:ning|s)?|next|upcoming|tomorrow|shall|by|until|before|due|deadline|must|need|arrives?|"
    r"starts?|begins?|leaves?|opens?|ends?|visit|want|hope|hoping|should|could|can|maybe|perhaps|supposed to|sposed to|meant to"
    r"|see you|let['’]s)\b|['’]ll\b"
    rf"|(?:\b(?:am|is|are|im)|['’](?:m|re|s)) (?:not )?{_ARRANGED}\b",
    re.IGNORECASE,
)
_PRESENT: Final = re.compile(r"\b(?:am|is|are|have|has|do|does)\b|['’](?:m|re)\b", re.IGNORECASE)
"""A clause with its own present verb does not take the tense of another clause."""
_SENTENCE_MARKS: Final = ".!?\n"
_CLAUSE_BREAK: Final = re.compile(r"[;,]|\b(?:and|but|so|because|that|which|while|then)\b", re.IGNORECASE)


def tense_around(text: str, start: int, end: int) -> Tense:
    """The tense of the clause around a part of a text, or of its sentence if the clause has none.

    A word of the past outweighs one of the future, except for a deadline ("moved by the 20th"). With "until" it says nothing about the
    day ("she promised to plan it until the 10th"); without such a word the day is in the future.

    Args:
        text: The whole text.
        start: First character of the part.
        end: First character after the part.
    """
    return _tense_between(text[max(0, start - _REACH) : start], text[start:end], text[end : end + _REACH])


@lru_cache(maxsize=_KEPT_PLACES)
def _tense_between(before: str, own: str, after: str) -> Tense:
    opening = max(before.rfind(mark) for mark in _SENTENCE_MARKS) + 1
    closing = min((found for mark in _SENTENCE_MARKS if (found := after.find(mark)) >= 0), default=len(after))
    before, after, first_word = before[opening:], after[:closing], own.split()[0]
    around = f"{before} {first_word} {after}"
    own = own.lower()
    if (_BY.search(before) or own.startswith("by ")) and not _OVER.search(around):
        return "future"
    starts = _STARTING.search(before) and not _OVER.search(before.rpartition(",")[2])
    if starts or (_FROM.search(before) and not _OVER.search(around)) or (_POSTPONED.search(before) and not _MOVED_AWAY.search(before)):
        return "future"
    if _UNTIL.search(before) or own.startswith(("until ", "till ")):
        return "past" if _OVER.search(around) else "unknown" if _PAST.search(around) else "future"
    if _IS_ON.search(f"{before}{'on' if own.startswith('on ') else ''}"):
        return "future"
    clause = f"{_CLAUSE_BREAK.split(before)[-1]} {first_word} {_CLAUSE_BREAK.split(after)[0]}"
    in_clause = _tense_of(clause)
    return _tense_of(around) if in_clause == "unknown" and not _PRESENT.search(clause) else in_clause


def _tense_of(words: str) -> Tense:
    words = _OF_NO_TENSE.sub(" ", words)
    return "past" if _PAST.search(words) else "future" if _FUTURE.search(words) else "unknown"
