"""The grammar of plain statements: which clauses state which fact.

A clause is read from its first word: the first person, a verb of the grammar, a value of a fixed form, and then the clause's end or a word
that begins an adjunct. Negation, past and future need no rules: their verbs are not in the grammar.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from extraction.offline.fact_words import (
    ADJECTIVES,
    ADVERBS,
    AND_ALSO,
    CLAUSE_END,
    FIRST_NAME,
    FIRST_PERSON,
    I_AM,
    I_HAVE,
    JOB,
    NAME,
    NO_JOB,
    OCCUPATIONS,
    PHRASE,
    PLACE,
    PLACE_NAME,
    RELATIVES,
    SINCE,
    STOP,
    WHERE,
    WHOSE,
    WORD,
)


class Field(Enum):
    """A kind of fact."""

    NAME = auto()
    HOME = auto()
    OCCUPATION = auto()
    EMPLOYER = auto()
    AGE = auto()
    BIRTHDAY = auto()
    LEVEL = auto()
    SIZE = auto()
    GOAL = auto()
    LIKE = auto()
    DISLIKE = auto()
    AVOID = auto()
    ALLERGY = auto()
    DIET = auto()
    RELATION = auto()


OPENING: Final = re.compile(
    r"(?:(?:just (?:an? )?(?:quick |small |friendly |little )?(?:note|reminder|heads[- ]up|fyi|mention(?:ing)?|saying)"
    r"|(?:quick|small|friendly|little) (?:note|reminder|heads[- ]up)|a (?:quick |small )?(?:note|reminder)|reminder"
    r"|by (?:day|night)|for what it['’]?s worth|fwiw|(?:it['’]?s )?worth (?:saying|mentioning|knowing|noting)"
    r"|(?:i |you )?should know|(?:i )?forgot to (?:say|mention|add)|one (?:more )?thing|typo|correction|that changed|things changed"
    r"|hi|hello|hey|hiya|there|all|everyone(?! calls?\b)|ngl|tbh|guess what|(?:it )?turns out|as for (?:me"
    r"|work|my (?:job|diet|home|name))|ok(?:ay)?|well|so|and|but|also|oh|yes|yeah|yep|yup|no|nope|nah|sure"
    r"|anyway|btw|by the way|fyi|just so you know|heads up|for the record|actually"
    r"|in fact|please (?:note|remember|keep in mind)|note|remember|keep in mind|(?:i|I) should (?:mention|add|say)"
    r"|(?:did )?(?:i|I) mention(?:ed)?|update|ps|finally|these days|nowadays|currently|now|today|right now"
    r"|at the moment|as you know|big news|good news|good morning|good evening|thanks|thank you|sorry|then|because|that"
    r"|you can|please|personally|in general|on weekends|by (?:profession|trade|training)|honestly|forget it"
    r"|(?:since|after|in|on|as of|until|from) (?:\w+ ){0,5}?(?:yesterday|today|monday|tuesday|wednesday|thursday"
    r"|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|\d{4}|spring|summer|autumn|fall|winter|week|month|year|years|months|weeks|weekend|recently)"
    r"(?: in [A-Z]\w+)?)\b[\s,:;!.—–-]*)*",
    re.IGNORECASE,
)
CLAUSE_BREAK: Final = re.compile(
    r"(?:,\s*|\s+)(?:and since|and|but|so|since|because|cause|though|although"
    r"|while|whereas|plus)\s+(?=(?:now |then |also |yes |no |remember |please "
    r"|currently |these days )*(?:I|i|im|my|My|we|We|our|he|she|they|it|you|the|please)\b)"
    r"|\s+(?:and|but)\s+(?=(?:can['’]t stand|hate|love|like|dislike|work as|work for|work at|live in|am|don['’]t|do not|never)\b)"
    r"|\s*[;—–]\s*|\s+-\s+|,\s+(?=(?:I|i|im|my|My|we|We|our|you|he|she|they|it|it['’]s)\b)"
    r"|,\s+(?=(?:now|then|nowadays|currently|today|these days|at the moment)\s+(?:I|i|im|my|My|we|We)\b)|:\s+|(?:\.{2,}|…|!)\s+"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A form of clause and the kind of fact that it states."""

    field: Field
    pattern: re.Pattern[str]
    place_evidence: float | None = None
    needs_greeting: bool = False
    """Whether the sentence must begin with a greeting: "I'm Ann" alone may be "I'm Dutch"."""


_DECLARED_PLACE: Final = -0.11
_MOVED_PLACE: Final = -0.04
"""Least similarities: "I live in" nearly always names a place; "I moved to" may name a tool, a team or a seat."""


def _rule(
    field: Field, pattern: str, *, ignore_case: bool = False, place_evidence: float | None = None, needs_greeting: bool = False
) -> Rule:
    return Rule(field, re.compile(pattern + CLAUSE_END, re.IGNORECASE if ignore_case else 0), place_evidence, needs_greeting)


RULES: Final = (
    _rule(
        Field.NAME,
        rf"(?:[Mm]y (?:full |first |real )?name\s?(?:is|['’]s)|[Tt]he name\s?(?:is|['’]s)|[Mm]y name is spelled"
        rf"|{I_AM} called|{FIRST_PERSON} go by)\s+(?P<value>{NAME})",
    ),
    _rule(
        Field.NAME, rf"{I_AM}\s+(?P<value>(?!(?i:{ADJECTIVES})\b){NAME})(?<!ing)(?=\s*(?:[.,!]|$)|\s+(?:and|from)\b)", needs_greeting=True
    ),
    _rule(
        Field.NAME,
        rf"(?:[Ee]veryone|[Ee]verybody|[Pp]eople|[Mm]ost people|(?:[Mm]y )?(?:friends|family))(?: just)? calls? me\s+(?P<value>{NAME})",
    ),
    _rule(Field.NAME, rf"[Cc]all me\s+(?P<value>{NAME})(?=\s*(?:[.!,]|$|please|instead|from now|everyone|everybody|and\b))"),
    _rule(
        Field.HOME,
        rf"(?:{FIRST_PERSON} {ADVERBS}(?:live|reside)|{I_AM} {ADVERBS}(?:living|based(?: out of)?|settled|at home))"
        rf"\s+{ADVERBS}{WHERE}(?:in|at|near|outside)?\s*{PLACE}",
        place_evidence=_DECLARED_PLACE,
    ),
    _rule(
        Field.HOME,
        rf"{SINCE}(?:{I_HAVE} {ADVERBS}(?:lived|been living|been based)|[Bb]een (?:living|based))\s+{WHERE}in\s+{PLACE}",
        place_evidence=_DECLARED_PLACE,
    ),
    _rule(Field.HOME, rf"(?:[Mm]y |[Oo]ur )[Hh]ome is {ADVERBS}in\s+{PLACE}", place_evidence=_DECLARED_PLACE),
    _rule(
        Field.HOME,
        rf"(?:[Mm]y |[Oo]ur )?[Hh]ome is {ADVERBS}(?:in\s+)?(?:an? (?:[a-z-]+ )*(?:village|town|city|place|hamlet|island"
        rf"|suburb) (?:called|named)\s+)?{PLACE}",
        place_evidence=_MOVED_PLACE,
    ),
    _rule(Field.HOME, rf"[Mm]y (?:apartment|flat|house|home|place|address) is {ADVERBS}in\s+{PLACE}", place_evidence=_DECLARED_PLACE),
    _rule(
        Field.HOME,
        rf"(?:(?:{FIRST_PERSON}|{I_HAVE}) )?{ADVERBS}(?:[Mm]oved|[Rr]elocated)\s+{ADVERBS}(?:(?:back|over|here|out|down|up"
        rf"|away|house|home)\s+)*(?:from {PLACE_NAME}\s+)?to\s+{PLACE}",
        place_evidence=_MOVED_PLACE,
    ),
    _rule(
        Field.OCCUPATION,
        rf"(?:{FIRST_PERSON} {ADVERBS}(?:work|started(?: working| work)?|make (?:a|my) living|earn (?:a|my) living)"
        rf"|{I_AM} {ADVERBS}(?:working|employed)|{I_HAVE} {ADVERBS}been working|{FIRST_PERSON} {ADVERBS}(?:got|have|started"
        rf"|found) an? (?:new )?job)\s+{ADVERBS}(?:full[- ]time |part[- ]time )?as\s+(?!\w+ as\b)(?:an?\s+"
        rf"|the\s+)?+{NO_JOB}(?P<value>{JOB})(?<!ment)(?<!ness)(?<!tion)(?<!ity)(?<!ship)(?<!ance)(?<!ence)(?<!dom)"
        rf"(?<!hood)",
    ),
    _rule(
        Field.OCCUPATION,
        rf"(?:{I_AM} {ADVERBS}|I {ADVERBS}became "
        rf"|{SINCE}{I_HAVE} {ADVERBS}been )(?:an?\s+){NO_JOB}(?P<value>(?:[a-zA-Z][\w-]*\s+){{0,3}}?(?:{OCCUPATIONS}))",
    ),
    _rule(
        Field.OCCUPATION, rf"{I_AM} {ADVERBS}(?:an?\s+){NO_JOB}(?P<value>{JOB})(?=\s+(?:by (?:trade|profession|training)|for a living)\b)"
    ),
    _rule(
        Field.OCCUPATION,
        rf"[Mm]y (?:job|profession|occupation) is (?:being )?(?:an?\s+)?{NO_JOB}(?P<value>(?:[a-z][\w-]*\s+){{0,3}}?(?:{OCCUPATIONS}))",
    ),
    _rule(
        Field.OCCUPATION,
        rf"[Mm]y (?:job|profession|occupation) is (?P<value>[a-z]{{3,}}ing\s+(?!(?:me|us|my|at|in|on|like|out|up|down)\b)"
        rf"[a-z-]+(?:\s+(?!(?:{STOP})\b)[a-z-]+)?)",
    ),
    _rule(Field.OCCUPATION, rf"I {ADVERBS}(?P<value>teach\s+(?!(?:my|him|her|them|you|myself|people|the|a|kids?)\b)[a-z]+)"),
    _rule(Field.EMPLOYER, rf"{FIRST_PERSON} {ADVERBS}work (?:for|at)\s+(?P<value>(?:the\s+)?{NAME})"),
    _rule(Field.AGE, rf"{I_AM} {ADVERBS}(?P<value>\d{{1,2}})(?: years old)?"),
    _rule(
        Field.BIRTHDAY,
        r"[Mm]y birthday is (?:on )?(?P<value>(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Z][a-z]+|[A-Z][a-z]+ \d{1,2}(?:st|nd|rd|th)?)",
    ),
    _rule(Field.LEVEL, rf"{I_AM} {ADVERBS}in (?P<value>(?:grade|year|class)\s+\w+)", ignore_case=True),
    _rule(Field.SIZE, r"[Mm]y (?P<value>(?:[a-z]+ )?size is \d+(?:[.,]\d+)?|(?:[a-z]+ )?size is X{0,3}[SML])"),
    _rule(
        Field.SIZE,
        rf"{FIRST_PERSON} {ADVERBS}(?:wear|take|need|fit)\s+(?:an?\s+)?(?P<value>(?:[a-z]+ )?size (?:\d+(?:[.,]\d+)?"
        rf"|X{{0,3}}[SML]))",
    ),
    _rule(Field.GOAL, r"[Mm]y goal is (?:to )?(?P<value>[^.,;!?\n]{3,80})"),
    _rule(
        Field.LIKE,
        rf"(?:{FIRST_PERSON} {ADVERBS}(?:love|like|enjoy|prefer|adore)|{I_AM} {ADVERBS}(?:an? )?(?:huge |big |great "
        rf"|massive |real )?(?:fan of|fond of|into|keen on|a fan of))\s+"
        rf"(?!(?:to|it|this|that|these|those|you|your|him|her|them|us|me|how|what|when|where|why|nothing|everything|being"
        rf"|having|getting|myself|the way|the idea|the fact)\b)(?:both\s+)?(?P<value>{PHRASE}(?:\s+(?:in the|in it|with|for"
        rf"|of) {WORD})?{AND_ALSO})",
        ignore_case=True,
    ),
    _rule(
        Field.LIKE,
        rf"{FIRST_PERSON} {ADVERBS}(?:love|like|prefer)\s+(?P<value>to (?!(?:think|say|believe|know|see|hear|imagine"
        rf"|pretend|be|have|get|point|call|joke|tell)\b)"
        rf"[a-z]+(?:\s+(?!(?:{STOP})\b){WORD}){{0,3}})",
        ignore_case=True,
    ),
    _rule(
        Field.LIKE,
        rf"(?:my (?:main |favou?rite )?hobb(?:y is|ies are))\s+(?P<value>{PHRASE})",
        ignore_case=True,
    ),
    _rule(
        Field.LIKE,
        rf"(?P<value>my favou?rite (?:[a-z]+ ){{1,3}}(?:is|are) (?!(?:when|the (?:one|way)|that|not)\b){PHRASE})",
        ignore_case=True,
    ),
    _rule(
        Field.DISLIKE,
        rf"(?:{FIRST_PERSON} )?{ADVERBS}(?:hate|dislike|detest|loathe|can(?:['’]|no)?t stand|can(?:['’]|no)?t bear"
        rf"|don['’]?t (?:really )?like|do not like|am not (?:a )?(?:big |huge )?fan of)\s+"
        rf"(?!(?:to|it|this|that|these|those|you|your|him|her|them|us|me|how|what|when|where|why|myself|nothing|the way"
        rf"|the idea|the fact|the new)\b)(?P<value>(?:being |people who )?{PHRASE}(?:\s+of {WORD})?)",
        ignore_case=True,
    ),
    _rule(
        Field.DISLIKE,
        rf"(?:{I_AM} {ADVERBS})?not (?:an? )?(?:big |huge )?(?:fan of|fond of|into|keen on)\s+(?P<value>{PHRASE})",
        ignore_case=True,
    ),
    _rule(
        Field.ALLERGY,
        rf"{I_AM} {ADVERBS}(?:(?:super|very|severely|highly|mildly|deathly|slightly|a bit|extremely|badly|terribly)"
        rf" )?allergic to\s+(?!(?:anything|everything|nothing|it|them|that|this|you|small|bad|stupid)\b)"
        rf"(?P<value>{PHRASE}(?:(?:,\s+{PHRASE})*,?\s+and (?:to )?(?!(?:I|i|my|we|it|he|she|they)\b){PHRASE})?)",
        ignore_case=True,
    ),
    _rule(
        Field.ALLERGY,
        rf"{I_HAVE}(?: got)? an? (?:(?:severe|bad|serious|mild|strong|life-threatening|terrible)"
        rf" )?allergy to\s+(?P<value>{PHRASE}(?:\s+and {PHRASE})?)",
        ignore_case=True,
    ),
    _rule(
        Field.ALLERGY,
        rf"{I_HAVE}(?: got)? an? (?:(?:severe|bad|serious|mild|strong) )?(?P<value>[a-z]+(?: [a-z]+)?) allergy",
        ignore_case=True,
    ),
    _rule(
        Field.DIET,
        rf"(?:{I_AM} {ADVERBS}|{SINCE}{I_HAVE} {ADVERBS}been )(?:an? )?(?:(?:strict|lifelong|committed|full-time|practising|dedicated) )?"
        r"(?P<value>vegan|vegetarian|pescatarian|pescetarian|lactose[- ]intolerant|gluten[- ]intolerant|coeliac|celiac|teetotal|diabetic)",
        ignore_case=True,
    ),
    _rule(Field.DIET, rf"{FIRST_PERSON} {ADVERBS}(?:keep|eat)\s+(?P<value>kosher|halal)", ignore_case=True),
    _rule(Field.DIET, r"(?P<value>vegan|vegetarian|pescatarian|coeliac|celiac|teetotal) here", ignore_case=True),
    _rule(
        Field.AVOID,
        rf"{FIRST_PERSON} {ADVERBS}(?:(?:don['’]?t|do not|never|can(?:['’]|no)?t) (?P<verb>eat|drink|wear|buy|use|smoke)"
        rf"|avoid(?: (?P<gerund>eating|drinking|wearing))?)\s+(?!(?:it|that|this|them|much|enough|any ?thing|a lot|alone"
        rf"|here|there|to|out)\b)(?P<value>{PHRASE})",
        ignore_case=True,
    ),
)
RELATION_RULES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:[Mm]y|[Oo]ur) {WHOSE}(?P<relation>{RELATIVES}),?\s+(?:(?:is )?(?:called|named)\s+)?{FIRST_NAME}",
        rf"\b(?:[Mm]y|[Oo]ur) {WHOSE}(?P<relation>{RELATIVES})(?:['’]s (?:name is|called|named)| is called| is named)\s+{FIRST_NAME}",
        rf"\b(?:{I_HAVE}(?: got)?|{FIRST_PERSON} have) an? {WHOSE}(?:[a-z]+ )?(?P<relation>{RELATIVES})(?: who is"
        rf"|,)? (?:called|named)\s+{FIRST_NAME}",
        rf"\b{FIRST_PERSON}(?:['’]ve| have)(?: got)? an? {WHOSE}(?P<relation>{RELATIVES}),\s+{FIRST_NAME}(?=\s*[.,!]|$)",
        rf"^{FIRST_NAME} is (?:my|our) {WHOSE}(?P<relation>{RELATIVES})(?=[.,!]|$| and\b)",
    )
)
