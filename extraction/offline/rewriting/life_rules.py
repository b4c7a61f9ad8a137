"""Rules that put clauses about homes, trades and food into the forms of the grammar.

Example: "Genoa has been home for years" becomes "I live in Genoa".
"""

import re
from collections.abc import Callable
from typing import Final

from extraction.offline.grammar.patterns import any_of
from extraction.offline.grammar.value_patterns import PLACE_NAME
from extraction.offline.words.homes import SETTLEMENTS
from extraction.offline.words.occupations import is_occupation
from extraction.offline.words.tastes import DIETS, REGIMES

Rule = tuple[str, str | Callable[[re.Match[str]], str]]
"""A pattern within a sentence, and what replaces it."""
LEAD: Final = r"(?P<lead>^\W*(?:(?:and|so|but|well|oh|ok|okay|yes|yeah|also|honestly|actually|btw|tbh|fyi|hi|hello|hey|thanks)\b[\s,!.]*)*)"
"""The begin of a sentence."""
_JOB_WORDS: Final = r"(?P<job>[a-z][\w-]*(?: (?!(?:and|but|in|at|from|for|who|since)\b)[a-z][\w-]*){0,2})"
_GIVEN_UP: Final = (
    r"(?P<thing>(?!(?:on|my|the|a|an|trying|hope|it|that|this|all|everything|any|\w+ing|so|too|in|at|when|after|before|to|him|her|them"
    r"|you|us)\b)[a-z]+(?: (?!(?:and|or|but|in|for|since|when|after|because|years?|months?|ago|last|two|three|four|five|ten|a|an|this"
    r"|completely|entirely|altogether|again|until|till)\b)[a-z]+)?)(?: (?:completely|entirely|altogether|for good|years ago|ages ago"
    r"|long ago"
    r"|(?:\w+|\d+) (?:years?|months?|decades?) ago|a (?:few|couple of) years ago|in \d{4}|last year))*(?=\s*(?:[.,!;]|$))"
    r"(?![^.!?\n]*\b(?:again|but|lent|until|till|month|relapse\w*|while|week)\b)"
)
LIFE_RULES: Final[tuple[Rule, ...]] = (
    # "The town I live in is called Hallein", "Where I live, in Sligo, ..."
    (
        rf"\b(?:the |my )?{any_of(SETTLEMENTS)}(?: that| where| in which)? (?:i|we) (?:currently |now )?(?:live|reside)(?: in)?(?: now)?"
        rf" (?:is|['’]s)(?: called| named)? (?=(?-i:[A-Z]))",
        "I live in ",
    ),
    (
        rf"\b(?:(?:over )?here )?where (?:i|we) live(?: now)?(?:,| is|,? in|, which is) (?:in )?(?P<place>{PLACE_NAME})(?:,\s*|(?=[.!]"
        rf"|$)| (?=it|the)\b)",
        r"I live in \g<place>. ",
    ),
    (
        rf"{LEAD}(?:my |our )?home(?: for (?:me|us))?(?: now| these days| nowadays)?(?: is|['’]s) an? (?!(?:dream"
        rf"|long)\b)(?:[\w'’-]+ ){{1,5}}?"
        rf"(?:in|on) (?=(?-i:[A-Z]))",
        r"\g<lead>I live in ",
    ),
    (
        rf"(?:[,;]|\s[–—-])?\s(?:(?:but|and|so|now|yet|then)\s){{0,2}}(?P<place>{PLACE_NAME}) (?:has been|has become|became"
        rf"|is now) (?:my |our )?home"
        r"(?=\s*(?:[.,!;]|$)|\s(?:now|since|these days|for (?:\w+ ){0,3}(?:years|months|decades))\b)",
        r". I live in \g<place>",
    ),
    (r"[,;.]? (?:but |and |so )?(?:now(?:adays)?,? home is|home is now|today,? home is|home now is) (?=(?-i:[A-ZÀ-Þ]))", ". I live in "),
    (rf"\b(?:i|we)(?:['’]ve| have)?(?: now| finally)? made (?P<place>{PLACE_NAME}) (?:my|our) home\b", r"I live in \g<place>"),
    (r"\b(?:i|we)(?:['’]ve| have)(?: finally| now)? (?:put down|grown|struck) roots in (?=(?-i:[A-ZÀ-Þ]))", "I live in "),
    (r"\byou(?:['’]ll| will) find me living in (?=(?-i:[A-ZÀ-Þ]))", "I live in "),
    (
        rf"\b(?:i|we)(?:['’]ve| have)? (?:just |recently |finally )?(?:bought|got|found|rented) an? (?:[\w-]+ ){{0,2}}(?:house|flat"
        rf"|apartment|place|home"
        rf"|cottage|condo|one) in (?P<place>{PLACE_NAME})(?: and|,)(?: (?:just|have|we|i|already|finally|and))* moved (?:in|there)\b",
        r"I live in \g<place>,",
    ),
    (r"\b(i|we) (?:live and work|work and live|live and study|live, work and play) in\b", r"\1 live in"),
    (
        r"\b(?:my|our) (?:flat|apartment|house|place|home)(?:['’]s| is) (?:right )?(?:in|near|on|at) the (?:very )?(?:edge|cent(?:er|re)"
        r"|middle"
        r"|heart|old town|north"
        r"|south|east|west|outskirts) of (?=(?-i:[A-ZÀ-Þ]))",
        "I live in ",
    ),
    # trades
    (r"\b(my (?:job|work|trade) is) to (?=[a-z]{3,} [a-z])(?!(?:be|help|make sure|get|find|keep|do|know)\b)", r"\1: for a living I "),
    (r"\bi freelance as\b", "I work as"),
    (r"\bi do (?P<job>[a-z]+(?: [a-z]+)?) (?:for work|as a job|as my job|for a job)\b", r"I do \g<job> for a living"),
    (
        r"\b(?:they|(?:my|the) (?:boss|company|firm|team))(?:['’]ve| have| has)? (?:just |recently |finally )?(?:made me|promoted me to"
        r"|hired me as"
        r"|appointed me(?: as)?|took me on as) (?:the |an? )?(?:new )?(?P<job>[a-z][\w-]*(?: (?!(?:for|at|in|of|and|but|last"
        r"|this)\b)[a-z][\w-]*){0,2})"
        r"(?! for an?\b)",
        lambda found: f"I work as a {found['job']}" if is_occupation(found["job"]) else found.group(),
    ),
    (r"\bafter (?:[\w'’-]+ ){1,4}(?:abroad|away|overseas),? (?=(?:i|we)\b)", ""),
    (
        rf"\b(?:i['’]?m|i am) by (?P<kind>trade|profession|training|education) (?:an? )?{_JOB_WORDS}(?=\s*(?:[.,;!]|$)|\s+(?:and|but"
        rf"|from|in)\b)",
        r"I'm a \g<job> by \g<kind>",
    ),
    (r"\bi (?:earn|make) (?:my|a) (?:daily )?(?:bread(?: and butter)?|crust|keep|money|living) (?=(?:as|by)\b)", "I earn a living "),
    (r"\bi (?:earn|make) (?:my|a) (?:daily )?(?:bread(?: and butter)?|crust|keep|living) (?=[a-z]+ing )", "I earn a living by "),
    (
        r"\bi(?:['’]ve| have) (?:just|recently|newly|finally|now|only just)(?: recently| now)* (?:started|begun)(?: out| work"
        r"| working)? as\b"
        r"(?! (?:the|my)\b)",
        "I work as",
    ),
    (
        r"\bi(?:['’]ve| have)?(?: (?:just|recently|finally|now))* (?:(?:took|taken) over as|been promoted to|got promoted to"
        r"|was promoted to"
        r"|been appointed(?: as)?|was appointed(?: as)?|been made|been named) (?:the |an? )?(?:new )?(?=[a-z])",
        "I work as a ",
    ),
    (r"\bprofessionally,? i (?=(?!(?:am|was|have|had|would|could|should|want|do|did|know|think|feel)\b)[a-z]{3,} \w)", "for a living I "),
    (r"\bi(?:['’]ve| have) been (?P<job>[a-z]+ing [a-z ]{2,30}?) for (?:a|my) living\b", r"My job is \g<job>"),
    (r"\b(i|we) (run|own|manage) (?:my|our) (?:very )?own (?=[a-z])", r"\1 \2 a "),
    (r"\bemployed by [\w '’-]{2,30}? as (?=(?:an?|the) )", "employed as "),
    (r"\bmy career is in (?=[a-z])", "I work in "),
    (r"\bhaving (?:just |recently )?(?P<moved>moved|relocated) to (?=(?-i:[A-ZÀ-Þ])[^.!?\n]{2,50}, (?:i|my|we)\b)", r"I \g<moved> to "),
    (r"\bafter (?:\w+|\d+) years (?:in|at|as) [\w ]{3,25}?,? (?=i['’]?m now\b|i am now\b|now i['’]?m\b)", ""),
    (r"\bi (?:quit|left) [\w ]{3,25}? (?:and|to) (?:became|become|am now) (?=an? )", "I became "),
    (rf"\b(?:i|we)(?:['’]ve| have) called (?P<place>{PLACE_NAME}) (?:my |our )?home\b", r"I live in \g<place>,"),
    # food
    (
        r"\b(allergic to) (?:most|all|all kinds of|all sorts of|some|many|certain|various|every kind of|any|pretty much all"
        r"|nearly all) (?=[a-z]+)",
        r"\1 ",
    ),
    (
        r"\b(?:have|['’]ve got|got|['’]ve) (?:an? )?food allerg(?:y|ies)\s*[:(,–—-]\s*(?:to )?(?P<thing>[a-z][a-z ,]{2,40}[a-z])\)?",
        r"have an allergy to \g<thing>",
    ),
    (
        r"\bi(?:['’]ve| have)(?: not|n['’]?t) (?P<act>eaten|drunk|touched|had|smoked|worn) (?:any |a drop of )?(?P<thing>(?!(?:a|an|the"
        r"|sex|luck|time|contact|reason|cause|children|kids|problems?|issues?|trouble|visitors"
        r"|my|it|that|this|anything|much"
        r"|breakfast|lunch|dinner|for|in|since|out|enough)\b)[a-z]+(?: (?!(?:since|in|for)\b)[a-z]+)?) (?:since \d{4}|(?:in"
        r"|for) (?:over |about |almost |more than )?"
        r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|fifteen|twenty|many|several) (?:years|decades)|in years|in decades"
        r"|since (?:i was|childhood))\b",
        r"I avoid \g<thing>",
    ),
    (
        r"\bi(?:['’]m| am) off (?P<thing>dairy|gluten|sugar|meat|alcohol|caffeine|coffee|carbs|wheat) (?:for good|completely|entirely"
        r"|forever|permanently|these days)\b",
        r"I avoid \g<thing>",
    ),
    (rf"\bi was (?:raised|brought up|born) (?:an? )?(?P<diet>{any_of(DIETS)}) and (?:i )?still am\b", r"I'm \g<diet>"),
    (rf"\bi(?:['’]ve| have) always been (?:an? )?(?:strict )?(?P<diet>{any_of(DIETS)})\b(?! until| but)", r"I'm \g<diet>"),
    (
        r"\bi (?:always )?(?:get|break out in|come out in) (?:hives|anaphylaxis) (?:from|when i eat|when eating|whenever i eat"
        r"|after eating|if i eat)"
        r" (?P<thing>(?!(?:stress|nerves|heat|sweat|the|my|thinking|exams?|sun|cold|anything|it|that)\b)[a-z]+(?: (?!(?:and|but|so"
        r"|or)\b)[a-z]+)?)(?=\s*(?:[.,!;]|$))",
        r"I'm allergic to \g<thing>",
    ),
    (rf"\bi live (?=(?:{any_of(DIETS)})(?:\s*[.,!]|\s*$))", "I eat "),
    (
        rf"\bi (?:only|exclusively|always|strictly) (?:eat|buy|cook) (?P<diet>{any_of(DIETS, REGIMES)})(?: (?:food|meat|meals|dishes"
        rf"|stuff|products))?\b",
        r"I only eat \g<diet>",
    ),
    (
        rf"\bi(?:['’]ve| have)? (?:completely |finally |just )?(?:gave up|given up|cut out|sworn off|swore off|quit) {_GIVEN_UP}",
        r"I avoid \g<thing>",
    ),
    (
        rf"\bi(?:['’]ve| have)? (?:completely |finally |just )?(?:stopped|quit|gave up|given up) (?P<act>eat|drink|wear)ing {_GIVEN_UP}",
        r"I don't \g<act> \g<thing>",
    ),
    (
        r"\b((?:(?:my|the) (?:doctor|dietitian|dietician|gp|nutritionist|consultant)|dr\.? \w+|they)(?:"
        r" has|['’]ve| have)? (?:put|got) me) (?=on an? )",
        "I'm ",
    ),
)
"""The rules, in the order in which they are applied."""
