"""Rewrites common misspellings, learners' English and shortened clauses into the forms that the grammar of plain statements knows."""

import re
from typing import Final

from extraction.offline.fact_words import DIETS
from extraction.offline.patterns import any_of, listed

_DIET: Final = any_of(DIETS)
_LASTING: Final = r"(?:since\b|all my life|my whole life|for (?:\w+ ){0,2}(?:years|decades|ages)|as long as|ever since)"
_TASTES: Final = {
    "loved": "love",
    "liked": "like",
    "adored": "adore",
    "enjoyed": "enjoy",
    "hated": "hate",
    "disliked": "dislike",
    "loathed": "loathe",
}
_NOT_LISTED: Final = any_of(listed("none, no, nope, nothing, n/a, yes, any, not, unknown, ?"))
_REWRITES: Final[tuple[tuple[str, str], ...]] = (
    # misspellings of "allergic" and "allergy"
    (r"\b(?:alergic|allergik|alergik|allergick|alergick|allegic|allerjic|alergical)\b", "allergic"),
    (r"\b(?:alergy|allergie|alergie|allergi|alergi)\b", "allergy"),
    (r"\b(?:allergys|alergies|alergys)\b", "allergies"),
    (r"\bhav\b", "have"),
    (r"\b(allergic|allergy|allergies|intolerant) (?:2|too|on|against|of)\b(?= \w)", r"\1 to"),
    (r"\b(allergic to \w+) n (?=\w+)", r"\1 and "),
    # lists under a heading
    (rf"^(\W*)(?:my )?(?:food )?allerg(?:y|ies) ?: ?(?!{_NOT_LISTED}\b)(?=\w)", r"\1my allergies are "),
    (r"\b(my (?:hobbies|passions|interests)) include\b", r"\1 are"),
    # the second of two predicates
    (
        r"\b((?:i['’]?m|i am) (?:an? )?(?:[\w-]+ ){1,3}?)(?:and|but)(?: also| very| severely)? (allergic|intolerant) to\b",
        r"\1and I'm \2 to",
    ),
    (r"\b((?:i|we) (?:don['’]?t|do not|never) (?:eat|drink) [\w ]{2,30}?) and am (allergic|intolerant) to\b", r"\1 and I'm \2 to"),
    # no subject
    (rf"^(\W*)been (?=(?:an? )?(?:\w+ )?{_DIET} (?:since|for)\b)", r"\1I've been "),
    (rf"^(\W*)({_DIET})(?=,? (?:fyi|btw|by the way|here)\b)", r"\1I'm \2"),
    # the perfect for what lasts
    (
        rf"\b(?:i['’]?ve|i have) ({'|'.join(_TASTES)}) (?=[^.,;!?]{{2,40}}? {_LASTING})",
        r"I \1 ",
    ),
    # learners
    (r"\b(i|we) enjoy to\b", r"\1 like to"),
    (r"\b(?:i['’]?m|i am) (?:really |very )?(?:liking|loving)\b(?! (?:it|this|that)\b)", "I like"),
    (
        r"\b((?:i['’]?m|i am) living) (?:since|for) (?:\d+|\w+) (?:years?|months?) (in|near)\b",
        r"\1 \2",
    ),
    # a home after a former one
    (
        r"\b((?:used to live|lived|was living|grew up|was born|born)\b[^.;!?]{2,50}?)(?:,|;| -| but| and)+ (?:now|these days|nowadays|today|currently)"
        r",? (?:it['’]?s|it is|its)\b(?= [A-Z])",
        r"\1, now I live in",
    ),
)
_COMPILED: Final = tuple((re.compile(pattern, re.IGNORECASE | re.MULTILINE), repl) for pattern, repl in _REWRITES)
_LASTING_TASTE: Final = re.compile(rf"\bI ({'|'.join(_TASTES)}) (?=[^.,;!?]{{2,40}}? {_LASTING})")


def plainly_worded(text: str) -> str:
    """A text with such clauses in the forms of the grammar. Only facts are read from it; it is never stored.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    for pattern, replacement in _COMPILED:
        text = pattern.sub(replacement, text)
    return _LASTING_TASTE.sub(lambda found: f"I {_TASTES[found[1].lower()]} ", text)
