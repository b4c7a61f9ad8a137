"""Puts a clause into its usual order before the grammar reads it: "What I love most is jazz" as "I love jazz".

The patterns of :mod:`extraction.offline.fact_grammar` begin with the subject. People also put the object first, name a group that
they belong to as the subject, or speak of themselves as "someone who".
"""

import re
from collections.abc import Callable
from typing import Final

from extraction.offline.fact_words import DIETS, DISLIKING, LIKING, MANY_RELATIVES, REGIMES, RELATIVES, SETTLEMENTS
from extraction.offline.occupations import is_occupation
from extraction.offline.patterns import any_of, cue, listed
from extraction.offline.value_patterns import FIRST_NAME, PLACE_NAME

LEAD: Final = r"(?P<lead>^\W*(?:(?:and|so|but|well|oh|ok|okay|yes|yeah|also|honestly|actually|btw|tbh|fyi|hi|hello|hey|thanks)\b[\s,!.]*)*)"
"""The begin of a sentence."""
END: Final = r"(?=\s*(?:[.,!;)…—–]|$|[^\w\s?'’\"]|(?:and|but|so|because|since|especially|too|tbh|lol|honestly|imo|these days|lately)\b))"
_ADVERBS: Final = (
    r"(?:(?:really|truly|absolutely|personally|most|always|especially|do|just|honestly|still|simply|also|still|both|totally) )*"
)
_POINTERS: Final = listed("""
    it, this, that, these, those, he, she, they, you, we, i, there, here, what, who, which, where, when, how, why, if, not, no, nothing,
    everything, something, anything, everyone, nobody, someone, people, one, both, the one, the ones, the first, the second, the last, my,
    your, his, her, our, their, a, an, the way, the fact, the idea, your, some, all, none, and, but, so, or, yes, to, for, about, like, being
""")
_NOUNS: Final = (
    rf"(?!(?:{any_of(_POINTERS)})\b)(?:the )?[^\W\d][\w'’&-]*(?: (?!(?:is|are|was|were|i|that|which|who|and|but|so|because|since|when|if)\b)"
    r"[\w'’&-]+){0,4}?"
)
_LIKED: Final = rf"{any_of(LIKING)}"
_FELT: Final = rf"(?P<verb>(?:{_LIKED}|{any_of(DISLIKING)}|(?:am|['’]m) (?:\w+ )?allergic to|avoid|never eat|don['’]?t eat|can['’]?t eat))"
_THING: Final = r"(?:thing|things|food|drink|sport|hobby|music|activity|dish|place|animal|season|subject|game|chore)"
_MOST: Final = (
    r"(?: (?:(?:the )?most|(?:the )?best|above all|more than anything(?: else)?|a lot|so much|doing|to do|eating|to eat|watching"
    r"|in life|in the world|with a passion|(?:most )?of all|about as much as anything))*"
)
_FREE_TIME: Final = (
    r"(?:to (?:relax|unwind|switch off|calm down|de-?stress|clear my head|wind down|have fun|recharge)|for (?:fun|pleasure|relaxation)"
    r"|in my (?:free|spare|leisure) time|(?:on|at) (?:the )?weekends|after work|outside (?:of )?work)"
)
_CHERISHED: Final = (
    r"(?:favou?rites?|guilty pleasures?|happy place|comfort food|comfort zone|(?:biggest|greatest|great|main|true|first) (?:love|joy"
    r"|passion|pleasure)|jam|obsession|drink of choice|sport of choice|passion|passions|hobby|hobbies|pastime|pastimes|favou?rite things?"
    r"|favou?rite thing (?:ever|in the (?:whole )?world|to do|to eat|to drink|to watch))"
)
_RELATED: Final = any_of(RELATIVES, MANY_RELATIVES, listed("family, whole family, other half, old man, missus, better half, little family"))
_MEMBER: Final = rf"(?:my|our|the) (?:(?:new|two|three|four|little|older|younger|dear|lovely) )*{_RELATED}(?:,? (?-i:{FIRST_NAME}))?"
_JOB_WORDS: Final = r"(?P<job>[a-z][\w-]*(?: (?!(?:and|but|in|at|from|for|who|since)\b)[a-z][\w-]*){0,2})"
_PASTIMES: Final = any_of(
    listed("""
    hiking, climbing, swimming, running, jogging, cycling, gardening, baking, cooking, reading, knitting, sewing, painting, drawing, sketching,
    fishing, sailing, surfing, skiing, dancing, singing, gaming, crocheting, kayaking, camping, birdwatching, bird watching, woodworking,
    volunteering, travelling, traveling, photography, yoga, pottery, playing, watching, listening to, building, collecting, restoring,
    carving, embroidering, writing, foraging, bouldering, rowing, skating, riding, tinkering with, growing, solving, brewing
""")
)
_THIRD_PERSON: Final = {
    "is": "am", "has": "have", "lives": "live", "works": "work", "loves": "love", "likes": "like", "enjoys": "enjoy", "hates": "hate",
    "adores": "adore", "dislikes": "dislike", "prefers": "prefer", "avoids": "avoid", "follows": "follow", "doesn't": "don't",
    "doesnt": "don't", "doesn’t": "don't", "can't": "can't", "cant": "can't", "can’t": "can't", "cannot": "can't", "never": "never",
    "teaches": "teach", "studies": "study", "runs": "run", "drives": "drive", "owns": "own", "collects": "collect", "eats": "eat",
}  # fmt: skip
"""Verbs after "someone who", and those after "I"."""
_VERBS_AFTER_WHO: Final = "|".join(sorted(_THIRD_PERSON, key=len, reverse=True))
_NO_FREE_TIME_ACT: Final = any_of(
    listed("""
    am, was, have, had, want, wanted, would, will, can, could, should, need, try, tried, don't, do, did, work, study, sleep, look, think,
    help, just, never, used, enjoy, love, like, hate, prefer, plan, get, take, may, might, must, only, rarely, hardly, mostly, usually,
    often, mainly, sometimes, also, always, either, wonder, hope, wish, worry, dream, feel, wait
""")
)
_GIVEN_UP: Final = (
    r"(?P<thing>(?!(?:on|my|the|a|an|trying|hope|it|that|this|all|everything|any|\w+ing|so|too|in|at|when|after|before|to|him|her|them"
    r"|you|us)\b)[a-z]+(?: (?!(?:and|or|but|in|for|since|when|after|because|years?|months?|ago|last|two|three|four|five|ten|a|an|this"
    r"|completely|entirely|altogether|again|until|till)\b)[a-z]+)?)(?: (?:completely|entirely|altogether|for good|years ago|ages ago|long ago"
    r"|(?:\w+|\d+) (?:years?|months?|decades?) ago|a (?:few|couple of) years ago|in \d{4}|last year))*(?=\s*(?:[.,!;]|$))"
    r"(?![^.!?\n]*\b(?:again|but|lent|until|till|month|relapse\w*|while|week)\b)"
)
_UNREAL: Final = cue(
    listed("""
    would, wish, could, might, say, says, said, character, imagine, suppose, supposedly, dream*, novel, song, used to, once, pretend, maybe,
    perhaps, probably, he, she, according, claims, hypothetical*, story, lyrics
""")
)
"""Words by which a sentence may not be meant as it is put; it stays as it is."""
_HAS_FIRST_PERSON: Final = re.compile(r"\b(?:i|im|i['’]?m|i['’]ve|me|my|we|us|our)\b", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"[^.!?\n]+(?:\.(?=\w)[^.!?\n]*)*[.!?\n]*")
LONGEST: Final = 2000
"""Characters of a message whose clauses are put in order."""

_RULES: Final[tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...]] = (
    # the subject is a group with the writer in it
    (
        rf"(?P<before>^\W*|[,;]\s+|\b(?:and|but|so|because|since) )(?:both |either )?(?P<group>{_MEMBER}(?:(?:,| and) {_MEMBER})*)"
        r"(?:,? and| &|, plus) (?:i|me|myself)\b(?: both| all)? (?=[a-z])(?!(?:was|were|had|did|used|would|went|got|met|split|broke)\b)",
        lambda found: f"{found['before']}{_with_names(found['group'])}we ",
    ),
    (
        rf"(?P<before>^\W*|[,;]\s+|\b(?:and|but|so|because|since) )(?:me|i|myself) and (?P<group>{_MEMBER})(?: both| all)? "
        r"(?=[a-z])(?!(?:was|were|had|did|used|would|went|got|met|split|broke)\b)",
        lambda found: f"{found['before']}{_with_names(found['group'])}we ",
    ),
    (r"\bour (?:little |whole )?(?:family|household) (?:lives|resides)\b", "we live"),
    (r"\bour (?:little |whole )?(?:family|household) (?=(?:moved|settled|relocated)\b)", "we "),
    (r"\bour (?:little |whole )?(?:family|household) (?:is|has been) (?=(?:based|settled|living)\b)", "we are "),
    # the verb with an empty word before it
    (r"\b(my (?:[\w-]+ ){1,3}?)(?:happens? to be|has always been|remains)\b", r"\1is"),
    (r"\bi (?:just )?happen to be\b", "I am"),
    (r"\bi (?:just )?happen to (?=(?:live|work|love|hate|like|have)\b)", "I "),
    # "As someone who lives in Bergen, I ...", "I'm the kind of person who loves fog"
    (
        rf"{LEAD}(?:as|being|speaking as|i['’]?m|i am) (?:(?:just|also) )?(?:someone|somebody|a person|one|(?:the|that) (?:kind|type|sort) of"
        rf" person) (?:who|that)(?P<verb>['’]s| (?:{_VERBS_AFTER_WHO}))\b(?P<rest>[^.!?\n]*)",
        lambda found: _of_who(found),
    ),
    (
        rf"{LEAD}(?:as|being|speaking as) (?:someone|somebody|a person|one) (?:with|who suffers from) (?=[^,.!?\n]{{3,40}},? (?:i|my|it)\b)",
        r"\g<lead>I have ",
    ),
    (rf"{LEAD}(?:as|being) (?:someone|somebody|a person) (?=(?:allergic|intolerant) to [^,.!?\n]{{2,40}},? (?:i|my|it)\b)", r"\g<lead>I'm "),
    # "What I love most is jazz", "If there's one thing I hate, it's fog"
    (
        rf"{LEAD}(?:(?:if )?there(?:['’]s| is) )?(?:what|(?:(?:the|one|another|the one|the only|my one) )?(?:other )?{_THING}(?: that| which)?)"
        rf" (?:i|we) {_ADVERBS}{_FELT}{_MOST}(?:,? (?:it['’]s|it is)|,? (?:is|are)|['’]s|\s*:)\s+(?!(?:that|when|how|if|the way|your|this|about"
        r"|not|being|to be|it|you|a lack|having|seeing)\b)(?=\w)",
        r"\g<lead>I \g<verb> ",
    ),
    # "Jazz is what I love most"
    (
        rf"{LEAD}(?P<thing>{_NOUNS}),? (?:is|are|['’]s)(?: (?:always|definitely|just|simply|certainly))? (?:what|something|things?|(?:one|a|the)"
        rf" (?:of the )?(?:few |many )?{_THING})(?: that| which)? (?:i|we) {_ADVERBS}{_FELT}{_MOST}{END}",
        r"\g<lead>I \g<verb> \g<thing>",
    ),
    (rf"{LEAD}(?P<thing>{_NOUNS}) (?:is|are) (?:what|how) (?:i|we) (?:(?:do|spend my time|relax|unwind)\b ?)+{_FREE_TIME}?{END}", r"\g<lead>I like \g<thing>"),
    (rf"{LEAD}(?P<thing>\w+ing [\w '’-]{{2,40}}?) is what i do for (?:a living|work|money){END}", r"\g<lead>My job is \g<thing>"),
    (
        rf"{LEAD}(?P<thing>{_NOUNS}) (?:is|are|has always been|have always been)(?: (?:definitely|still|always|absolutely|probably no))?"
        rf" (?:one of |some of |among )?my (?:(?:absolute|all-time|all time|big|only|new|biggest|greatest|very) )*{_CHERISHED}{END}",
        r"\g<lead>I like \g<thing>",
    ),
    (
        rf"\bmy (?:(?:absolute|all-time|all time|big|only|one|biggest|greatest|secret) )*{_CHERISHED}(?: in life| in the world)?"
        r" (?:is|are|has always been|would have to be) (?!(?:not|that|when|the (?:one|way|second|first)|to be|a|an|my|you|your|this|it)\b)",
        "I like ",
    ),
    # "Nothing makes me happier than baking", "There's nothing I like more than fog"
    (
        r"\bnothing (?:makes me (?:happier|smile|as happy)|relaxes me|calms me(?: down)?|cheers me up|makes my day)(?: more)?(?: than| like| as) ",
        "I love ",
    ),
    (rf"\bthere(?:['’]s| is) (?:nothing|little) i {_ADVERBS}(?P<verb>{_LIKED}|hate|dislike) (?:more|better) than ", r"I \g<verb> "),
    (
        r"\bi(?:['’]ve| have)? (?:always |long )?(?:had|have|got)? ?an? (?:\w+ )?(?:love|passion|fondness|soft spot|weakness|enthusiasm) (?:for|of)"
        r" (?!(?:you|him|her|my|this|that|it)\b)",
        "I love ",
    ),
    (r"\bi(?:['’]m| am) (?:such |just )?a(?: total| real| complete)? sucker for (?!an? )", "I love "),
    (
        rf"\bi could (?:eat|drink|watch|listen to|play|read)(?P<thing> {_NOUNS}) (?:every (?:single )?day|all day(?: long)?|forever|daily"
        r"|day and night|non-?stop|for hours|for every meal|for breakfast, lunch and dinner|morning, noon and night)\b",
        r"I love\g<thing>",
    ),
    (rf"\bi (?:do|did) a lot of (?={_PASTIMES}\b)", "I like "),
    (
        rf"\bi spend (?:most|all|much|a lot|half|plenty|nearly all|almost all)(?: of)?(?: my| the)? (?:\w+ )?(?:evenings?|weekends?|nights|days"
        rf"|time|sundays?|saturdays?|mornings?|summers?|holidays?|money on)(?: on)? (?={_PASTIMES}\b)(?!(?:watching|listening to) (?:it|them))",
        "I like ",
    ),
    (
        rf"\bin my (?:free|spare|leisure) time,? (?:i|we) (?:(?:mostly|usually|often|mainly|also|like to|love to) )*"
        rf"(?=(?!{_NO_FREE_TIME_ACT}\b)[a-z]+ \w)(?![^.!?\n]*\b(?:when i was|used to|back then)\b)",
        "I like to ",
    ),
    # "The town I live in is called Hallein", "Where I live, in Sligo, ..."
    (
        rf"\b(?:the |my )?{any_of(SETTLEMENTS)}(?: that| where| in which)? (?:i|we) (?:currently |now )?(?:live|reside)(?: in)?(?: now)?"
        rf" (?:is|['’]s)(?: called| named)? (?=(?-i:[A-Z]))",
        "I live in ",
    ),
    (rf"\b(?:(?:over )?here )?where (?:i|we) live(?: now)?(?:,| is|,? in|, which is) (?:in )?(?P<place>{PLACE_NAME})(?:,\s*|(?=[.!]|$)| (?=it|the)\b)", r"I live in \g<place>. "),
    (
        rf"{LEAD}(?:my |our )?home(?: for (?:me|us))?(?: now| these days| nowadays)?(?: is|['’]s) an? (?!(?:dream|long)\b)(?:[\w'’-]+ ){{1,5}}?"
        rf"(?:in|on) (?=(?-i:[A-Z]))",
        r"\g<lead>I live in ",
    ),
    (
        rf"(?:,|;|\s[–—-]|\b(?:but|and|so|now|yet|then))*[\s,]+(?P<place>{PLACE_NAME}) (?:has been|has become|became|is now) (?:my |our )?home"
        r"(?=\s*(?:[.,!;]|$)|\s(?:now|since|these days|for (?:\w+ ){0,3}(?:years|months|decades))\b)",
        r". I live in \g<place>",
    ),
    (r"[,;.]? (?:but |and |so )?(?:now(?:adays)?,? home is|home is now|today,? home is|home now is) (?=(?-i:[A-ZÀ-Þ]))", ". I live in "),
    (rf"\b(?:i|we)(?:['’]ve| have)?(?: now| finally)? made (?P<place>{PLACE_NAME}) (?:my|our) home\b", r"I live in \g<place>"),
    (r"\b(?:i|we)(?:['’]ve| have)(?: finally| now)? (?:put down|grown|struck) roots in (?=(?-i:[A-ZÀ-Þ]))", "I live in "),
    (r"\byou(?:['’]ll| will) find me living in (?=(?-i:[A-ZÀ-Þ]))", "I live in "),
    (
        rf"\b(?:i|we)(?:['’]ve| have)? (?:just |recently |finally )?(?:bought|got|found|rented) an? (?:[\w-]+ ){{0,2}}(?:house|flat|apartment|place|home"
        rf"|cottage|condo) in (?P<place>{PLACE_NAME}) and (?:(?:just|have|we|i|already|finally) )*moved (?:in|there)\b",
        r"I live in \g<place>,",
    ),
    (r"\b(i|we) (?:live and work|work and live|live and study|live, work and play) in\b", r"\1 live in"),
    (
        r"\b(?:my|our) (?:flat|apartment|house|place|home)(?:['’]s| is) (?:right )?(?:in|near) the (?:very )?(?:cent(?:er|re)|middle|heart|old town|north"
        r"|south|east|west|outskirts) of (?=(?-i:[A-ZÀ-Þ]))",
        "I live in ",
    ),
    # trades
    (r"\b(my (?:job|work|trade) is) to (?=[a-z]{3,} [a-z])(?!(?:be|help|make sure|get|find|keep|do|know)\b)", r"\1: for a living I "),
    (r"\bi freelance as\b", "I work as"),
    (r"\bi do (?P<job>[a-z]+(?: [a-z]+)?) (?:for work|as a job|as my job|for a job)\b", r"I do \g<job> for a living"),
    (
r"\b(?:they|(?:my|the) (?:boss|company|firm|team))(?:['’]ve| have| has)? (?:just |recently |finally )?(?:made me|promoted me to|hired me as"
        r"|appointed me(?: as)?|took me on as) (?:the |an? )?(?:new )?(?P<job>[a-z][\w-]*(?: (?!(?:for|at|in|of|and|but|last|this)\b)[a-z][\w-]*){0,2})"
        r"(?! for an?\b)",
        lambda found: f"I work as a {found['job']}" if is_occupation(found["job"]) else found.group(),
    ),
    (r"\bafter (?:[\w'’-]+ ){1,4}(?:abroad|away|overseas),? (?=(?:i|we)\b)", ""),
    # tastes
    (
        r"\b((?:i|we) (?:really |absolutely |also )?(?:love|like|enjoy|adore)) going to (?=(?:the )?[a-z])"
        r"(?!(?:be|have|get|sleep|bed|work|school|there|that|this|these|my|your|his|her|our|a|an|see|do)\b)",
        r"\1 ",
    ),
    (r"\b(i|we) (?P<verb>love|enjoy|like) nothing (?:more|better) than (?=\w)", r"\1 \g<verb> "),
    (
        r"\bi (?:can['’]?t|cannot|could not|couldn['’]?t) (?:live|survive|imagine life|start (?:the|my) day) without "
        r"(?!(?:you|him|her|them|it|this|that|my|the|a|an|your|being|knowing|these|those)\b)(?=[a-z])",
        "I love ",
    ),
    (r"\bi(?:['’]ve| have) been (?:really |so |very )?(into|fond of|keen on|crazy about|obsessed with) (?=[^.!?\n]{2,40} (?:since|for|all my life)\b)", r"I'm \1 "),
    (r"\bmy kind of (?:music|film|films|food|holiday|sport|book|books|weather|fun|humou?r) (?:is|are) (?!(?:that|this|the|when|not)\b)(?=[a-z])", "I like "),
    (
        rf"\b(?:i['’]?m|i am) by (?P<kind>trade|profession|training|education) (?:an? )?{_JOB_WORDS}(?=\s*(?:[.,;!]|$)|\s+(?:and|but|from|in)\b)",
        r"I'm a \g<job> by \g<kind>",
    ),
    (r"\bi (?:earn|make) (?:my|a) (?:daily )?(?:bread(?: and butter)?|crust|keep|money|living) (?=(?:as|by)\b)", "I earn a living "),
    (
        r"\bi(?:['’]ve| have) (?:just|recently|newly|finally|now|only just)(?: recently| now)* (?:started|begun)(?: out| work| working)? as\b"
        r"(?! (?:the|my)\b)",
        "I work as",
    ),
    (
        r"\bi(?:['’]ve| have)?(?: (?:just|recently|finally|now))* (?:(?:took|taken) over as|been promoted to|got promoted to|was promoted to"
        r"|been appointed(?: as)?|was appointed(?: as)?|been made|been named) (?:the |an? )?(?:new )?(?=[a-z])",
        "I work as a ",
    ),
    (r"\bprofessionally,? i (?=(?!(?:am|was|have|had|would|could|should|want|do|did|know|think|feel)\b)[a-z]{3,} \w)", "for a living I "),
    # food
    (r"\b(allergic to) (?:most|all|all kinds of|all sorts of|some|many|certain|various|every kind of|any|pretty much all|nearly all) (?=[a-z]+)", r"\1 "),
    (r"\b(?:have|['’]ve got|got|['’]ve) (?:an? )?food allerg(?:y|ies)\s*[:(,–—-]\s*(?:to )?(?P<thing>[a-z][a-z ,]{2,40}[a-z])\)?", r"have an allergy to \g<thing>"),
    (
        r"\bi(?:['’]ve| have)(?: not|n['’]?t) (?P<act>eaten|drunk|touched|had|smoked|worn) (?:any |a drop of )?(?P<thing>(?!(?:a|an|the|my|it|that|this|anything|much"
        r"|breakfast|lunch|dinner|for|in|since|out|enough)\b)[a-z]+(?: (?!(?:since|in|for)\b)[a-z]+)?) (?:since \d{4}|(?:in|for) (?:over |about |almost |more than )?"
        r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|fifteen|twenty|many|several) (?:years|decades)|in years|in decades|since (?:i was|childhood))\b",
        r"I avoid \g<thing>",
    ),
    (r"\bi(?:['’]m| am) off (?P<thing>dairy|gluten|sugar|meat|alcohol|caffeine|coffee|carbs|wheat) (?:for good|completely|entirely|forever|permanently|these days)\b", r"I avoid \g<thing>"),
    (rf"\bi was (?:raised|brought up|born) (?:an? )?(?P<diet>{any_of(DIETS)}) and (?:i )?still am\b", r"I'm \g<diet>"),
    (rf"\bi(?:['’]ve| have) always been (?:an? )?(?:strict )?(?P<diet>{any_of(DIETS)})\b(?! until| but)", r"I'm \g<diet>"),
    (
        r"\bi (?:always )?(?:get|break out in|come out in) (?:hives|anaphylaxis) (?:from|when i eat|when eating|whenever i eat|after eating|if i eat)"
        r" (?P<thing>(?!(?:stress|nerves|heat|sweat|the|my|thinking|exams?|sun|cold|anything|it|that)\b)[a-z]+(?: (?!(?:and|but|so|or)\b)[a-z]+)?)(?=\s*(?:[.,!;]|$))",
        r"I'm allergic to \g<thing>",
    ),
    (rf"\bi live (?=(?:{any_of(DIETS)})(?:\s*[.,!]|\s*$))", "I eat "),
    (rf"\bi (?:only|exclusively|always|strictly) (?:eat|buy|cook) (?P<diet>{any_of(DIETS, REGIMES)})(?: (?:food|meat|meals|dishes|stuff|products))?\b", r"I only eat \g<diet>"),
    (rf"\bi(?:['’]ve| have)? (?:completely |finally |just )?(?:gave up|given up|cut out|sworn off|swore off|quit) {_GIVEN_UP}", r"I avoid \g<thing>"),
    (
        rf"\bi(?:['’]ve| have)? (?:completely |finally |just )?(?:stopped|quit|gave up|given up) (?P<act>eat|drink|wear)ing {_GIVEN_UP}",
        r"I don't \g<act> \g<thing>",
    ),
    (r"\b((?:my|the) (?:doctor|dietitian|dietician|gp|nutritionist)(?: has)? (?:put|got) me) (?=on an? )", "I'm "),
)  # fmt: skip
_COMPILED: Final = tuple((re.compile(pattern, re.IGNORECASE), replacement) for pattern, replacement in _RULES)


def in_usual_order(text: str) -> str:
    """A message with its clauses in the order that the grammar knows. Only facts are read from it; it is never stored.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    if len(text) > LONGEST or _HAS_FIRST_PERSON.search(text) is None:
        return text
    return _SENTENCE.sub(_in_order, text)


def _in_order(found: re.Match[str]) -> str:
    sentence = found.group()
    if sentence.rstrip().endswith("?") or _HAS_FIRST_PERSON.search(sentence) is None or any(mark in sentence for mark in '"“”'):
        return sentence
    for pattern, replacement in _COMPILED:
        changed = pattern.sub(replacement, sentence)
        if changed != sentence and not _is_unreal(sentence):
            sentence = changed
    return sentence


def _is_unreal(sentence: str) -> bool:
    return _UNREAL.search(sentence.replace("could eat", "").replace("could drink", "").replace("could watch", "")) is not None


def _with_names(group: str) -> str:
    """A group of subjects as a clause of its own if it has a name, which states a relation: "my husband Tom — "."""
    return f"{group} — " if re.search(r"\s[A-ZÀ-Þ]", group) is not None else ""


def _of_who(found: re.Match[str]) -> str:
    """The relative clause after "someone who" as a statement; the sentence as it is if its main clause is not about the writer."""
    rest = found["rest"]
    verb = found["verb"].strip().lower()
    is_own = not found.group().lower().lstrip().startswith(("as", "being", "speaking")) or _HAS_FIRST_PERSON.search(rest) is not None
    return f"{found['lead']}I {_THIRD_PERSON.get(verb, 'am')}{rest}" if is_own else found.group()
