"""Facts that a person plainly states about themselves, read by a small closed grammar.

A sentence is cut into clauses. A clause is read from its first word: an opening ("hi", "by the way", "these days"), the first person, a verb
of the grammar, a value of a fixed form, and then the clause's end or a word that begins an adjunct. Whatever does not fit states no fact.
Negation, past and future need no rules of their own: their verbs are not in the grammar.

Names of relatives and pets are the exception: "my sister Lena" is true in a question and in a condition, too, and is read anywhere.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

from extraction.offline.moods import PlainSentence, is_conditional


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


@dataclass(frozen=True, slots=True)
class PlainFact:
    """A fact with the words of its value."""

    field: Field
    value: str
    message: int
    """Which of the writer's messages states it."""
    place_evidence: float | None = None
    """Only for a home that may be none ("I moved to Notion"): the least similarity to places by which it is one."""
    verb: str = ""
    """Of an avoidance: "eat", "drink"."""
    relation: str = ""
    """Of a relation: "sister"."""


_I: Final = r"(?:I|i|we|We)"
_AM: Final = r"(?:(?:I|i)(?:\s?['’]\s?m|m| am)|(?:we|We)(?:['’]re| are))"
_HAVE: Final = r"(?:(?:I|i|we|We)(?:['’]ve| have))"
_ADVERB: Final = (
    r"(?i:(?:now|currently|still|just|recently|finally|also|actually|already|really|truly|mostly|officially|happily|permanently|always|absolutely|quite"
    r"|very much|honestly|do|both|usually|generally|particularly|especially|even|simply|lately)\s+)*"
)
_CAPITAL: Final = r"[A-ZÀ-ÖØ-ÞĀ-Ž][\w'’.-]*[\w]|[A-ZÀ-ÖØ-ÞĀ-Ž]"
_NAME: Final = (
    rf"(?:(?:Dr|Prof)\.? )?(?:{_CAPITAL})(?:\s+(?:(?:van|von|der|den|de|da|di|del|la|el|al|bin|ibn|ter|ten|du)\s+)*(?:{_CAPITAL})){{0,2}}"
)
_PLACE_NAME: Final = (
    rf"(?:the\s+)?(?:{_CAPITAL})(?:\s+(?:(?:of|de|da|do|del|la|le|am|an der|upon|on|sur|the|di|el|os)\s+)*(?:{_CAPITAL})){{0,3}}"
)
_PLACE: Final = rf"(?P<value>{_PLACE_NAME}(?:,\s+{_PLACE_NAME})?|(?-i:[a-z]{{3,20}}))"
_WORD: Final = r"[^\W\d_][\w'’&+#-]*(?:\+\+|#)?"
_STOP: Final = (
    r"and|or|but|so|because|cause|which|since|for|when|while|with|on|until|till|from|if|at|who|where|though|although|as|than|that|in|near|by|after|before|during|mostly"
    r"|mainly|now|these|lately|too|also|please|anyway|though|however|except|unless|is|are|was|were|me|him|her|them|us|you|every|more|most|right|over|again|especially|instead|any|to|all|half|about"
)
_PHRASE: Final = rf"(?:(?:the|a|an|my|some|all|any)\s+)?(?!(?:{_STOP})\b)(?:{_WORD})(?:\s+(?!(?:{_STOP})\b)(?:{_WORD}|of\b|\d+)){{0,4}}"
_AND_ALSO: Final = rf"(?:\s+and\s+(?!(?:I|i|my|we|our|he|she|it|they|you|the|not|so|also)\b){_WORD}(?:\s+(?!(?:{_STOP})\b){_WORD})?(?=\s*(?:[.!]|$)))?"
_JOB: Final = rf"(?!(?:{_STOP})\b)(?:[a-zA-Z][\w'’-]*)(?:\s+(?!(?:{_STOP})\b)[a-z][\w'’-]*){{0,3}}"
_END: Final = (
    r"(?=\s*(?:[.!,;:()…—–-]|$)|\s+(?:"
    + _STOP
    + r"|i|I|my|just|across|behind|next|close|up|down|here|together|out|online|not|last|this|back)\b|\s*[^\w\s.,;:!?'\"-])"
)

_OPENING: Final = re.compile(
    r"(?:(?:hi|hello|hey|hiya|there|all|everyone|ok(?:ay)?|well|so|and|but|also|oh|yes|yeah|yep|yup|no|nope|nah|sure|anyway|btw|by the way|fyi|just so you know|heads up|for the record|actually"
    r"|in fact|please (?:note|remember|keep in mind)|note|remember|keep in mind|(?:i|I) should (?:mention|add|say)|(?:did )?(?:i|I) mention(?:ed)?|update|ps|finally|these days|nowadays|currently|now|today|right now"
    r"|at the moment|as you know|big news|good news|good morning|good evening|thanks|thank you|sorry|then|because|that|you can|please|personally|in general|on weekends|by (?:profession|trade|training)|honestly|forget it"
    r"|(?:since|after|in|on|as of|until|from) (?:\w+ ){0,5}?(?:yesterday|today|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|\d{4}|spring|summer|autumn|fall|winter|week|month|year|years|months|weeks|weekend|recently)(?: in [A-Z]\w+)?)\b[\s,:;!.—–-]*)*",
    re.IGNORECASE,
)
_CLAUSE_BREAK: Final = re.compile(
    r"(?:,\s*|\s+)(?:and|but|so|because|cause|though|although|while|whereas|plus)\s+(?=(?:now |then |also |yes |no |currently |these days )*(?:I|i|im|my|My|we|We|our|he|she|they|it|you|the|please)\b)"
    r"|\s+(?:and|but)\s+(?=(?:can['’]t stand|hate|love|like|dislike|work as|work for|work at|live in|am|don['’]t|do not|never)\b)"
    r"|\s*[;—–]\s*|\s+-\s+|,\s+(?=(?:I|i|im|my|My|we|We|our|you|he|she|they|it|it['’]s)\b)|:\s+|(?:\.{2,}|…|!)\s+"
)
_WEEKDAYS: Final = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Today|Tomorrow|Christmas|Easter"
_NOT_NAMES: Final = re.compile(
    rf"(?:(?:{_WEEKDAYS})s?|January|February|March|April|May|June|July|August|September|October|November|December|I|The|My|And|But|Who|He|She|It|Is|Was|Has|Will you|When|If|Or|Crazy|Old|Maybe|Back|Later|When|Tomorrow|God"
    rf"|Said|Says|Told|Went|Has|Had|Does|Did|Are|Were|Would|Could|Can|Also|Just|Mr|Mrs|Ms|Mud|English|German|French|Spanish|Dutch|Irish|Italian|Mom|Dad|Mum)\b"
)
_NATIONALITY: Final = re.compile(r"\w+(?:ian|ish|ese|ean|ic|ist|can)\b")


@dataclass(frozen=True, slots=True)
class _Rule:
    field: Field
    pattern: re.Pattern[str]
    place_evidence: float | None = None
    needs_greeting: bool = False
    """Whether the sentence must begin with a greeting: "I'm Ann" alone may be "I'm Dutch"."""


_DECLARED_PLACE: Final = -0.07
_MOVED_PLACE: Final = 0.0
"""Least similarities: "I live in" nearly always names a place; "I moved to" may name a tool, a team or a seat."""


def _rule(
    field: Field, pattern: str, *, ignore_case: bool = False, place_evidence: float | None = None, needs_greeting: bool = False
) -> _Rule:
    return _Rule(field, re.compile(pattern + _END, re.IGNORECASE if ignore_case else 0), place_evidence, needs_greeting)


_ADJECTIVES: Final = (
    r"vegan|vegetarian|back|here|new|sure|sorry|fine|good|great|happy|sad|tired|hungry|bored|lost|ready|curious|stuck|confused|glad|late|single|married"
    r"|pregnant|sick|ill|busy|free|retired|ok|okay|well|not|so|very|really|just|still|currently|on|in|at"
)
_GREETED: Final = re.compile(r"\W*(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening)|greetings)\b", re.IGNORECASE)
_LOWER_CASE_PLACE: Final = 0.06
"""A place in lower case may be any word."""
_LIMITED: Final = re.compile(
    r"\s*,?\s*(?:when(?:ever)?|if|or|except|unless|until|till|on (?:weekdays|weekends|mondays)|sort of|kind of|at heart|in spirit|sometimes"
    r"|for (?:a|the) (?:day|week|month))\b",
    re.IGNORECASE,
)
"""Limits a statement so far that it is not plain: "a vegetarian when it suits me"."""
_DEICTIC: Final = re.compile(
    r"(?:the (?:(?:very )?(?:first|second|third|last|latest|new|other|next|previous|current|old|blue|red|green|white|black)\b|\w+ (?:one|ones|option|version|design|idea)\b|one\b)"
    r"|(?:no(?:ne|body)|every(?:one|body)|some(?:one|body)|any(?:one|body)|all of|most of|some of|either|neither)\b"
    r"|(?:my favou?rite )?(?:option|version|choice|plan|answer|part|bit|thing|line|moment|one)\b)",
    re.IGNORECASE,
)
"""Likings of something in the conversation: "the second one"."""
_COMPARED: Final = re.compile(r".*\b(?:as much as|about as|like a hole|than a|less than)\b", re.IGNORECASE)
_SINCE: Final = r"(?=.*\b(?:since|for|my whole life|all my life|forever|now)\b)"
_WHERE: Final = (
    r"(?:(?:here|over here|together|alone|full-time|part-time|on [^,;.]{1,40}? in|near|just outside|outside|not far from|in an? (?:[a-z-]+ ){1,3}?in|in)\s+)?"
)
_OCCUPATION_HEADS: Final = """
accountant actor actress actuary analyst animator anthropologist archaeologist architect archivist artist assistant astronomer attorney auditor author baker
banker barber barista bartender beekeeper biochemist biologist blacksmith bookbinder bookkeeper bookseller botanist brewer bricklayer broker builder butcher
buyer caretaker carer carpenter cartographer cashier caterer chef chemist chiropractor choreographer cleaner clerk coach cobbler columnist composer conductor consultant
contractor cook copywriter counsellor counselor courier curator dancer dentist dermatologist designer developer diplomat director diver doctor driver ecologist
economist editor electrician engineer entrepreneur epidemiologist estate-agent executive farmer ferryman firefighter fisherman fishmonger fitter florist forester gardener geographer
geologist glassblower glazier goldsmith guard guide gynaecologist gynecologist hairdresser handyman historian host hydrologist illustrator inspector instructor interpreter inventor investigator
janitor jeweller jeweler joiner journalist judge labourer lawyer lecturer librarian lifeguard linguist locksmith logistician machinist magician maker manager masseur masseuse
mathematician mechanic meteorologist metallurgist midwife milliner miner model mortician musician nanny neurologist neuroscientist novelist nurse nutritionist officer operator
optician optometrist orthodontist paediatrician painter paralegal paramedic pathologist pediatrician performer pharmacist pharmacologist philosopher photographer physician
physicist physio physiotherapist pianist pilot plasterer plumber podiatrist poet policeman policewoman politician porter postman potter producer professor programmer
prosecutor psychiatrist psychologist psychotherapist publisher radiographer radiologist ranger realtor receptionist recruiter referee reporter repairer researcher restorer roofer sailor salesman
salesperson saleswoman scholar scientist sculptor seamstress secretary shepherd shoemaker singer social-worker sociologist soldier solicitor sommelier specialist statistician steward
stewardess stonemason strategist surgeon surveyor tailor tattooist teacher technician tester therapist tiler toolmaker trader trainer translator treasurer tutor
typist underwriter upholsterer urologist veterinarian vet vintner violinist waiter waitress watchmaker weaver welder winemaker worker writer zookeeper zoologist student
"""
_HEADS: Final = "|".join(sorted(_OCCUPATION_HEADS.split(), key=len, reverse=True))
_NO_JOB: Final = r"(?!\S*(?:former|retired|ex|aspiring|future|wannabe|would|fake|bad|good|great|terrible|natural|born|horrible|awful|lousy|world|obviously|better|self-(?:proclaimed|declared|styled|made)|big|huge|proud|bit|kind|sort|lot|real|decent|hobby|amateur|lazy|full-time disappointment)\b)"
_RULES: Final = (
    _rule(Field.NAME, rf"(?:[Mm]y (?:full |first |real )?name\s?(?:is|['’]s)|[Tt]he name\s?(?:is|['’]s)|[Mm]y name is spelled|{_AM} called|{_I} go by)\s+(?P<value>{_NAME})"),
    _rule(Field.NAME, rf"{_AM}\s+(?P<value>(?!(?i:{_ADJECTIVES})\b){_NAME})(?<!ing)(?=\s*(?:[.,!]|$)|\s+(?:and|from)\b)", needs_greeting=True),
    _rule(
        Field.NAME,
        rf"(?:[Ee]veryone|[Ee]verybody|[Pp]eople|[Mm]ost people|(?:[Mm]y )?(?:friends|family))(?: just)? calls? me\s+(?P<value>{_NAME})",
    ),
    _rule(Field.NAME, rf"[Cc]all me\s+(?P<value>{_NAME})(?=\s*(?:[.!,]|$|please|instead|from now|everyone|everybody|and\b))"),
    _rule(
        Field.HOME,
        rf"(?:{_I} {_ADVERB}(?:live|reside)|{_AM} {_ADVERB}(?:living|based|settled|at home))\s+{_ADVERB}{_WHERE}(?:in|at|near|outside)?\s*{_PLACE}",
        place_evidence=_DECLARED_PLACE,
    ),
    _rule(
        Field.HOME, rf"{_SINCE}{_HAVE} {_ADVERB}(?:lived|been living|been based)\s+{_WHERE}in\s+{_PLACE}", place_evidence=_DECLARED_PLACE
    ),
    _rule(
        Field.HOME,
        rf"(?:[Mm]y |[Oo]ur )?[Hh]ome is {_ADVERB}(?:in\s+)?(?:an? (?:[a-z-]+ )*(?:village|town|city|place|hamlet|island|suburb) (?:called|named)\s+)?{_PLACE}",
        place_evidence=_MOVED_PLACE,
    ),
    _rule(Field.HOME, rf"[Mm]y (?:apartment|flat|house|home|place|address) is {_ADVERB}in\s+{_PLACE}", place_evidence=_DECLARED_PLACE),
    _rule(
        Field.HOME,
        rf"(?:(?:{_I}|{_HAVE}) )?{_ADVERB}(?:[Mm]oved|[Rr]elocated)\s+{_ADVERB}(?:(?:back|over|here|out|down|up|away|house|home)\s+)*(?:from {_PLACE_NAME}\s+)?to\s+{_PLACE}",
        place_evidence=_MOVED_PLACE,
    ),
    _rule(
        Field.OCCUPATION,
        rf"(?:{_I} {_ADVERB}(?:work|started(?: working| work)?|make (?:a|my) living|earn (?:a|my) living)|{_AM} {_ADVERB}(?:working|employed)|{_HAVE} {_ADVERB}been working|{_I} {_ADVERB}(?:got|have|started|found) an? (?:new )?job)\s+{_ADVERB}(?:full[- ]time |part[- ]time )?as\s+(?!\w+ as\b)(?:an?\s+|the\s+)?+{_NO_JOB}(?P<value>{_JOB})(?<!ment)(?<!ness)(?<!tion)(?<!ity)(?<!ship)(?<!ance)(?<!ence)(?<!dom)(?<!hood)",
    ),
    _rule(
        Field.OCCUPATION,
        rf"(?:{_AM} {_ADVERB}|{_SINCE}{_HAVE} {_ADVERB}been )(?:an?\s+){_NO_JOB}(?P<value>(?:[a-zA-Z][\w-]*\s+){{0,3}}?(?:{_HEADS}))",
    ),
    _rule(
        Field.OCCUPATION, rf"{_AM} {_ADVERB}(?:an?\s+){_NO_JOB}(?P<value>{_JOB})(?=\s+(?:by (?:trade|profession|training)|for a living)\b)"
    ),
    _rule(
        Field.OCCUPATION,
        rf"[Mm]y (?:job|profession|occupation) is (?:being )?(?:an?\s+)?{_NO_JOB}(?P<value>(?:[a-z][\w-]*\s+){{0,3}}?(?:{_HEADS}))",
    ),
    _rule(
        Field.OCCUPATION,
        rf"[Mm]y (?:job|profession|occupation) is (?P<value>[a-z]{{3,}}ing\s+(?!(?:me|us|my|at|in|on|like|out|up|down)\b)[a-z-]+(?:\s+(?!(?:{_STOP})\b)[a-z-]+)?)",
    ),
    _rule(Field.OCCUPATION, rf"I {_ADVERB}(?P<value>teach\s+(?!(?:my|him|her|them|you|myself|people|the|a|kids?)\b)[a-z]+)"),
    _rule(Field.EMPLOYER, rf"{_I} {_ADVERB}work (?:for|at)\s+(?P<value>(?:the\s+)?{_NAME})"),
    _rule(Field.AGE, rf"{_AM} {_ADVERB}(?P<value>\d{{1,2}})(?: years old)?"),
    _rule(
        Field.BIRTHDAY,
        r"[Mm]y birthday is (?:on )?(?P<value>(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Z][a-z]+|[A-Z][a-z]+ \d{1,2}(?:st|nd|rd|th)?)",
    ),
    _rule(Field.LEVEL, rf"{_AM} {_ADVERB}in (?P<value>(?:grade|year|class)\s+\w+)", ignore_case=True),
    _rule(Field.SIZE, r"[Mm]y (?P<value>(?:[a-z]+ )?size is \d+(?:[.,]\d+)?|(?:[a-z]+ )?size is X{0,3}[SML])"),
    _rule(Field.SIZE, rf"{_I} {_ADVERB}(?:wear|take|need|fit)\s+(?:an?\s+)?(?P<value>(?:[a-z]+ )?size (?:\d+(?:[.,]\d+)?|X{{0,3}}[SML]))"),
    _rule(Field.GOAL, r"[Mm]y goal is (?:to )?(?P<value>[^.,;!?\n]{3,80})"),
    _rule(
        Field.LIKE,
        rf"(?:{_I} {_ADVERB}(?:love|like|enjoy|prefer|adore)|{_AM} {_ADVERB}(?:an? )?(?:huge |big |great |massive |real )?(?:fan of|fond of|into|keen on|a fan of))\s+"
        rf"(?!(?:to|it|this|that|these|those|you|your|him|her|them|us|me|how|what|when|where|why|nothing|everything|being|having|getting|myself|the way|the idea|the fact)\b)(?:both\s+)?(?P<value>{_PHRASE}(?:\s+(?:in the|in it|with|for|of) {_WORD})?{_AND_ALSO})",
        ignore_case=True,
    ),
    _rule(
        Field.LIKE,
        rf"{_I} {_ADVERB}(?:love|like|prefer)\s+(?P<value>to (?!(?:think|say|believe|know|see|hear|imagine|pretend|be|have|get|point|call|joke|tell)\b)"
        rf"[a-z]+(?:\s+(?!(?:{_STOP})\b){_WORD}){{0,3}})",
        ignore_case=True,
    ),
    _rule(
        Field.LIKE,
        rf"(?:my (?:main |favou?rite )?hobb(?:y is|ies are))\s+(?P<value>{_PHRASE})",
        ignore_case=True,
    ),
    _rule(
        Field.LIKE,
        rf"(?P<value>my favou?rite (?:[a-z]+ ){{1,3}}(?:is|are) (?!(?:when|the (?:one|way)|that|not)\b){_PHRASE})",
        ignore_case=True,
    ),
    _rule(
        Field.DISLIKE,
        rf"(?:{_I} )?{_ADVERB}(?:hate|dislike|detest|loathe|can(?:['’]|no)?t stand|can(?:['’]|no)?t bear|don['’]?t (?:really )?like|do not like|am not (?:a )?(?:big |huge )?fan of)\s+"
        rf"(?!(?:to|it|this|that|these|those|you|your|him|her|them|us|me|how|what|when|where|why|myself|nothing|the way|the idea|the fact|the new)\b)(?P<value>(?:being |people who )?{_PHRASE}(?:\s+of {_WORD})?)",
        ignore_case=True,
    ),
    _rule(
        Field.DISLIKE,
        rf"{_AM} {_ADVERB}not (?:an? )?(?:big |huge )?(?:fan of|fond of|into|keen on)\s+(?P<value>{_PHRASE})",
        ignore_case=True,
    ),
    _rule(
        Field.ALLERGY,
        rf"{_AM} {_ADVERB}(?:(?:super|very|severely|highly|mildly|deathly|slightly|a bit|extremely|badly|terribly) )?allergic to\s+(?!(?:anything|everything|nothing|it|them|that|this|you|small|bad|stupid)\b)"
        rf"(?P<value>{_PHRASE}(?:(?:,\s+{_PHRASE})*,?\s+and (?:to )?(?!(?:I|i|my|we|it|he|she|they)\b){_PHRASE})?)",
        ignore_case=True,
    ),
    _rule(
        Field.ALLERGY,
        rf"{_HAVE}(?: got)? an? (?:(?:severe|bad|serious|mild|strong|life-threatening|terrible) )?allergy to\s+(?P<value>{_PHRASE}(?:\s+and {_PHRASE})?)",
        ignore_case=True,
    ),
    _rule(
        Field.ALLERGY,
        rf"{_HAVE}(?: got)? an? (?:(?:severe|bad|serious|mild|strong) )?(?P<value>[a-z]+(?: [a-z]+)?) allergy",
        ignore_case=True,
    ),
    _rule(
        Field.DIET,
        rf"(?:{_AM} {_ADVERB}|{_SINCE}{_HAVE} {_ADVERB}been )(?:an? )?(?:(?:strict|lifelong|committed|full-time|practising|dedicated) )?"
        r"(?P<value>vegan|vegetarian|pescatarian|pescetarian|lactose[- ]intolerant|gluten[- ]intolerant|coeliac|celiac|teetotal|diabetic)",
        ignore_case=True,
    ),
    _rule(
        Field.AVOID,
        rf"{_I} {_ADVERB}(?:(?:don['’]?t|do not|never|can(?:['’]|no)?t) (?P<verb>eat|drink|wear|buy|use|smoke)|avoid(?: (?P<gerund>eating|drinking|wearing))?)\s+(?!(?:it|that|this|them|much|enough|any ?thing|a lot|alone|here|there|to|out)\b)(?P<value>{_PHRASE})",
        ignore_case=True,
    ),
)
_GOODS: Final = re.compile(r"(?:(?:my|the)\s+)?(?:any\s+)?", re.IGNORECASE)
_DISAGREEABLE: Final = re.compile(
    r"\b(?:wait(?:ing)?|queu\w+|in line|stuck|traffic|tax(?:es)?|paperwork|bills|delays?|delayed|spam|hangovers?|headaches?|mondays?|audits?|stepping|getting up|losing|paying|cleaning up|4 ?am|3 ?am|drama with|ignored)\b",
    re.IGNORECASE,
)
"""What nobody likes: "I love waiting in line" is irony."""
_NO_ALLERGEN: Final = re.compile(
    r"\b(?:mondays?|mornings?|work(?:ing)?|people|stupidity|small talk|commitment|meetings?|bullshit|drama|responsibility|exercise|effort|paying|homework|money|love|fun)\b",
    re.IGNORECASE,
)

_RELATIVES: Final = (
    r"wife|husband|spouse|partner|girlfriend|boyfriend|fiancée?|sister|brother|mother|father|mom|mum|dad|son|daughter|grandma|grandmother|grandpa|grandfather|grandson|granddaughter|aunt|uncle"
    r"|cousin|niece|nephew|best friend|friend|dog|cat|puppy|kitten|horse|rabbit|parrot|hamster|boss|roommate|flatmate|housemate|neighbou?r|colleague|mother-in-law|father-in-law|sister-in-law|brother-in-law|stepson|stepdaughter"
)
_WHOSE: Final = r"(?:(?:older|younger|little|big|elder|twin|eldest|youngest|new|dear|oldest|middle|baby|old)\s+)?"
_MODAL: Final = r"(?!(?:Will|May)\s+(?!is\b|was\b|has\b|and\b)[a-z]+(?<!s)\b)"
"""The verbs of "My boss Will not come", written with a capital."""
_FIRST_NAME: Final = rf"(?P<value>{_MODAL}(?!(?:{_NOT_NAMES.pattern}))(?:{_CAPITAL})(?<!['’]s)(?:['’]s)?)"
_RELATION_RULES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:[Mm]y|[Oo]ur) {_WHOSE}(?P<relation>{_RELATIVES}),?\s+(?:(?:is )?(?:called|named)\s+)?{_FIRST_NAME}",
        rf"\b(?:[Mm]y|[Oo]ur) {_WHOSE}(?P<relation>{_RELATIVES})(?:['’]s name is| is called| is named)\s+{_FIRST_NAME}",
        rf"\b(?:{_HAVE}(?: got)?|{_I} have) an? {_WHOSE}(?:[a-z]+ )?(?P<relation>{_RELATIVES})(?: who is|,)? (?:called|named)\s+{_FIRST_NAME}",
        rf"^{_FIRST_NAME} is (?:my|our) {_WHOSE}(?P<relation>{_RELATIVES})(?=[.,!]|$| and\b)",
    )
)
_NO_RELATION: Final = re.compile(
    r"\b(?:died|passed away|funeral|late|broke up|split up|divorced|separated|former|used to|imaginary|wish (?:i|my|we)|if (?:i|we) (?:had|have|get|got)|imagine|suppose|pretend|would (?:be|name|call)|had an?|(?:call|name|naming|rename|calling|baptise) (?:my|our))\b|\bhad (?:a|an)\b|\b(?:lie|untrue|not true) that\b|\bno\b,? my\b",
    re.IGNORECASE,
)

_BEGINS_CONDITION: Final = re.compile(r"\W*(?:if|unless|when|whenever|once|i wish|suppose|imagine|as if)\b", re.IGNORECASE)
_CORRECTION_CUE: Final = re.compile(
    r"^\W*(?:(?:haha|hmm|argh|ugh|oops|whoops|oh|no|nope|wait|sorry|pardon|correction|typo|actually|rather|or rather|scratch that|make that|strike that|hang on|autocorrect|my bad|(?:what )?(?:i|I) (?:meant|mean)|(?:i|I) (?:meant|mean) to (?:say|write)|not \w+)\b[\s,:;.!—–-]*)+",
    re.IGNORECASE,
)
_STRONG_CUE: Final = re.compile(
    r"\b(?:wait|sorry|correction|typo|scratch that|make that|strike that|rather|oops|whoops|(?:meant|mean)|my bad|autocorrect|mixed (?:them|it|that) up|wrong)\b|^\W*(?:actually,? )?no\b(?!,? (?:i|my|we|it|that|there)\b)",
    re.IGNORECASE,
)
_CORRECTED_VALUE: Final = re.compile(
    rf"^(?:(?:it['’]?s|that['’]?s|in|is|to|i live in|as an?|an?|the)\s+)*(?P<value>{_NAME}|[a-z][\w'’-]*(?: [a-z][\w'’-]*)?)(?=\s*(?:[.,!;]|$))",
    re.IGNORECASE,
)
_WITHDRAWN: Final = re.compile(
    r"\b(?:i|I) (?:don['’]t|do not|no longer) (?:live|work|eat)|\bforget (?:what|that|it)\b|\bignore (?:that|what)\b", re.IGNORECASE
)


def facts_of(sentences: Sequence[PlainSentence]) -> list[PlainFact]:
    """The facts that sentences state. A correction replaces or removes the fact before it.

    Args:
        sentences: Those of one writer, in order.
    """
    found: list[PlainFact] = []
    last_stated = -1
    """Index of the sentence that stated the last fact of a field with one value or a preference."""
    for index, sentence in enumerate(sentences):
        stated = list(_stated(sentence))
        if not stated and found and index - last_stated <= 2 and (cue := _CORRECTION_CUE.match(sentence.text)):
            _correct(found, sentence, sentence.text[cue.end() :])
            continue
        if stated and found and _STRONG_CUE.search(sentence.text[:30]) and index - last_stated <= 2:
            found = [
                each
                for each in found
                if each.field is not stated[0].field or each.message < sentence.message - 1 or index - last_stated > 2
            ]
        if stated:
            last_stated = index
        related = list(_relations(sentence))
        last_stated = index if related else last_stated
        found += (*stated, *related)
    return found


def _correct(found: list[PlainFact], sentence: PlainSentence, rest: str) -> None:
    """Applies a correction without a verb ("no wait, Bern") to the last fact."""
    last = len(found) - 1
    value = _CORRECTED_VALUE.match(rest)
    if value is not None and _is_value(found[last].field, value["value"]):
        found[last] = replace(found[last], value=value["value"], message=sentence.message)
    elif _STRONG_CUE.search(sentence.text):
        del found[last]


def _is_value(field: Field, value: str) -> bool:
    if field in (Field.HOME, Field.NAME, Field.EMPLOYER, Field.RELATION):
        return value[0].isupper() and _NOT_NAMES.fullmatch(value) is None
    return field not in (Field.AGE, Field.BIRTHDAY, Field.SIZE, Field.LEVEL)


def _stated(sentence: PlainSentence) -> Iterator[PlainFact]:
    if not sentence.states_present:
        return
    clauses = [each.strip() for each in _CLAUSE_BREAK.split(sentence.text) if each and each.strip()]
    subject = ""
    for number, clause in enumerate(clauses):
        opening = _OPENING.match(clause)
        body = clause[opening.end() :] if opening is not None else clause
        if _BEGINS_CONDITION.match(body):
            return
        subject = "I " if re.match(rf"(?:{_I}|im)\b", body) else subject
        fact = _of_clause(body, sentence) or (_of_clause(subject + body, sentence) if subject and not re.match(rf"{_I}\b", body) else None)
        if fact is None or is_conditional(_up_to_comma(body, fact.value)):
            continue
        rest = ", ".join(clauses[number + 1 :]) if number + 1 < len(clauses) else body[body.find(fact.value) + len(fact.value) :]
        cue = _CORRECTION_CUE.match(rest)
        if cue is not None and _STRONG_CUE.search(cue.group()):
            value = _CORRECTED_VALUE.match(rest[cue.end() :])
            if value is not None and _is_value(fact.field, value["value"]):
                yield replace(fact, value=value["value"])
            return
        yield fact


def _up_to_comma(clause: str, value: str) -> str:
    """A clause up to the comma after a value: "allergic to nuts, worth knowing if we cook" states no condition."""
    end = clause.find(",", clause.find(value) + len(value))
    return clause if end < 0 else clause[:end]


def _of_clause(clause: str, sentence: PlainSentence) -> PlainFact | None:
    for rule in _RULES:
        match = rule.pattern.match(clause)
        if match is None or (rule.needs_greeting and not _GREETED.match(sentence.text)):
            continue
        value = " ".join(match["value"].split()).strip(" .,")
        if not _is_believable(rule.field, value, clause[match.end() :], clause):
            return None
        evidence = rule.place_evidence
        if evidence is not None and value.islower():
            evidence = max(evidence, _LOWER_CASE_PLACE)
        groups = match.groupdict()
        return PlainFact(
            rule.field,
            value,
            sentence.message,
            place_evidence=evidence,
            verb=(groups.get("verb") or (groups.get("gerund") or "").removesuffix("ing")).lower(),
        )
    return None


def _is_believable(field: Field, value: str, rest: str, clause: str) -> bool:
    """Whether a value is one of its field: no irony, no idiom, no name that is none."""
    if field is Field.NAME:
        return _NOT_NAMES.match(value) is None and _NATIONALITY.fullmatch(value) is None
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
        return not value[0].islower() or not re.search(r"\b(?:is|are)\b", value)
    if field is Field.AVOID:
        return not re.match(r"\s+(?:after|before|at|on|when|every|during|in|until|much|anymore|any more)\b", rest)
    return True


def _relations(sentence: PlainSentence) -> Iterator[PlainFact]:
    if _NO_RELATION.search(sentence.text):
        return
    seen: set[str] = set()
    for pattern in _RELATION_RULES:
        for match in pattern.finditer(sentence.text):
            name = match["value"].removesuffix("'s").removesuffix("’s")
            if name not in seen and len(name) > 1:
                seen.add(name)
                yield PlainFact(Field.RELATION, name, sentence.message, relation=match["relation"])
