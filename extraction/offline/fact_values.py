"""Values that state no fact although their clause has the form of one: idioms, irony, limits, things of the conversation."""

import re
from typing import Final

from extraction.offline.fact_grammar import Field
from extraction.offline.fact_words import NOT_NAMES

_LIMITED: Final = re.compile(
    r"\s*,?\s*(?:when(?:ever)?|if|or|except|unless|until|till|on (?:weekdays|weekends|mondays)|sort of|kind of|at heart|in spirit|sometimes"
    r"|for (?:a|the) (?:day|week|month)|at least on paper|on paper|in my (?:head|mind|heart|thoughts)|in theory|not(?=\W*$))\b",
    re.IGNORECASE,
)
"""Limits a statement so far that it is not plain: "a vegetarian when it suits me"."""
_DEICTIC: Final = re.compile(
    r"(?:the (?:(?:very )?(?:first|second|third|last|latest|new|other|next|previous|current|old|blue|red|green|white"
    r"|black)\b|\w+ (?:one|ones|option|version|design|idea)\b|one\b)"
    r"|(?:no(?:ne|body)|every(?:one|body)|some(?:one|body)|any(?:one|body)|all of|most of|some of|either|neither)\b"
    r"|(?:my favou?rite )?(?:option|version|choice|plan|answer|part|bit|thing|line|moment|one)\b)",
    re.IGNORECASE,
)
"""Likings of something in the conversation: "the second one"."""
_COMPARED: Final = re.compile(r".*\b(?:as much as|about as|like a hole|than a|less than)\b", re.IGNORECASE)
_DISAGREEABLE: Final = re.compile(
    r"\b(?:wait(?:ing)?|queu\w+|in line|stuck|traffic|tax(?:es)?|paperwork|bills|delays?|delayed|spam|hangovers?"
    r"|headaches?|mondays?|audits?|stepping|getting up|losing|paying|cleaning up|4 ?am|3 ?am|drama with|ignored)\b",
    re.IGNORECASE,
)
"""Things that nobody likes: "I love waiting in line" is irony."""
_NO_ALLERGEN: Final = re.compile(
    r"\b(?:mondays?|mornings?|work(?:ing)?|people|stupidity|small talk|commitment|meetings?|bullshit|drama"
    r"|responsibility|exercise|effort|paying|homework|money|love|fun)\b",
    re.IGNORECASE,
)
_NO_HOME: Final = re.compile(
    r"ruins|nowhere|fear|hope|denial|pain|limbo|exile|peace|debt|sin|hell|heaven|chaos|poverty|luxury|squalor", re.IGNORECASE
)
_NATIONALITY: Final = re.compile(r"\w+(?:ian|ish|ese|ean|ic|ist|can)\b")


def is_believable(field: Field, value: str, rest: str, clause: str) -> bool:
    """Whether a value is one of its field: no irony, no idiom, no name that is none."""
    if field is Field.NAME:
        return NOT_NAMES.match(value) is None and _NATIONALITY.fullmatch(value) is None
    if field in (Field.DIET, Field.HOME, Field.OCCUPATION) and _LIMITED.match(rest):
        return False
    if field in (Field.LIKE, Field.DISLIKE):
        if _DEICTIC.match(value):
            return False
        is_ironic = field is Field.LIKE and (_DISAGREEABLE.search(value) or _DISAGREEABLE.search(rest))
        return not is_ironic and _COMPARED.match(rest) is None
    if field is Field.ALLERGY:
        return _NO_ALLERGEN.search(value) is None
    if field is Field.HOME:
        return _NO_HOME.fullmatch(value) is None and (not value[0].islower() or not re.search(r"\b(?:is|are)\b", value))
    if field is Field.AVOID:
        return not re.match(r"\s+(?:after|before|at|on|when|every|during|in|until|much|anymore|any more)\b", rest)
    return True
