"""Rewrites common misspellings, learners' English and shortened clauses into the forms that the grammar of plain statements knows."""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.words.people import PETS
from extraction.offline.words.tastes import ADMIRERS, DIETS, DISLIKING, FOODS, LIKING, REGIMES, ROUTINES
from memory.texts.prefiltered_patterns import Rewrites, compiled

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
_INSTRUMENT: Final = any_of(
    listed("""
    piano, guitar, violin, viola, cello, oboe, flute, clarinet, bassoon, trumpet, trombone, horn, tuba, saxophone, sax, drums, harp, organ,
    accordion, banjo, mandolin, ukulele, harmonica, double bass, bass, recorder, bagpipes, keyboard, lute, sitar
""")
)
_GAME: Final = any_of(
    listed(
        "chess, tennis, football, soccer, basketball, volleyball, badminton, golf, hockey, cricket, rugby, darts, bridge, squash,"
        " table tennis"
    )
)
_EXACTLY: Final = any_of(
    listed(
        "technically, to be exact, to be precise, if we're being precise, if we're precise, strictly speaking, to be accurate, to be fair"
    )
)
_ANY_TASTE: Final = any_of(LIKING, DISLIKING)
_NO_FOOD: Final = any_of(
    listed("""
    rush, problem, problems, pressure, more, idea, longer, matter, one, time, thing, big, often, much, many, every, always, for, at, in, on,
    when, after, today, too, so, as, really, with, to, that, this, a, an, the, my, enough, way, worries, need, breakfast, lunch, dinner
""")
)
"""After "but no", they name no food."""
_PAINTED: Final = any_of(
    listed("""
    miniatures, watercolours, watercolors, landscapes, portraits, figurines, seascapes, still lifes, icons, oils, birds, comics, spoons,
    wooden spoons, little figures
""")
)
_NOT_LISTED: Final = any_of(listed("none, no, nope, nothing, n/a, yes, any, not, unknown, ?"))
_REWRITES: Final[tuple[tuple[str, str], ...]] = (
    # the way to a home
    (
        r"\b(live|living|based|settled|located|reside|residing) all the way(?: (?:up|down|out|over|across|back|off))?(?: here| there)? "
        r"(?=(?:in|at|on|near) )",
        r"\1 ",
    ),
    # misspellings of "allergic" and "allergy"
    (r"\b(?:alergic|allergik|alergik|allergick|alergick|allegic|allerjic|alergical)\b", "allergic"),
    (r"\b(?:alergy|allergie|alergie|allergi|alergi)\b", "allergy"),
    (r"\b(?:allergys|alergies|alergys)\b", "allergies"),
    (r"\bhav\b", "have"),
    (r"\b(allergic|allergy|allergies) (?:2|too|on|against|of)\b(?= \w)", r"\1 to"),
    (r"\bintolerant (?:2|too|on|against)\b(?= \w)", "intolerant to"),
    (rf"\bintolerant of (?=(?:any |all |most )?{any_of(FOODS)}\b)", "intolerant to "),
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
    # a taste that changed, with the thing in place of the pronoun
    (
        rf"\b(i used to (?:really |absolutely )?{_ANY_TASTE} ([\w ]{{2,40}}?),?(?: and| but)?(?: now| these days"
        rf"| nowadays| today| lately)?,? i"
        rf"(?: now| really| absolutely| actually)? {_ANY_TASTE}) (?:it|them)\b(?: now| these days| nowadays)?(?! \w)",
        r"\1 \2",
    ),
    # misspelt adverbs
    (r"\b(?:definitly|definately|definatly|definetly|definitley|deffo|defo)\b", "definitely"),
    (r"\b(?:realy|reallly|rly)\b", "really"),
    (r"\b(?:absolutly|absolutley|absolutelly)\b", "absolutely"),
    (r"\b(?:totaly|completly|completley)\b", "totally"),
    # one food and not another
    (
        rf"\b(i eat [\w ]{{2,30}}?),? but (?:no|not|never) (?=(?!{_NO_FOOD}\b)[a-z]+(?: [a-z]+)?(?:,? (?:or|and) [a-z]+)?\s*(?:[.,!;]|$))",
        r"\1. I don't eat ",
    ),
    # a trade as an act
    (
        r"(?:^|(?<=[.!?] ))(?:by (?:profession|trade)),? i (?!am\b|was\b|used\b|have\b|had\b|would\b|should\b|could\b"
        r"|do\b)(?=[a-z]{3,} \w)",
        "for a living I ",
    ),
    (
        r"\bi could (?:very well |happily |easily |perfectly well )?(?:live|do) without (?=(?!(?:it|this|that|the|a|an|you|him|her"
        r"|them|my|your|another|any|more|one|such)\b)[a-z]+(?:\s*[.,!;]|\s*$))",
        "I dislike ",
    ),
    # partners without a subject
    (
        r"^(\W*)(?:happily |newly |recently |just )?married to (?=(?-i:[A-Z])[\w'’-]+(?:\s*[.!,]|\s*$| (?:since|for|last|with)\b))",
        r"\1I'm married to ",
    ),
    (
        r"^(\W*)(?:happily |newly |recently |just )?engaged to (?=(?-i:[A-Z])[\w'’-]+(?:\s*[.!,]|\s*$| (?:since|for|last)\b))",
        r"\1I'm engaged to ",
    ),
    # an aim without its word
    (
        r"\bi(?:['’]d like| would like| want| need| hope| plan|['’]m (?:trying|hoping|planning)| am (?:trying|hoping|planning)| have) to "
        r"(?=(?:pass|ace|retake) (?!(?:on|out|by|over|up)\b)(?:the |my |an? )?(?:[\w-]+ ){0,4}?(?:exams?|tests?"
        r"|finals|certificate|a-levels|quiz)\b)",
        "my goal is to ",
    ),
    # hobbies
    (rf"\bi (paint|draw|sketch|carve) (?={_PAINTED}\b)(?!.*\bfor (?:a|my) living\b)", r"I like to \1 "),
    # a habit with its time first
    (
        rf"(?:^|(?<=[.!?] ))((?:every|each) (?:other )?\w+|on \w+days|(?:once|twice) a (?:day|week|month)),? i "
        rf"(?=(?:{any_of(ROUTINES)}|go [a-z]{{2,}}ing)\b)([^.,;!?]{{2,50}}?)(?=[.,;!]|$)",
        r"I \2 \1",
    ),
    (r"^(\W*no [\w ]{3,30}), (?=please\b|thanks\b|thank you\b)", r"\1 "),
    (
        r"\bi(?:['’]d like| would like| want| need| hope| plan| have) to "
        r"(?=pass (?:the )?(?-i:[ABC][12]\b|[A-Z]{4,6}\b)|reach (?-i:[ABC][12])\b|(?:get|score) (?:an? (?-i:[A-C1])"
        r"|top marks|full marks) (?:in|on|at) "
        r"|(?:learn|speak|master) [\w ]{3,40}? (?:by|before) (?:(?-i:[A-Z])\w+|\d{4}|summer|the exam)\b)",
        "my goal is to ",
    ),
    # a new job after a former one
    (
        r"\b(i (?:left|quit|gave up|resigned from)\b[^.;!?]{2,60}?),? (?:and|to|then|and then) (?:i )?(?:have |just |now "
        r"|recently )*(?:started(?: work)?|began|retrained|requalified|start)"
        r" as (?=an? )",
        r"\1. I became ",
    ),
    # a diet before what others make of it
    (rf"^(\W*(?:i['’]?m|i am) (?:an? |also |strictly )*{_DIET})(?: \w+)?,? (?:and|but|so|while|though) (?=(?:my|our) )", r"\1. "),
    # learners
    (
        r"\b((?:i|we)(?: am| are|['’]m|['’]re)?(?: \w+)? (?:live|living)) (?:now |already |here )*(?=(?:since|for|from"
        r"|\w+) )(?:(?:since|for|from) )?(?!i\b|we\b)(?:[\w'’-]+ ){0,3}?(?:years?|months?|weeks?|decades?|\d{4}|childhood"
        r"|birth|marriage|wedding),? in "
        r"(?=(?-i:[A-Z]))",
        r"\1 in ",
    ),
    (
        r"\b(?P<moved>(?:moved|relocated|emigrated) to )(?-i:[A-Z])[\w'’-]+(?: (?-i:[A-Z])[\w'’-]+)?(?: in \d{4})?,? "
        r"(?:(?:and|but|then|later|finally|now|from there|after that|last \w+|in \d{4}),? ){1,4}(?:on )?to (?=(?-i:[A-Z]))",
        r"\g<moved>",
    ),
    (
        r"\b(?P<have>(?:i|we)(?: have|['’]ve) been (?:living|working)) for (?P<time>(?:[\w'’-]+ ){0,3}?(?:years?|months?|weeks?|decades?)) "
        r"(?P<rest>(?:in|as) [^.,;!?\n]{2,60})",
        r"\g<have> \g<rest> for \g<time>",
    ),
    (
        r"(?:^|(?<=[.!?] ))for (?P<time>(?:(?!i\b|we\b)[\w'’-]+ ){0,4}?(?:years?|months?|weeks?|decades?)),? (?:now,? )?"
        r"(?P<have>(?:i|we)(?: have|['’]ve) (?:been (?:living|working)|lived|worked) [^.,;!?\n]{2,60})",
        r"\g<have> for \g<time>",
    ),
    (
        r"(?:^|(?<=[.!?] ))(?:since|for) (?:(?!i\b|we\b)[\w'’-]+ ){0,3}?(?:years?|months?|weeks?|\d{4}|childhood"
        r"|birth),? ((?:i|we)(?: am| are|['’]m|['’]re)"
        r" living in )",
        r"\1",
    ),
    (
        r"\b(?:i am|i['’]m) working (?:now |already )?(?:(?:since|for) (?:[\w'’-]+ ){0,3}?(?:years?|months?|weeks?"
        r"|\d{4}) )?as (?:an? )?(?=[a-z])",
        "I work as a ",
    ),
    (r"\b(i am|i['’]m|we are|we['’]re) (?:since|for) (?:[\w'’-]+ ){1,3}?(living in)\b", r"\1 \2"),
    (r"\b(i|we) enjoy to\b", r"\1 like to"),
    (r"\b(?:i['’]?m|i am) (?:really |very )?(?:liking|loving)\b(?! (?:it|this|that)\b)", "I like"),
    (
        r"\b((?:i['’]?m|i am) living) (?:since|for) (?:\d+|\w+) (?:years?|months?) (in|near)\b",
        r"\1 \2",
    ),
    (rf"\b(i) (?:eat|am eating) only ({any_of(DIETS, REGIMES)})(?: (?:food|meat|meals|dishes|things))?\b", r"\1 only eat \2"),
    (rf"\b(i['’]m) eating only ({any_of(DIETS, REGIMES)})(?: (?:food|meat|meals|dishes|things))?\b", r"I only eat \2"),
    (rf"^(\W*)({any_of(ADMIRERS)}) (?=\w+ (?:lately|these days|right now|since)\b)", r"\1I'm \2 "),
    (r"\bi (collect) (?=[a-z ]{3,30}s\b)", r"I like to \1 "),
    (rf"\bi (play) (?=the {_INSTRUMENT}\b|{_GAME} (?:every|on|in|twice|once|with)\b|{_GAME}\s*(?:[.!]|$))", r"I like to \1 "),
    # pets that came lately
    (
        rf"(^\W*|\b(?:i|we)(?:['’]ve| have)? )(?:just |finally |recently )*(?:adopted|got|bought|rescued) an? (?:new )?({any_of(PETS)})"
        rf"[\w ]{{0,20}}?(?:, (?:(?:s?he|it)(?:['’]s| is)|who(?:['’]s| is)) )?(?:called|named) ((?-i:[A-Z])[\w'’-]+)",
        r"\1got a \2. My \2 is called \3",
    ),
    # a home after a former one
    (r"\b(?:my )?home(?:['’]s| has) been (?:in )?(?=(?-i:[A-Z]))", "I have lived in "),
    (r"\b(moved into [^.,;!?]{3,60}?) (?:yesterday|last \w+|this \w+|on \w+day)\b", r"\1"),
    # what is more exact, or was only so
    (
        rf"\b(i(?:['’]?m| am) an? |i work as an? |(?:i|we) live in )[\w ]{{2,30}}?\s*[.,;—–-]+\s*well,? (?:an? "
        rf"|in )?([\w ]{{2,30}}?),? {_EXACTLY}\b",
        r"\1\2",
    ),
    (r"\bi (work|live) ([^.!?]{2,40}?),? well,? (?:worked|lived|was|used to)\b", r"I used to \1 \2"),
    (
        r"\b((?:used to live|lived|was living|grew up|was born|born)\b[^.;!?]{2,50}?)(?:,|;| -| but| and)+ (?:now|these days|nowadays"
        r"|today|currently)"
        r",? (?:it['’]?s|it is|its)\b(?= [A-Z])",
        r"\1, now I live in",
    ),
)
_PLAIN_WORDING: Final = Rewrites(_REWRITES, re.IGNORECASE | re.MULTILINE)
_LASTING_TASTE: Final = compiled(rf"\bI ({'|'.join(_TASTES)}) (?=[^.,;!?]{{2,40}}? {_LASTING})")


def plainly_worded(text: str) -> str:
    """A text with such clauses in the forms of the grammar. Only facts are read from it; it is never stored.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    return _LASTING_TASTE.sub(lambda found: f"I {_TASTES[found[1].lower()]} ", _PLAIN_WORDING.apply(text))
