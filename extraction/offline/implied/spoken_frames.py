"""Frames of homes, work and tastes as people speak and chat: clefts, fronted objects, verbs of tolerance, jobs in the progressive.

As in :mod:`extraction.offline.implied.facts`, each frame gives a clause as one statement of the grammar. A frame takes any word of its
class; where the words are also used of other matters, the thing must be known as one of tastes.
"""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.grammar.thing_patterns import AVOID, DISLIKE, EATEN, END, LIKE, LOVE, POINTERS, THING, WORD, Rule
from extraction.offline.grammar.value_patterns import PLACE_NAME
from extraction.offline.implied.homes import unless_away
from extraction.offline.words.homes import DWELLINGS
from extraction.offline.words.occupations import is_occupation
from extraction.offline.words.work import SUBJECTS

_PLACE: Final = rf"(?P<x>{PLACE_NAME})(?!['’]s\b)"
_IM: Final = r"(?:i['’]?m|i am|we['’]?re|we are)"
_CANNOT: Final = r"(?:can['’]?t|cannot|can not|could never|never could|don['’]?t|do not)(?: (?:really|even|ever|properly))*"
_NUMBER: Final = r"(?:two|three|four|five|six|seven|eight|nine|ten|\d+)"
_DAYS: Final = r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|today|tonight|\d\S*|noon|morning|afternoon|evening)s?"
_SERVED: Final = (
    r"(?:black|plain|white|raw|neat|iced|cold|hot|strong|weak|unsweetened|toasted|straight|spicy|mild|rare|well done|without \w+"
    r"|with (?!you\b|me\b)\w+)"
)
_LEADING: Final = (
    r"(?:handling|managing|leading|heading up|heading|running|overseeing|looking after|supervising|coordinating|responsible for|in"
    r" charge of)"
)
_CUSTOMERS: Final = (
    r"(?:clients?|customers?|accounts?|banks?|compan(?:y|ies)|teams?|firms?|stores?|shops?|regions?|branch(?:es)?|factor(?:y|ies)|plants?|sites?"
    r"|hospitals?|schools?|hotels?|countr(?:y|ies)|brands?|projects?|departments?)"
)
_SIMPLE: Final = {
    "handling": "handle",
    "managing": "manage",
    "leading": "lead",
    "heading up": "head up",
    "heading": "head",
    "running": "run",
    "overseeing": "oversee",
    "looking after": "look after",
    "supervising": "supervise",
    "coordinating": "coordinate",
    "responsible for": "look after",
    "in charge of": "look after",
}
_SUBJECT: Final = (
    rf"(?:(?!of\b|in\b)[a-z]+ )?(?:[a-z]+(?:ology|nomics|ography|metry|physics|matics)|engineering|eng|maths|econ|{any_of(SUBJECTS)})"
)
_RETIRED: Final = any_of(listed("retired, semi-retired, self-employed, unemployed, freelance, on disability, between jobs"))


def _works_on(found: re.Match[str]) -> str:
    """The work of somebody who leads or handles something for others, in the simple present."""
    return f"For a living I {_SIMPLE[found['v'].lower()]} {found['x']}"


def _trade(found: re.Match[str]) -> str | None:
    return f"I'm a {found['x']}" if is_occupation(found["x"]) else None


SPOKEN_FRAMES: Final[tuple[Rule, ...]] = (
    # "it's Ghent we live in now", "there are four of us in a flat in Ghent"
    (
        rf"^(?:but |and |so |now )*(?:it['’]?s|it is) {_PLACE},? (?:that |where )?(?:i|we) (?:live|stay|are based|are living|are"
        rf" settled|call home)"
        r"(?: in)?(?: now| these days| nowadays)?\b",
        unless_away,
    ),
    (
        rf"^(?:there(?:['’]s| is| are) )?(?:just |only |now )?(?:the )?{_NUMBER} (?:of us|o us|people|adults and \w+ \w+)(?: all)?"
        rf"(?: live| living| squeezed| crammed| packed| sharing)* (?:in|into) (?:an?|our|the) (?:[a-z-]+ ){{0,3}}?{any_of(DWELLINGS)}"
        rf"(?: (?:above|over|behind|below|near|by|next to|on top of) [^,.;!?]{{2,30}}?)? in {_PLACE}",
        unless_away,
    ),
    (
        rf"^(?:the |our |my )?rent (?:here |up here |down here )?in {_PLACE} (?:is|has|went|keeps|just|goes)\b(?=.*\b(?:us|our|my"
        rf"|me|landlord|landlady)\b)",
        unless_away,
    ),
    (rf"^(?:{_IM} |i )?commut(?:ing|e) (?:daily |every day )?from {_PLACE}(?= (?:to|into|every|daily)\b)", unless_away),
    # work
    (rf"^(?:i['’]?m |i am )?(?P<x>{_RETIRED})(?=\s*(?:$|[,.!]| (?:now|these days|since|thank\w*)\b))", r"I'm \g<x>"),
    (
        rf"^(?:i['’]?m|i am) (?:basically |mainly |currently |now |also )*(?P<v>{_LEADING}) (?P<x>(?:the |all )?(?:[a-z-]+"
        rf" ){{0,2}}?[a-z-]+(?<!ing)"
        rf"(?= (?:for|at|across|in|of) (?:[\w-]+ ){{0,3}}?{_CUSTOMERS}\b))",
        _works_on,
    ),
    (
        rf"^(?:i['’]?m |i am )?(?:(?:in|an?|my|doing|now) )*(?:\d(?:st|nd|rd|th)|first|second|third|fourth|fifth|final)[- ]year"
        rf" (?:of )?(?P<x>{_SUBJECT})"
        r"(?= (?:at|in) (?!school\b)[a-z]+)",
        r"I study \g<x>",
    ),
    (
        r"^as (?P<x>(?!(?:usual|always|ever|such|expected|promised|planned|soon|far|long)\b)[a-z][a-z-]+(?: [a-z]+)?),? (?=(?:i|we"
        r"|my)\b)(?!i (?:was|said|wrote|told|had)\b)",
        _trade,
    ),
    # tolerance
    (rf"^(?:i|we) {_CANNOT} (?:tolerate|abide|stomach|digest) (?:any |the )?{THING}{END}", DISLIKE),
    (rf"^(?:i|we) {_CANNOT} (?:take|do|handle|process|keep down) (?:any )?{EATEN}{END}", DISLIKE),
    (
        r"^(?:i['’]?m|i am|i['’]ve been|i have been) off (?:the )?(?P<x>drink|booze|fags|cigarettes|smokes|bread|sugar|meat|dairy"
        r"|coffee)(?=\s*(?:$|[,.!])|\s+(?:since|for good|for years|completely|entirely|altogether|now|and)\b)",
        AVOID,
    ),
    # "city life suits me", "bread > everything"
    (
        rf"^(?!{_DAYS}\b)(?P<x>(?!{POINTERS}\b)(?:[a-z-]+ )?(?:[a-z]+ing(?<!thing)(?<!morning)(?<!evening)(?<!meeting)|life|weather"
        rf"|air|food|pace))"
        r" (?:really |just |always )?suits (?:me|us)\b(?! (?:to|if|better if|for (?:now|today)))",
        LIKE,
    ),
    (rf"^{THING} (?:>+|beats|tops) (?:everything|all else|anything(?: else)?|any other \w+|all the rest)", LOVE),
    (
        rf"^(?:you know )?there['’]?s nothing (?:better|nicer|finer) than (?:an? |some |the )?(?P<x>(?!{POINTERS}\b){WORD}(?:"
        rf" {WORD})?)(?= (?:that|which|straight|right|fresh|off|cooked|done)\b)",
        LOVE,
    ),
    # the thing first
    (
        rf"^(?:even |but |and |also )*{EATEN},? (?:i|we) (?:do not|don['’]?t|never|can['’]?t|cannot|won['’]?t)(?: ever| really)?"
        rf" (?:eat|drink|take|touch|have)"
        rf"(?: at all| anymore| any more)?{END}",
        AVOID,
    ),
    (rf"^(?:my )?{EATEN},? (?:i|we) (?:always )?(?:drink|take|have|eat|like) (?P<how>{_SERVED}){END}", r"I prefer \g<x> \g<how>"),
    (
        r"^(?:ugh|eww?|urgh|yuck|bleh)[\s,!.]+(?P<x>[a-z]+s|[a-z]+ [a-z]+s)[\s,!.:–—-]+(?:(?:big|hard|massive|huge|absolute|strong"
        r"|firm|solid) )*(?:nope|no|pass)"
        r"(?: from me| for me| thanks)",
        DISLIKE,
    ),
)
