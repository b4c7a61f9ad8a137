"""Puts a clause into its usual order before the grammar reads it: "What I love most is jazz" as "I love jazz".

The patterns of :mod:`extraction.offline.grammar.fact_grammar` begin with the subject. People also put the object first, name a group that
they belong to as the subject, or speak of themselves as "someone who".
"""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, cue, listed
from extraction.offline.grammar.value_patterns import FIRST_NAME
from extraction.offline.rewriting.life_rules import LEAD, LIFE_RULES, Rule
from extraction.offline.words.people import MANY_RELATIVES, RELATIVES
from extraction.offline.words.tastes import DIETS, DISLIKING, LIKING, REGIMES
from memory.texts.prefiltered_patterns import Replacement, Rewrites, compiled

END: Final = r"(?=\s*(?:[.,!;)…—–]|$|[^\w\s?'’\"]|(?:and|but|so|because|since|especially|too|tbh|lol|honestly|imo|these days|lately)\b))"
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
_RELATED: Final = any_of(RELATIVES, MANY_RELATIVES, listed("family, whole family, other half, old man, missus, better half, little family"))
_MEMBER: Final = rf"(?:my|our|the) (?:(?:new|two|three|four|little|older|younger|dear|lovely) )*{_RELATED}(?:,? (?-i:{FIRST_NAME}))?"
_PASTIMES: Final = any_of(
    listed("""
    hiking, climbing, swimming, running, jogging, cycling, gardening, baking, cooking, reading, knitting, sewing, painting,
    drawing, sketching, fishing, sailing, surfing, skiing, dancing, singing, gaming, crocheting, kayaking, camping, birdwatching,
    bird watching, woodworking, volunteering, travelling, traveling, photography, yoga, pottery, playing, watching, listening to,
    building, collecting, restoring, carving, embroidering, writing, foraging, bouldering, rowing, skating, riding, tinkering
    with, growing, solving, brewing
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
    am, was, have, had, want, wanted, would, will, can, could, should, need, try, tried, don't, do, did, work, study, sleep, look,
    think, help, just, never, used, enjoy, love, like, hate, prefer, plan, get, take, may, might, must, only, rarely, hardly,
    mostly, usually, often, mainly, sometimes, also, always, either, wonder, hope, wish, worry, dream, feel, wait
""")
)
_UNREAL: Final = cue(
    listed("""
    would, wish, could, might, say, says, said, character, imagine, suppose, supposedly, dream*, novel, song, used to, once,
    pretend, maybe, perhaps, probably, he, she, according, claims, hypothetical*, story, lyrics
""")
)
"""Words by which a sentence may not be meant as it is put; it stays as it is."""
_HAS_FIRST_PERSON: Final = compiled(r"\b(?:i|im|i['’]?m|i['’]ve|me|my|mine|we|us|our)\b", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"[^.!?\n]+(?:\.(?=\w)[^.!?\n]*)*[.!?\n]*")
_CHILD: Final = rf"(?-i:{FIRST_NAME})(?: \(\d{{1,2}}\))?"
_AND: Final = re.compile(r"[,&]| and ")
LONGEST: Final = 2000
"""Characters of a message whose clauses are put in order."""

_RULES: Final[tuple[Rule, ...]] = (
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
    # what the writer told somebody of themselves
    (
        r"\bi(?:['’]ve| have)? (?:told|keep telling|keep reminding|already told) (?:him|her|them|people"
        r"|everyone|my \w+)(?: (?:\w+ times|already|before|again|over and over))*,?(?: that)? "
        r"(?=(?:i (?:can['’]?t|cannot|don['’]?t|never) (?:eat|drink|have|stand)|i hate|i['’]m allergic|i am allergic)\b)",
        "",
    ),
    (r"\bour (?:little |whole )?(?:family|household) (?=(?:moved|settled|relocated)\b)", "we "),
    (r"\bour (?:little |whole )?(?:family|household) (?:is|has been) (?=(?:based|settled|living)\b)", "we are "),
    # a parent of named children
    (
        r"\b(?P<parent>(?:i['’]?m|i am) (?:an? |the )?(?:(?!(?:not|no|never|like|almost|basically)\b)[\w-]+ ){0,5}?(?:mum|mom"
        r"|mother|mama|dad|father|papa|parent)) (?:of|to) "
        rf"(?P<names>{_CHILD}(?:(?:, | and |, and | & ){_CHILD})*)(?=\s*(?:[.,!;]|$))",
        lambda found: f"{found['parent']}. My {'children are' if _AND.search(found['names']) else 'child is'} {found['names']}",
    ),
    # a move, and where it led
    (
        r"(?P<moved>(?:^\W*|\b(?:i|we)(?:['’]ve| have)? )(?:just |finally )?moved (?:house|home|flat|out|in)\b(?! for (?:the"
        r"|an?)\b)[^.!?;]{0,50}?)(?:,| -| –| —|;) (?:and |so |but )?(?:now )?(?:we['’]re|we are|i['’]m"
        r"|i am)(?: now)? in (?P<place>(?-i:[A-ZÀ-Þ])[\w'’-]+)(?= now\b|\s*(?:[.,!]|$))",
        r"\g<moved>, I live in \g<place>",
    ),
    # the time before what lasts
    (
        rf"{LEAD}(?P<since>(?:ever )?since (?!i\b|we\b)[\w'’ ]{{3,25}}?|for (?:\w+ ){{1,3}}(?:years|decades)(?: now)?),? "
        r"(?P<rest>(?:i|we)(?:['’]ve| have) (?:been|lived|worked) [^.!?\n,]{2,60})",
        r"\g<lead>\g<rest> \g<since>",
    ),
    # the verb with an empty word before it
    (r"\b(my (?:[\w-]+ ){1,3}?)(?:happens? to be|has always been|remains)\b", r"\1is"),
    (r"\bi (?:just )?happen to be\b", "I am"),
    (r"\bi (?:just )?happen to (?=(?:live|work|love|hate|like|have)\b)", "I "),
    # "As someone who lives in Bergen, I ...", "I'm the kind of person who loves fog"
    (
        rf"{LEAD}(?:as|being|speaking as|i['’]?m|i am) (?:(?:just|also) )?(?:someone|somebody|a person|one|(?:the|that) (?:kind|type"
        rf"|sort) of"
        rf" person) (?:who|that)(?P<verb>['’]s| (?:{_VERBS_AFTER_WHO}))\b(?P<rest>[^.!?\n]*)",
        lambda found: _of_who(found),
    ),
    (
        rf"{LEAD}(?:as|being|speaking as) (?:someone|somebody|a person|one) (?:with|who suffers from) (?=[^,.!?\n]{{3,40}},? (?:i|my"
        rf"|it)\b)",
        r"\g<lead>I have ",
    ),
    (
        rf"{LEAD}(?:as|being) (?:someone|somebody|a person) (?=(?:allergic|intolerant) to [^,.!?\n]{{2,40}},? (?:i|my|it)\b)",
        r"\g<lead>I'm ",
    ),
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
        rf" (?:of the )?(?:few |many )?{_THING})(?: that| which)? (?:i|we) {_ADVERBS}{_FELT}{_MOST}{END}",
        r"\g<lead>I \g<verb> \g<thing>",
    ),
    (
        rf"{LEAD}(?P<thing>{_NOUNS}) (?:is|are) (?:what|how) (?:i|we) (?:(?:do|spend my time|relax|unwind)\b ?)+{_FREE_TIME}?{END}",
        r"\g<lead>I like \g<thing>",
    ),
    (rf"{LEAD}(?P<thing>\w+ing [\w '’-]{{2,40}}?) is what i do for (?:a living|work|money){END}", r"\g<lead>My job is \g<thing>"),
    (
        rf"{LEAD}(?P<thing>{_NOUNS}) (?:is|are|has become|have become|has always been|have always been)(?: (?:definitely"
        rf"|still|always|absolutely|probably no))?"
        rf" (?:one of |some of |among )?my (?:(?:absolute|all-time|all time|big|only|new|biggest|greatest|very) )*{_CHERISHED}{END}",
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
        rf"{LEAD}(?P<thing>{_NOUNS}) (?:always |really |just )?makes? me (?:so |really |very )?(?:happy|smile){END}",
        r"\g<lead>I like \g<thing>",
    ),
    (
        r"\bi(?:['’]m| am) (?:totally |completely |absolutely )?addicted to (?!(?:drugs?|alcohol|nicotine|opioids|painkillers|gambling"
        r"|cigarettes|heroin|cocaine|my|the|you|this|that|it|your)\b)",
        "I'm hooked on ",
    ),
    (
        rf"{LEAD}(?P<thing>{_NOUNS}) (?:is|are) (?:an?|the) (?:(?:big|great|old|real|new|lifelong) )?"
        rf"(?:hobby|passion|love|favou?rite|interest) of mine{END}",
        r"\g<lead>I like \g<thing>",
    ),
    (
        r"\b(?:one|two|some) of my (?:(?:biggest|greatest|many|main|great) )?(?:hobbies|passions|pastimes|interests|loves|favou?rite things"
        r"|favou?rite (?:foods|sports|pastimes|hobbies|activities)) (?:is|are) (?!(?:that|when|this|the one|my|your)\b)",
        "I like ",
    ),
    (
        rf"\b(?:i|we) find (?!(?:it|this|that|these|those|them|him|her|you|my|your|the|his|a|an|out)\b)(?P<thing>{_NOUNS}) "
        rf"(?:(?:so|really|very|quite|incredibly|super) )?(?:relaxing|calming|soothing|therapeutic|fascinating|delightful|delicious){END}",
        r"I like \g<thing>",
    ),
    (
        rf"\b(?:i|we) find (?!(?:it|this|that|these|those|them|him|her|you|my|your|the|his|a|an|out)\b)(?P<thing>{_NOUNS}) "
        rf"(?:(?:so|really|very|quite|incredibly|super) )?(?:boring|tedious|dull|disgusting|gross|revolting|unbearable|insufferable){END}",
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
        rf"(?:from|after|when i (?:eat|have|touch|take)|if i (?:eat|have|touch|take)) (?P<thing>{_NOUNS}){END}",
        r"I'm allergic to \g<thing>",
    ),
    (
        rf"\bi(?:['’]ve| have) (?:completely |totally |rather |quite )?gone off (?P<thing>{_NOUNS})"
        rf"(?: (?:completely|entirely|totally))?{END}",
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
    return _USUAL_ORDER.apply(sentence)


def _unless_unreal(pattern: re.Pattern[str], replacement: Replacement, sentence: str) -> str:
    changed = pattern.sub(replacement, sentence)
    return sentence if changed == sentence or _is_unreal(sentence) else changed


_USUAL_ORDER: Final = Rewrites((*_RULES, *LIFE_RULES), re.IGNORECASE, rewrite=_unless_unreal)


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
