"""Tastes, avoidances and allergies in other words: "saunas keep me sane", "I can't do spicy", "not a coffee man", "milk gives me hives"."""

import re
from collections.abc import Callable
from typing import Final

from extraction.offline.fact_words import DIETS, MANY_RELATIVES, PETS, RELATIVES
from extraction.offline.patterns import any_of, listed
from extraction.offline.taste_nouns import CONSUMED, PERSON_NOUNS, TASTE_NOUNS

_Statement = str | Callable[[re.Match[str]], str | None]
_END: Final = (
    r"(?=\s*(?:[.,!;:)…—–]|$|[^\w\s'’])|\s+(?:and|but|so|because|since|cos|cause|especially|too|tbh|lol"
    r"|honestly|imo|these days|lately|for me"
    r"|any ?more|at all|ever|either|when|in any|on any|with|full stop|period|unless)\b)"
)
_POINTERS: Final = any_of(
    listed("""
    it, this, that, these, those, he, she, they, you, we, i, there, here, what, who, which, where, when, how, why, if, not, no, nothing,
    everything, something, anything, everyone, everybody, nobody, someone, people, one, both, my, your, his, her, our, their, a, an,
    all, none,
    and, but, so, or, yes, to, for, about, the way, the fact, the idea, the thought, the first, the second, the last, the one,
    the ones, work,
    the doctor, the boss, him, them, me, us, its, each, another, any, more, much, some, most, whatever, life, time, god, whoever,
    option, options
"""),
    RELATIVES,
    (each for each in MANY_RELATIVES if each.removesuffix("s") not in PETS),
)
_WORD: Final = r"[^\W\d][\w'’&-]*"
_STOP: Final = (
    r"(?:is|are|was|were|am|be|i|that|which|who|and|but|so|because|since|when|if|or|me|my|always|never|really"
    r"|just|do|does|don['’]?t|doesn['’]?t"
    r"|keeps?|makes?|gives?|gets?|will|would|has|have|had|can|can['’]?t|than|as|you|it|for|to|over|without"
    r"|please|today|tonight|tomorrow|right|now"
    r"|yet|again|this|still|also|too|any ?more|at|every|in|on|with|from|after|before)"
)
_THING: Final = rf"(?P<x>(?!{_POINTERS}\b)(?:the )?(?!{_POINTERS}\b){_WORD}(?: (?!{_STOP}\b){_WORD}){{0,3}})"
"""A noun phrase that is no person and points to nothing in the conversation."""
_PLACED: Final = (
    rf"(?P<x>(?!{_POINTERS}\b)(?:the )?{_WORD}(?: (?!{_STOP}\b){_WORD}){{0,3}}(?: (?:in|on|at|with|by|from|after"
    rf"|before|to) (?:the |an? |my )?{_WORD}(?: (?!{_STOP}\b){_WORD}){{0,2}})?)"
)
"""Such a phrase with what belongs to it: "swimming in the sea"."""
_ADJECTIVE: Final = r"(?:(?!(?:the|a|an|my|your|no|not|more|any|much|of|for|to|with|this|that|i|we|you)\b)[a-z][\w'’-]* ){0,2}?"
_NOUN: Final = r"[a-z][\w'’&-]*(?: [a-z][\w'’&-]*){0,2}?"
_TASTE: Final = rf"(?P<x>{_ADJECTIVE}{_NOUN})(?P<taste>)"
"""What is liked or not: a noun phrase that ends in a noun of tastes, which :func:`_checked` looks up."""
_EATEN: Final = rf"(?P<x>{_ADJECTIVE}{_NOUN}(?: (?:or|and) {_NOUN})?)(?P<eaten>)"
_PERSON: Final = rf"(?P<x>{_ADJECTIVE}{_NOUN})(?P<person>)"
_SURELY: Final = (
    r"(?:(?:just|simply|really|absolutely|still|always|honestly|definitely|truly|literally|totally|genuinely"
    r"|basically|clearly|by far|hands down) )*"
)
_IS: Final = rf"(?: is| are|['’]s|['’]re) {_SURELY}"
_BLISS: Final = any_of(
    listed("""
    bliss, pure bliss, heaven, heaven on earth, my heaven, elite, goated, unbeatable, unmatched, top tier, god tier, chef's kiss,
    life, my life,
    everything to me, my therapy, cheaper than therapy, my escape, my religion, my church, my everything, my me time, my zen,
    my safe space,
    my joy, my one joy, my only joy, my great joy, my one true love, my first love, my comfort, my kryptonite, my downfall,
    my vice, my only vice, my one vice, my happy place, where i'm happiest, where i am happiest, where it's at, hard to beat,
    impossible to beat,
    right up my street, right up my alley, up my street, up my alley, what keeps me sane, what keeps me going,
    what gets me through the week,
    what i live for, what gets me out of bed, the love of my life, non-negotiable, the highlight of my week, the best part of my day,
    the best part of my week, good for my soul, food for my soul, my thing, my passion, my jam, my hobby, my one hobby,
    my big passion, my life's passion
""")
)
_KEEPS_ME: Final = (
    r"(?:is |are |['’]s )?(?:always |really |(?:the )?(?:only|one|single|best) thing (?:that |which )?)*"
    r"(?:keeps? me (?:sane|going|young|grounded|alive|calm|happy"
    r"|sharp|human|fit)|calms? me(?: (?:down|right down))?|cheers? me up|relaxes me|relax me|soothes? me|(?:lifts?|lights?) me up"
    r"|feeds? my soul|makes? me (?:feel (?:alive|human|at home|free|like a kid again)|forget everything"
    r"|come alive)|(?:makes?|made) my (?:day|week|year|month)(?: every time)"
    r"|gets? me through the (?:day|week|winter|night)|gets? me out of (?:bed|the house|my head)|never gets? old|never disappoints?"
    r"|helps? me (?:unwind|switch off|relax|breathe))"
)
_ILL: Final = (
    r"(?:(?:always|really|usually|just|only|instantly|has been|have been|keeps?|has|have|is|are) )*(?:(?:gives?"
    r"|giving|given) me (?:the |an? |awful |terrible |bad |such |horrible |massive )*(?:heartburn|migraines?"
    r"|headaches?|indigestion|runs|cramps"
    r"|creeps|ick|willies|nightmares|anxiety|stomach ?aches?|tummy ?aches?|belly ?aches?|acid reflux|reflux"
    r"|palpitations|jitters|vertigo|wind|heebie-jeebies)"
    r"|(?:makes?|making|made) me (?:so |really |feel |physically )*(?:ill|sick|queasy|nauseous|gag|retch"
    r"|heave|bloated|vomit|throw up|cringe|shudder|unwell|dizzy|jittery|anxious|miserable"
    r"|want to (?:scream|cry|die|hide|leave))|turns? my stomach|upsets? my (?:stomach|tummy|guts?)|sets?"
    r" off my (?:asthma|migraines?|eczema|ibs|reflux)"
    r"|triggers? my (?:asthma|migraines?|eczema|ibs|anxiety)|leaves? me (?:cold|bloated)|bores? me(?: (?:to"
    r" (?:tears|death)|stiff|senseless|rigid|silly))?"
    r"|puts? me (?:right |straight )?to sleep|stress(?:es)? me out|wears? me out|drains? me|goes? right"
    r" through me|do(?:es)? nothing for me|do(?:es)? my head in"
    r"|does(?:n['’]?t| not) do it for me|don['’]?t do it for me|never did it for me|(?:does(?:n['’]?t|not)"
    r"|don['’]?t) sit well with my stomach"
    r"|(?:is|are) (?:(?:so|just|really|absolutely|simply|too) )*(?:my (?:idea of (?:hell|torture)|worst"
    r" nightmare|personal hell|nemesis|kryptonite)|torture|hell on earth|wasted on me|lost on me"
    r"|an abomination|the work of the devil|the devil['’]s (?:work|food|drink)|off the menu for me|off limits"
    r" for me|off-limits for me|a (?:hard |big |definite )?no(?: from me| for me|-no for me))"
    r"|(?:is|are)(?: not|n['’]?t)(?: really| exactly| quite)? (?:my (?:thing|scene|bag|style|jam|cup of"
    r" tea|vibe|idea of (?:fun|a (?:good time|holiday|night out)))|for me))"
)
_ALLERGIC: Final = (
    r"(?:(?:always|usually|just|instantly) )*(?:gives? me (?:an? |the |awful |terrible |bad |instant )*"
    r"(?:hives|rash|rashes|welts|anaphylaxis)|makes? me (?:swell up|swell|wheeze|puff up|sneeze(?: like"
    r" mad| non-?stop| all day)?|(?:tear|well) up"
    r"|itch(?: all over)?|(?:go|come up) (?:red|blotchy)|come up in (?:hives|a rash|welts|spots))|closes?"
    r" my throat|makes? my eyes (?:water|itch|stream|puff up)|(?:could|can|will|would|might) kill me)"
)
_NOT_DO: Final = (
    r"(?:(?:really|just|simply|absolutely|honestly|personally|also|physically|literally) )*(?:can['’]?t"
    r"|cannot|can not|don['’]?t|do not|won['’]?t|will not|never|refuse to|couldn['’]?t) "
    r"(?:(?:even|really|ever|physically|personally) )*"
)
_NO_TIME: Final = (
    r"(?!(?:\w*day|tomorrow|tonight|today|mornings? (?:this|next)|then|monday|am|pm|noon|\d|well|anything"
    r"|much|more|business|things|stuff|magic|miracles|homework|maths|math|it|that"
    r"|this|yoga today|without|better|push-?ups|pull-?ups|the|my|your|an?|so|what|everything|both|all|enough"
    r"|justice|harm|good|right|over|up|down|out|with|any(?: of)? (?:this|that))\b)"
)
_WEEKDAYS: Final = r"(?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekends)"
_LIKE: Final = r"I like \g<x>"
_LOVE: Final = r"I love \g<x>"
_DISLIKE: Final = r"I dislike \g<x>"
_PREFER: Final = r"I prefer \g<x>"
_AVOID: Final = r"I avoid \g<x>"

_NOUNS_OF: Final = {"taste": frozenset(TASTE_NOUNS), "eaten": frozenset(CONSUMED), "person": frozenset(PERSON_NOUNS)}
"""The nouns in which the thing of a rule must end, by the mark in its pattern."""
_JOINED: Final = re.compile(r" (?:or|and) ")


def _is_known(thing: str, nouns: frozenset[str]) -> bool:
    """Whether a phrase ends in one of some nouns, or each of two joined phrases does."""
    thing = thing.casefold().replace("’", "'")
    if thing in nouns:
        return True
    parts = [each.split() for each in _JOINED.split(thing)]
    return all(any(" ".join(words[start:]) in nouns for start in range(len(words))) for words in parts)


def _felt(found: re.Match[str]) -> str | None:
    """What the writer feels of the thing before a relative clause."""
    thing = next((each for each in (found["x"], found["x"].split()[-1]) if each.casefold() in _NOUNS_OF["taste"]), None)
    return f"I {found['v']} {thing}" if thing is not None else None


def _checked(statement: _Statement) -> _Statement:
    """A statement of a rule that states nothing of a thing that is none of its kind: "I'm not a family man"."""

    def checked(found: re.Match[str]) -> str | None:
        mark = next((each for each in _NOUNS_OF if each in found.re.groupindex), "taste")
        if not _is_known(found["x"], _NOUNS_OF[mark]):
            return None
        return found.expand(statement) if isinstance(statement, str) else statement(found)

    return checked


_RULES: Final[tuple[tuple[str, _Statement], ...]] = (
    # the thing is the subject
    (rf"^{_PLACED}{_IS}{_BLISS}{_END}", _LOVE),
    (rf"^{_PLACED} {_SURELY}{_KEEPS_ME}{_END}", _LOVE),
    (
        rf"^{_TASTE}{_IS}(?:the best|the greatest|the superior [a-z]+(?: [a-z]+)?|superior|king|underrated|delicious"
        rf"|so good|amazing|gorgeous|divine|my favou?rites?){_END}",
        _LIKE,
    ),
    (
        rf"^{_TASTE}{_IS}(?:the worst|overrated|disgusting|revolting|vile|rank|grim|gross|nasty|minging|awful"
        rf"|horrible|evil|pointless|boring|yuck|yucky|inedible){_END}",
        _DISLIKE,
    ),
    (
        rf"^{_TASTE}(?:['’]s| has| have) been (?:making me (?:ill|sick|bloated|queasy|gag|unwell)|giving me "
        rf"(?:headaches|migraines|heartburn|cramps|stomach aches|reflux)){_END}",
        _DISLIKE,
    ),
    (rf"^{_THING} {_ILL}{_END}", _DISLIKE),
    (rf"^{_THING} {_ALLERGIC}{_END}", r"I'm allergic to \g<x>"),
    (rf"^{_TASTE} (?:does not|doesn['’]?t|do not|don['’]?t|never) agrees? with (?:me|my (?:stomach|tummy|guts?|system)){_END}", _DISLIKE),
    (
        rf"^{_TASTE} (?:wrecks?|destroys?|ruins?|plays? havoc with|messes? (?:with|up)|irritates?) (?:me|my "
        rf"(?:stomach|tummy|guts?|skin|sleep|digestion)){_END}",
        _DISLIKE,
    ),
    (
        r"^(?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekends|mornings|evenings|summers"
        r"|winters) are (?:for|made for|reserved for|all about) (?P<x>[a-z]+ing\b(?: [a-z]+){0,2})",
        _LOVE,
    ),
    (
        r"\b(?P<x>[a-z]+(?: [a-z]+)?),? which (?:i|we) (?:(?:really|secretly|absolutely|personally|just|always"
        r"|happen to|actually|totally|truly) )*(?P<v>love|adore|like|enjoy|hate|loathe|detest|despise|dislike"
        rf"|can['’]?t stand|can['’]?t eat|don['’]?t like){_END}",
        _felt,
    ),
    # the writer is the subject
    (rf"^(?:i|we)? ?{_NOT_DO}(?:do|touch|handle|digest|process|go near|look at|keep down|manage) (?:any )?{_EATEN}{_END}", _AVOID),
    (rf"^(?:i|we)? ?{_NOT_DO}do (?:any )?{_TASTE}{_END}", _DISLIKE),
    (
        rf"^(?:i|we) {_NOT_DO}(?:hack|stomach|face|look at|smell|go near|get (?:on with|along with|into|excited"
        r" about)|see the (?:point|appeal) (?:of|in)"
        rf"|be doing with|be dealing with|cope with|understand the fuss about) {_NO_TIME}{_THING}{_END}",
        _DISLIKE,
    ),
    (
        r"^(?:i|we) (?:stay|keep|steer|try to stay|try to keep) (?:well |right |far )?(?:off|away from|clear"
        rf" of) (?:the )?{_TASTE}{_END}",
        _AVOID,
    ),
    (
        rf"^(?:i|we)(?:['’]m| am|['’]re| are)? (?:staying|keeping|strictly|completely|totally)? ?off (?:the )?{_EATEN}"
        r"(?= (?:completely|entirely|for good|altogether|these days|now|since)\b)",
        _AVOID,
    ),
    (
        r"^(?:i|we)(?: have|['’]ve)(?: not|n['’]?t) (?:touched|had|smoked|drunk|eaten) (?:an? |any |a drop of"
        r" )?(?P<x>(?:cigarettes?|cigars?|drinks?|pints?|beers?|alcohol|booze|smokes?|meat|sugar|chocolate|coffee"
        r"|caffeine|soda|coke|dairy|gluten|bread)"
        r"(?: or (?:an? )?[a-z]+)?) (?:in|for|since) ",
        _AVOID,
    ),
    (rf"^(?:i|we)(?: have|['’]ve)? (?:always |never )?(?:dread|dreaded) (?!the\b|it\b|this\b|that\b|to\b|when\b){_THING}{_END}", _DISLIKE),
    (rf"^i(?:['’]ve| have)? (?:zero|no|little|absolutely no) (?:time|patience|tolerance|love) for {_THING}{_END}", _DISLIKE),
    (
        r"^i(?: really| just| always)? (?:go (?:nuts|crazy|mad|wild|weak at the knees) for|can['’]?t (?:resist"
        r"|say no to|walk past|get through (?:the|a) day without|function without|get going without|pass up)"
        r"|never (?:say no to|turn down|get tired of|tire of|get bored of|miss|skip|pass up)|rave about|run"
        r" on|thrive on|melt for|look forward to) (?:a |an |my |some |the )?(?:good |nice |decent |proper "
        rf"|cup of |mug of |bit of )*{_TASTE}{_END}",
        _LOVE,
    ),
    (
        r"^i(?:['’]m| am) (?:really |totally |so |very much |absolutely )?(?:all about|all for|mad for|wild"
        r" about|nuts for|sold on|a sucker for|big into|heavily into|well into|hooked on|addicted to|crazy for"
        rf"|in my element (?:with|in)) (?:a |an |my |the )?{_TASTE}{_END}",
        _LOVE,
    ),
    (
        r"^i(?:['’]m| am) (?:only |always |never happier than |at my )*(?:happiest|happier than|happy as larry)"
        rf" (?:when |while )?(?:i['’]?m |i am )?(?P<x>[a-z]+ing\b(?: (?!{_STOP}\b){_WORD}){{0,3}})",
        _LOVE,
    ),
    (rf"^i(?:['’]m| am) (?:only |always |at my )*happiest (?:with|in|on|among|outdoors with) (?:a |an |the |my )?{_TASTE}{_END}", _LOVE),
    (
        r"^(?:i )?(?:can|could)(?: happily| easily| honestly)? (?:spend|while away|lose|waste) (?:hours|days"
        r"|all day|whole days|entire days|the whole day|a whole (?:day|weekend|afternoon)|entire weekends|my"
        rf" whole life) (?:just )?(?:on |in |at |with )?(?P<x>[a-z]+ing\b(?: (?!{_STOP}\b){_WORD}){{0,3}})",
        _LOVE,
    ),
    (
        r"^i(?:['’]ll)? (?:always|only ever|invariably) (?:order|choose|pick|go for|want|ask for|book|opt for"
        rf"|request|prefer|insist on) (?:the |an? )?(?!(?:special|same|usual|cheapest|violence|wrong|worst)\b){_THING}{_END}",
        _PREFER,
    ),
    (rf"^(?:just )?give me (?:an? |some |the |my )?{_THING} (?:any ?day|any time|every time|over )", _PREFER),
    (
        rf"^{_THING} over (?!{_POINTERS}\b){_WORD}(?: {_WORD})?,? (?:any ?day|any time|every time|every single"
        r" time|always|for me|all day|no contest)\b",
        _PREFER,
    ),
    (rf"^(?:team )?{_TASTE} (?:all the way|for the win|forever|ftw){_END}", _LOVE),
    # "not a coffee man", "I'm a cosy farming sim person", "more of a chips man", "strictly builders tea"
    (
        r"^(?:i['’]?m |i am |we['’]re )?(?:not|never been|never was|hardly|definitely not|really not)(?: much"
        rf" of| really| exactly| particularly| at all)? an? (?:big |huge |great |real )?(?P<x>{_ADJECTIVE}(?!"
        rf"(?:cat|dog)\b){_NOUN})(?P<person>) (?:man|woman|person|guy|girl|fan|drinker|eater|lover|lad|kid"
        rf"|type|household|family){_END}",
        _DISLIKE,
    ),
    (
        r"^i(?:['’]m| am|['’]ve always been| have always been) (?:more |very much |definitely |totally |strictly"
        r" |firmly |such |just |really |still |always |much more |usually |mostly )*(?:of )?an? (?:big |huge"
        rf" |real |proper |total |true |committed )*{_PERSON} "
        r"(?:man|woman|person|guy|girl|gal|drinker|lad|nut|freak|fiend|fanatic|junkie|obsessive|geek|maniac"
        rf"|purist|lover|fan|type|household|family){_END}",
        _LIKE,
    ),
    (
        rf"^(?:i['’]?m |i am )?(?:strictly|exclusively|all about|only ever) (?:an? )?{_TASTE}(?: (?:man|woman"
        rf"|person|drinker|guy|girl))?{_END}",
        _LIKE,
    ),
    (
        rf"^{_THING} and (?:me|i|myself) (?:are not|aren['’]?t|are no longer|do not|don['’]?t|never|have never)"
        rf" (?:friends|on speaking terms|get (?:on|along)|got (?:on|along)|mix|agree|see eye to eye){_END}",
        _DISLIKE,
    ),
    (
        r"^i(?:['’]ll)? (?:eat|drink|like|love|watch|play|listen to) (?:just about |pretty much |almost |nearly"
        rf" )?(?:anything|everything) (?:except|but|apart from|bar|besides|other than) (?:for )?{_THING}{_END}",
        _DISLIKE,
    ),
    (
        r"^(?:i )?(?:have |['’]ve )?(?:gave up|given up) (?P<x>smoking|drinking|vaping|gambling|cigarettes|alcohol"
        r"|caffeine|sugar|fizzy drinks|energy drinks)\b(?!.*\b(?:lent|january|again|month|week)\b)",
        _AVOID,
    ),
    (
        r"\bepi-?pen (?:because of|for|in case of|on account of) (?:my )?(?!(?:emergencies|emergency|safety"
        rf"|a|the|my)\b){_THING}{_END}",
        r"I'm allergic to \g<x>",
    ),
    (
        r"^(?:you|nobody|no one) (?:won['’]?t|will not|will never|['’]ll never|['’]d never|can['’]?t|couldn['’]?t"
        r"|could)(?: ever)? (?:catch|get|see|find|drag) me (?:on|up|in|near|at|to|into|eating|drinking|wearing"
        rf"|doing|watching|anywhere near|dead in) (?:an? |the |any )?{_THING}{_END}",
        _DISLIKE,
    ),
    (rf"^i refuse to (?:eat|drink|wear|watch|listen to|play) (?:an? |the |any )?{_THING}{_END}", _DISLIKE),
    # a learner's order
    (rf"^(?:i|we) (?:very|so much|too much|a lot) (?P<v>like|love|enjoy|hate|dislike) {_THING}{_END}", r"I \g<v> \g<x>"),
    # orders from a doctor
    (
        r"^(?:my |the )?(?:doctor|doc|gp|consultant|dietitian|dietician|nutritionist|cardiologist|surgeon|midwife)"
        r"(?:['’]s| has| is)? (?:ordered|banned|taken|has|put|wants|got) (?:me )?(?:to (?:avoid|cut out|give"
        rf" up|stay off|lay off)|off) {_EATEN}{_END}",
        _AVOID,
    ),
    # a habit with its day first, a condition in short
    (
        rf"^(?P<d>{_WEEKDAYS}),? (?:i|we) (?:always |usually |mostly )?(?P<x>(?:go|play|do) [a-z][^,.;!?]{{2,40}}?){_END}",
        r"I \g<x> on \g<d>",
    ),
    (rf"^(?P<x>{any_of(DIETS)})(?:,? type (?:1|2|one|two))?,? (?:ever )?since ", r"I'm \g<x>"),
)
TASTE_RULES: Final = tuple(
    (pattern, _checked(statement) if "(?P<taste>)" in pattern or "(?P<eaten>)" in pattern or "(?P<person>)" in pattern else statement)
    for pattern, statement in _RULES
)
