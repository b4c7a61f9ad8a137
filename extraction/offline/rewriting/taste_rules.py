"""Rules that put clauses about tastes, allergies and diets into the usual order of the grammar.

Examples: "What I love most is jazz" becomes "I love jazz", and "Nuts make my throat swell" becomes "I'm allergic to nuts".
"""

from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.rewriting.life_rules import LEAD, Rule
from extraction.offline.words.tastes import DIETS, DISLIKING, LIKING, REGIMES

_END: Final = r"(?=\s*(?:[.,!;)…—–]|$|[^\w\s?'’\"]|(?:and|but|so|because|since|especially|too|tbh|lol|honestly|imo|these days|lately)\b))"
_ADVERBS: Final = (
    r"(?:(?:really|truly|absolutely|personally|most|always|especially|do|just|honestly|still|simply|also|still|both|totally) )*"
)
_POINTERS: Final = listed("""
    it, this, that, these, those, he, she, they, you, we, i, there, here, what, who, which, where, when, how, why, if, not, no,
    nothing, everything, something, anything, everyone, nobody, someone, people, one, both, the one, the ones, the first, the
    second, the last, my, your, his, her, our, their, a, an, the way, the fact, the idea, some, all, none, and, but, so, or, yes,
    to, for, about, like, being
""")
_NOUNS: Final = (
    rf"(?!(?:{any_of(_POINTERS)})\b)(?:the )?[^\W\d][\w'’&-]*(?: (?!(?:is|are|was|were|i|that|which|who|and|but|so|because|since|when"
    rf"|if)\b)"
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
    r"|passion|pleasure)|jam|usual|go-to|obsession|drink of choice|sport of choice|passion|passions|hobby|hobbies"
    r"|pastime|pastimes|favou?rite things?"
    r"|favou?rite thing (?:ever|in the (?:whole )?world|to \w+))"
)
_PASTIMES: Final = any_of(
    listed("""
    hiking, climbing, swimming, running, jogging, cycling, gardening, baking, cooking, reading, knitting, sewing, painting,
    drawing, sketching, fishing, sailing, surfing, skiing, dancing, singing, gaming, crocheting, kayaking, camping, birdwatching,
    bird watching, woodworking, volunteering, travelling, traveling, photography, yoga, pottery, playing, watching, listening to,
    building, collecting, restoring, carving, embroidering, writing, foraging, bouldering, rowing, skating, riding, tinkering
    with, growing, solving, brewing
""")
)
_NO_FREE_TIME_ACT: Final = any_of(
    listed("""
    am, was, have, had, want, wanted, would, will, can, could, should, need, try, tried, don't, do, did, work, study, sleep, look,
    think, help, just, never, used, enjoy, love, like, hate, prefer, plan, get, take, may, might, must, only, rarely, hardly,
    mostly, usually, often, mainly, sometimes, also, always, either, wonder, hope, wish, worry, dream, feel, wait
""")
)

TASTE_RULES: Final[tuple[Rule, ...]] = (
    # "What I love most is jazz", "If there's one thing I hate, it's fog"
    (
        rf"{LEAD}(?:(?:if )?there(?:['’]s| is) )?(?:what|(?:(?:the|one|another|the one|the only|my one) )?(?:other )?{_THING}(?: that"
        rf"| which)?)"
        rf" (?:i|we) {_ADVERBS}{_FELT}{_MOST}(?:,? (?:it['’]s|it is)|,? (?:is|are)|['’]s|\s*:)\s+(?!(?:that|when|how|if|the way|your"
        rf"|this|about"
        r"|not|being|to be|it|you|a lack|having|seeing)\b)(?=\w)",
        r"\g<lead>I \g<verb> ",
    ),
    # "Jazz is what I love most"
    (
        rf"{LEAD}(?P<thing>{_NOUNS}),? (?:is|are|['’]s)(?: (?:always|definitely|just|simply|certainly))? (?:what|something|things?"
        rf"|(?:one|a|the)"
        rf" (?:of the )?(?:few |many )?{_THING})(?: that| which)? (?:i|we) {_ADVERBS}{_FELT}{_MOST}{_END}",
        r"\g<lead>I \g<verb> \g<thing>",
    ),
    (
        rf"{LEAD}(?P<thing>{_NOUNS}) (?:is|are) (?:what|how) (?:i|we) (?:(?:do|spend my time|relax|unwind)\b ?)+{_FREE_TIME}?{_END}",
        r"\g<lead>I like \g<thing>",
    ),
    (rf"{LEAD}(?P<thing>\w+ing [\w '’-]{{2,40}}?) is what i do for (?:a living|work|money){_END}", r"\g<lead>My job is \g<thing>"),
    (
        rf"{LEAD}(?P<thing>{_NOUNS}) (?:is|are|has become|have become|has always been|have always been)(?: (?:definitely"
        rf"|still|always|absolutely|probably no))?"
        rf" (?:one of |some of |among )?my (?:(?:absolute|all-time|all time|big|only|new|biggest|greatest|very) )*{_CHERISHED}{_END}",
        r"\g<lead>I like \g<thing>",
    ),
    (
        rf"\b(?:(?:one|two|some|many) of )?my (?:(?:absolute|all-time|all time|big|only|one|biggest|greatest|secret) )*"
        rf"(?:{_CHERISHED}|thing)(?: in life| in the world)?"
        r" (?:is|are|has always been|would have to be) (?!(?:not|that|when|the (?:one|way|second|first)|to be|a|an|my|you|your|this|it)\b)",
        "I like ",
    ),
    # "Nothing makes me happier than baking", "There's nothing I like more than fog"
    (
        r"\bnothing (?:makes me (?:happier|smile|as happy)|relaxes me|calms me(?: down)?|cheers me up|makes my day)(?: more)?(?: than"
        r"| like| as) ",
        "I love ",
    ),
    (rf"\bthere(?:['’]s| is) (?:nothing|little) i {_ADVERBS}(?P<verb>{_LIKED}|hate|dislike) (?:more|better) than ", r"I \g<verb> "),
    (
        r"\bi(?:['’]ve| have)? (?:always |long )?(?:had|have|got)? ?an? (?:\w+ )?(?:love|passion|fondness|soft spot|weakness"
        r"|enthusiasm) (?:for|of)"
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
        rf"\bi spend (?:most|all|much|a lot|half|plenty|nearly all|almost all)(?: of)?(?: my| the)? (?:\w+ )?(?:evenings?|weekends?"
        rf"|nights|days"
        rf"|time|sundays?|saturdays?|mornings?|summers?|holidays?|money on)(?: on)? (?={_PASTIMES}\b)(?!(?:watching|listening to) (?:it"
        rf"|them))",
        "I like ",
    ),
    (
        rf"\bin my (?:free|spare|leisure) time,? (?:i|we) (?:(?:mostly|usually|often|mainly|also|like to|love to) )*"
        rf"(?=(?!{_NO_FREE_TIME_ACT}\b)[a-z]+ \w)(?![^.!?\n]*\b(?:when i was|used to|back then)\b)",
        "I like to ",
    ),
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
    (
        r"\bi(?:['’]ve| have) been (?:really |so |very )?(into|fond of|keen on|crazy about|obsessed with) (?=[^.!?\n]{2,40} (?:since|for"
        r"|all my life)\b)",
        r"I'm \1 ",
    ),
    (
        r"\bmy kind of (?:music|film|films|food|holiday|sport|book|books|weather|fun|humou?r) (?:is|are) (?!(?:that|this|the|when"
        r"|not)\b)(?=[a-z])",
        "I like ",
    ),
    # other words for a taste
    (r"\bi(?:['’]ve| have) always been (?=an? [a-z]+ (?:person|lover|fan)\b)", "I'm "),
    (
        r"\bi (?:take|find) (?:great |real |much )?(?:pleasure|delight|joy) in (?!(?:my|your|his|her|it|this|that|the|a)\b)(?=[a-z])",
        "I love ",
    ),
    (
        rf"{LEAD}as an? (?:(?:big|huge|great|true|lifelong|keen) )?(?:lover|fan|enthusiast|devotee) of (?=[^,.!?\n]{{2,40}}, i\b)",
        r"\g<lead>I love ",
    ),
    (
        rf"{LEAD}(?P<thing>{_NOUNS}) (?:always |really |just )?makes? me (?:so |really |very )?(?:happy|smile){_END}",
        r"\g<lead>I like \g<thing>",
    ),
    (
        r"\bi(?:['’]m| am) (?:totally |completely |absolutely )?addicted to (?!(?:drugs?|alcohol|nicotine|opioids|painkillers|gambling"
        r"|cigarettes|heroin|cocaine|my|the|you|this|that|it|your)\b)",
        "I'm hooked on ",
    ),
    (
        rf"{LEAD}(?P<thing>{_NOUNS}) (?:is|are) (?:an?|the) (?:(?:big|great|old|real|new|lifelong) )?"
        rf"(?:hobby|passion|love|favou?rite|interest) of mine{_END}",
        r"\g<lead>I like \g<thing>",
    ),
    (
        r"\b(?:one|two|some) of my (?:(?:biggest|greatest|many|main|great) )?(?:hobbies|passions|pastimes|interests|loves|favou?rite things"
        r"|favou?rite (?:foods|sports|pastimes|hobbies|activities)) (?:is|are) (?!(?:that|when|this|the one|my|your)\b)",
        "I like ",
    ),
    (
        rf"\b(?:i|we) find (?!(?:it|this|that|these|those|them|him|her|you|my|your|the|his|a|an|out)\b)(?P<thing>{_NOUNS}) "
        rf"(?:(?:so|really|very|quite|incredibly|super) )?(?:relaxing|calming|soothing|therapeutic|fascinating|delightful|delicious){_END}",
        r"I like \g<thing>",
    ),
    (
        rf"\b(?:i|we) find (?!(?:it|this|that|these|those|them|him|her|you|my|your|the|his|a|an|out)\b)(?P<thing>{_NOUNS}) "
        rf"(?:(?:so|really|very|quite|incredibly|super) )?(?:boring|tedious|dull|disgusting|gross|revolting|unbearable|insufferable){_END}",
        r"I dislike \g<thing>",
    ),
    (
        r"\bi(?:['’]ve| have)(?: got)? (?:an? )?(?:(?:strong|deep|real|intense|big) )?(?:dislike|hatred|aversion|distaste) (?:of|for|to) ",
        "I dislike ",
    ),
    (r"\bi(?:['’]ve| have) got no time for\b", "I have no time for"),
    (
        rf"{LEAD}(?P<thing>{_NOUNS}) (?:always |usually )?(?:brings? me out in|makes? me (?:come|break) out in) (?:an? )?(?:\w+ )?"
        r"(?:rash|rashes|hives|spots|welts)\b",
        r"\g<lead>I'm allergic to \g<thing>",
    ),
    (
        rf"{LEAD}(?P<thing>{_NOUNS}) (?:always |usually )?makes? my (?:throat|tongue|lips|face|mouth|airways)(?: \w+)? "
        r"(?:swell|swells|swell up|close|close up|itch|tingle)\b",
        r"\g<lead>I'm allergic to \g<thing>",
    ),
    (
        rf"\bi (?:always |usually )?(?:come|break) out in (?:an? )?(?:\w+ )?(?:rash|rashes|hives|spots|welts) "
        rf"(?:from|after|when i (?:eat|have|touch|take)|if i (?:eat|have|touch|take)) (?P<thing>{_NOUNS}){_END}",
        r"I'm allergic to \g<thing>",
    ),
    (
        rf"\bi(?:['’]ve| have) (?:completely |totally |rather |quite )?gone off (?P<thing>{_NOUNS})"
        rf"(?: (?:completely|entirely|totally))?{_END}",
        r"I dislike \g<thing>",
    ),
    (
        r"\bmy least favou?rite (?!(?:part|thing|bit|aspect|moment|person|character)\b)[a-z]+ (?:is|are|has always been) "
        r"(?!(?:when|that|the (?:one|way)|not|this|my|your|probably)\b)(?=\w)",
        "I dislike ",
    ),
    (r"\bi (?:flatly |simply )?refuse to (?=(?:eat|drink|wear|buy)\b)", "I never "),
    (
        rf"\b(i|we) (?:stick|keep|hold) to (?P<diet>{any_of(DIETS, REGIMES)}) (?:food|meals|dishes|stuff|products)\b",
        r"\1 eat \g<diet>",
    ),
    (r"\bmy (allergies|food allergies) include\b", r"my \1 are"),
    (
        r"\b(i|we)(?:['’]ve| have)? (?:live with|share (?:my|our) \w+ with) "
        r"(?=(?:an?|one|two|three|four|\d) [\w ]{2,20} (?:named|called)\b)",
        r"\1 have ",
    ),
)
