"""Labels before a colon that name a game, a tale or another world: "Valheim update: I live in a longhouse"."""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from memory.texts.prefiltered_patterns import compiled

_REPORTS: Final = "update|updates|news|diary|log|journal|recap|chronicles?|notes|report|status"
_OWN: Final = any_of(
    listed("""
    a, an, the, my, our, some, another, one, any, this, last, first, new, quick, small, short, little, brief, big, huge, great, good,
    bad, sad,
    happy, exciting, important, personal, private, general, latest, daily, weekly, monthly, yearly, annual, regular, life, work, job,
    career,
    health, medical, diet, food, allergy, home, house, housing, moving, move, address, family, baby, kids, pregnancy, wedding, relationship,
    dating, school, uni, university, study, studies, status, weekend, holiday, travel, profile, account, contact, minor, major, final,
    random,
    breaking, morning, evening, monday, friday, sunday, today's, yesterday's, ok, okay, hi, hey, hello, all, everyone, so, and, now, just,
    late, slight, further, tiny, fitness, running, training, garden, flat, apartment, cat, dog, pet, puppy, kitten, more, other
""")
)
_LABEL: Final = compiled(
    rf"^\W*(?:{_OWN}\b\W+)*(?!{_OWN}\b)(?!(?:{_REPORTS})\b)[^\s:][^:\n]{{0,50}}?\W(?:{_REPORTS})(?:\s*#?\d+)?\s*:", re.IGNORECASE
)
_EPISODE: Final = re.compile(
    r"^\W*(?:day|week|month|year|season|episode|level|turn|round) \w+ (?:in|on|of|as|at) (?!(?:my|our|the|this|being|working"
    r"|a new)\b)[^:\n]{1,40}:",
    re.IGNORECASE,
)


def is_label(sentence: str) -> bool:
    """Whether a sentence begins with a label that may name a game or a tale. Labels of the own life, such as "job update", are none.

    Args:
        sentence: A sentence.
    """
    return _LABEL.match(sentence) is not None or _EPISODE.match(sentence) is not None
