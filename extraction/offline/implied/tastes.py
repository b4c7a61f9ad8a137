"""Tastes, avoidances and allergies in other words: "saunas keep me sane", "I can't do spicy", "not a coffee man", "milk gives me hives"."""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.grammar.thing_patterns import (
    ADJECTIVE,
    AVOID,
    DISLIKE,
    EATEN,
    END,
    HARM,
    LIKE,
    LOVE,
    NOUN,
    PERSON,
    PLACED,
    POINTERS,
    PREFER,
    STOP,
    TASTE,
    THING,
    WORD,
    Rule,
    is_taste,
)
from extraction.offline.words.taste_nouns import TASTE_NOUNS
from extraction.offline.words.tastes import DIETS

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
    r"|giving|given) me (?:the |an? |awful |terrible |bad |such |horrible |massive )*(?:heartburn|(?:stomach|belly|skin"
    r"|digestive) (?:problems?|troubles?|issues?|pains?)|migraines?"
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
_HAVE_NOT_HAD: Final = r"(?:i|we)(?: have|['’]ve)?(?: not|n['’]?t) (?:touched|had|smoked|drunk|eaten)(?: an?| any| a drop of)?"
_FOR_YEARS: Final = (
    r"(?:(?:in|for) (?:[\w-]+ ){1,4}?(?:years?|decades|ages)"
    r"|since (?:\d{4}|(?:my )?(?:childhood|school|university|uni|college|twenties|thirties)|(?:i|we) (?:was|were)))\b"
)
_NO_TIME: Final = (
    r"(?!(?:\w*day|tomorrow|tonight|today|mornings? (?:this|next)|then|monday|am|pm|noon|\d|well|anything"
    r"|much|more|business|things|stuff|magic|miracles|homework|maths|math|it|that"
    r"|this|yoga today|without|better|push-?ups|pull-?ups|the|my|your|an?|so|what|everything|both|all|enough"
    r"|justice|harm|good|right|over|up|down|out|with|any(?: of)? (?:this|that))\b)"
)
_WEEKDAYS: Final = r"(?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekends)"


def _felt(found: re.Match[str]) -> str | None:
    """What the writer feels of the thing before a relative clause."""
    thing = next((each for each in (found["x"], found["x"].split()[-1]) if each.casefold() in TASTE_NOUNS), None)
    return f"I {found['v']} {thing}" if thing is not None else None


def _unloved(found: re.Match[str]) -> str | None:
    """What somebody who is "not much of a drinker" does not like."""
    is_denied = re.search(r"\b(?:not|never)\b", found.group(), re.IGNORECASE) is not None
    return f"I dislike {found['x']}ing" if is_denied else None


def _loved(found: re.Match[str]) -> str | None:
    """What a keen gardener likes."""
    act = f"{found['x'].removesuffix('er')}ing" if found["x"].endswith("er") else found["x"]
    return f"I like {act}" if is_taste(act) else None


TASTE_RULES: Final[tuple[Rule, ...]] = (
    # the thing is the subject
    (rf"^{PLACED}{_IS}{_BLISS}{END}", LOVE),
    (rf"^{PLACED} {_SURELY}{_KEEPS_ME}{END}", LOVE),
    (
        rf"^{TASTE}{_IS}(?:the (?:best|greatest) (?:thing|food|drink|meal|music|sport) (?:on earth|in the world|ever|of all)|the best"
        rf"|the greatest|the superior [a-z]+(?: [a-z]+)?|superior|king|underrated|delicious"
        rf"|so good|amazing|gorgeous|divine|my favou?rites?){END}",
        LIKE,
    ),
    (
        rf"^{TASTE}{_IS}(?:the worst|overrated|disgusting|revolting|vile|rank|grim|gross|nasty|minging|awful"
        rf"|horrible|evil|pointless|boring|yuck|yucky|inedible){END}",
        DISLIKE,
    ),
    (
        rf"^{TASTE}(?:['’]s| has| have) been (?:making me (?:ill|sick|bloated|queasy|gag|unwell)|giving me "
        rf"(?:headaches|migraines|heartburn|cramps|stomach aches|reflux)){END}",
        DISLIKE,
    ),
    (rf"^{THING} {_ILL}{END}", DISLIKE),
    (rf"^{THING} {_ALLERGIC}{END}", r"I'm allergic to \g<x>"),
    (rf"^{TASTE} (?:does not|doesn['’]?t|do not|don['’]?t|never) agrees? with (?:me|my (?:stomach|tummy|guts?|system)){END}", DISLIKE),
    (
        rf"^{TASTE} (?:wrecks?|destroys?|ruins?|plays? havoc with|messes? (?:with|up)|irritates?) (?:me|my "
        rf"(?:stomach|tummy|guts?|skin|sleep|digestion)){END}",
        DISLIKE,
    ),
    (
        r"^(?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekends|mornings|evenings|summers"
        r"|winters) are (?:for|made for|reserved for|all about) (?P<x>[a-z]+ing\b(?: [a-z]+){0,2})",
        LOVE,
    ),
    (
        r"\b(?P<x>[a-z]+(?: [a-z]+)?),? which (?:i|we) (?:(?:really|secretly|absolutely|personally|just|always"
        r"|happen to|actually|totally|truly) )*(?P<v>love|adore|like|enjoy|hate|loathe|detest|despise|dislike"
        rf"|can['’]?t stand|can['’]?t eat|don['’]?t like){END}",
        _felt,
    ),
    # the writer is the subject
    (rf"^(?:i|we)? ?{_NOT_DO}(?:do|take|touch|handle|digest|process|go near|look at|keep down|manage) (?:any )?{EATEN}{END}", AVOID),
    (
        r"^my (?:skin|system|eyes|nose|sinuses|head|hands|feet|knees|joints|ears|teeth|liver|nerves)"
        rf" (?:(?:{_NOT_DO}(?:do|take|handle|digest|process|like|tolerate|stand|bear|cope with)|hates?|rejects?|reacts? (?:badly )?to"
        rf"|rebels? against|objects? to)) (?:any |the )?{HARM}{END}",
        AVOID,
    ),
    # agent nouns: "not much of a drinker", "a keen gardener"
    (
        rf"^(?:i['’]?m|i am|i was|never been|i['’]ve been|i['’]ve never been) (?:not|never)? ?much of an? (?P<x>[a-z]{{3,}})er{END}",
        _unloved,
    ),
    (
        r"^(?:i['’]?m|i am|i['’]ve always been|i have always been) (?:(?:such|just|quite|still|also|rather) )*(?:an?"
        r" )(?:(?:keen|avid|passionate|serious|amateur"
        r"|hobby|enthusiastic|dedicated|lifelong|big|obsessive|compulsive|weekend|recreational|casual|occasional|committed) )+"
        rf"(?P<x>(?:[a-z]+ )?[a-z]{{3,}}(?:er|ist|or)){END}",
        _loved,
    ),
    (rf"^(?:i|we)? ?{_NOT_DO}do (?:any )?{TASTE}{END}", DISLIKE),
    (
        rf"^(?:i|we) {_NOT_DO}(?:hack|stomach|face|look at|smell|go near|get (?:on with|along with|into|excited"
        r" about)|see the (?:point|appeal) (?:of|in)"
        rf"|be doing with|be dealing with|cope with|understand the fuss about) {_NO_TIME}{THING}{END}",
        DISLIKE,
    ),
    (
        r"^(?:i|we) (?:stay|keep|steer|try to stay|try to keep) (?:well |right |far )?(?:off|away from|clear"
        rf" of) (?:the )?{TASTE}{END}",
        AVOID,
    ),
    (
        rf"^(?:i|we)(?:['’]m| am|['’]re| are)? (?:staying|keeping|strictly|completely|totally)? ?off (?:the )?{EATEN}"
        r"(?= (?:completely|entirely|for good|altogether|these days|now|since)\b)",
        AVOID,
    ),
    (rf"^{_HAVE_NOT_HAD} {EATEN} {_FOR_YEARS}", AVOID),
    (rf"^{_HAVE_NOT_HAD} (?P<x>cigarettes?|cigars?|drinks?|pints?|smokes?) {_FOR_YEARS}", AVOID),
    (rf"^(?:i|we)(?: have|['’]ve)? (?:always |never )?(?:dread|dreaded) (?!the\b|it\b|this\b|that\b|to\b|when\b){THING}{END}", DISLIKE),
    (rf"^i(?:['’]ve| have)? (?:zero|no|little|absolutely no) (?:time|patience|tolerance|love) for {THING}{END}", DISLIKE),
    (
        r"^i(?: really| just| always)? (?:go (?:nuts|crazy|mad|wild|weak at the knees) for|can['’]?t (?:resist"
        r"|say no to|walk past|get through (?:the|a) day without|function without|get going without|pass up)"
        r"|never (?:say no to|turn down|get tired of|tire of|get bored of|miss|skip|pass up)|rave about|run"
        r" on|thrive on|melt for|look forward to) (?:a |an |my |some |the )?(?:good |nice |decent |proper "
        rf"|cup of |mug of |bit of )*{TASTE}{END}",
        LOVE,
    ),
    (
        r"^i(?:['’]m| am) (?:really |totally |so |very much |absolutely )?(?:all about|all for|mad for|wild"
        r" about|nuts for|sold on|a sucker for|big into|heavily into|well into|hooked on|addicted to|crazy for"
        rf"|in my element (?:with|in)) (?:a |an |my |the )?{TASTE}{END}",
        LOVE,
    ),
    (
        r"^i(?:['’]m| am) (?:only |always |never happier than |at my )*(?:happiest|happier than|happy as larry)"
        rf" (?:when |while )?(?:i['’]?m |i am )?(?P<x>[a-z]+ing\b(?: (?!{STOP}\b){WORD}){{0,3}})",
        LOVE,
    ),
    (rf"^i(?:['’]m| am) (?:only |always |at my )*happiest (?:with|in|on|among|outdoors with) (?:a |an |the |my )?{TASTE}{END}", LOVE),
    (
        r"^(?:i )?(?:can|could)(?: happily| easily| honestly)? (?:spend|while away|lose|waste) (?:hours|days"
        r"|all day|whole days|entire days|the whole day|a whole (?:day|weekend|afternoon)|entire weekends|my"
        rf" whole life) (?:just )?(?:on |in |at |with )?(?P<x>[a-z]+ing\b(?: (?!{STOP}\b){WORD}){{0,3}})",
        LOVE,
    ),
    (
        r"^i(?:['’]ll)? (?:always|only ever|invariably) (?:order|choose|pick|go for|want|ask for|book|opt for"
        rf"|request|prefer|insist on) (?:the |an? )?(?!(?:special|same|usual|cheapest|violence|wrong|worst)\b){THING}{END}",
        PREFER,
    ),
    (rf"^(?:just )?give me (?:an? |some |the |my )?{THING} (?:any ?day|any time|every time|over )", PREFER),
    (
        rf"^{THING} over (?!{POINTERS}\b){WORD}(?: {WORD})?,? (?:any ?day|any time|every time|every single"
        r" time|always|for me|all day|no contest)\b",
        PREFER,
    ),
    (rf"^(?:team )?{TASTE} (?:all the way|for the win|forever|ftw){END}", LOVE),
    # "not a coffee man", "I'm a cosy farming sim person", "more of a chips man", "strictly builders tea"
    (
        r"^(?:i['’]?m |i am |we['’]re )?(?:not|never been|never was|hardly|definitely not|really not)(?: much"
        rf" of| really| exactly| particularly| at all)? an? (?:big |huge |great |real )?(?P<x>{ADJECTIVE}(?!"
        rf"(?:cat|dog)\b){NOUN})(?P<person>) (?:man|woman|person|guy|girl|fan|drinker|eater|lover|lad|kid"
        rf"|type|household|family){END}",
        DISLIKE,
    ),
    (
        r"^(?:i(?:['’]m| am|['’]ve always been| have always been) |(?=more of an? ))(?:more |very much |definitely |totally |strictly"
        r" |firmly |such |just |really |still |always |much more |usually |mostly )*(?:of )?an? (?:big |huge"
        rf" |real |proper |total |true |committed )*{PERSON} "
        r"(?:man|woman|person|guy|girl|gal|drinker|lad|nut|freak|fiend|fanatic|junkie|obsessive|geek|maniac"
        rf"|purist|lover|fan|type|household|family){END}",
        LIKE,
    ),
    (rf"^(?:(?:big|total|huge|proud) )*{PERSON} (?:man|woman|person|guy|girl|drinker|lover|fan) here{END}", LIKE),
    (
        rf"^(?:i['’]?m |i am )?(?:strictly|exclusively|all about|only ever) (?:an? )?{TASTE}(?: (?:man|woman"
        rf"|person|drinker|guy|girl))?{END}",
        LIKE,
    ),
    (
        rf"^{THING} and (?:me|i|myself) (?:are not|aren['’]?t|are no longer|do not|don['’]?t|never|have never)"
        rf" (?:friends|on speaking terms|get (?:on|along)|got (?:on|along)|mix|agree|see eye to eye){END}",
        DISLIKE,
    ),
    (
        r"^i(?:(?:['’]ll)? (?:eat|drink|like|love|watch|play|listen to)|(?:['’]m| am) (?:fine|ok|okay|good|happy"
        r"|cool) with) (?:just about |pretty"
        rf" much |almost |nearly )?(?:anything|everything) (?:except|but|apart from|bar|besides|other than) (?:for )?{THING}{END}",
        DISLIKE,
    ),
    (
        r"^(?:i )?(?:have |['’]ve )?(?:finally |also |completely )?(?:gave up|given up|quit|kicked|packed in"
        r"|stopped with) (?:the )?(?P<x>smoking|drinking"
        r"|vaping|gambling|cigarettes|alcohol|booze|meat|dairy|gluten|bread|coffee|caffeine|sugar|soda|fizzy drinks"
        r"|energy drinks)\b(?!.*\b(?:lent|january|again|(?:for|this) (?:an? |the |one )?(?:month|week))\b)",
        AVOID,
    ),
    (
        r"\bepi-?pen (?:because of|for|in case of|on account of) (?:my )?(?!(?:emergencies|emergency|safety"
        rf"|a|the|my)\b){THING}{END}",
        r"I'm allergic to \g<x>",
    ),
    (
        r"^(?:you|nobody|no one) (?:won['’]?t|will not|will never|['’]ll never|['’]d never|can['’]?t|couldn['’]?t"
        r"|could)(?: ever)? (?:catch|get|see|find|drag) me (?:on|up|in|near|at|to|into|eating|drinking|wearing"
        rf"|doing|watching|anywhere near|dead in) (?:an? |the |any )?{THING}{END}",
        DISLIKE,
    ),
    (rf"^i refuse to (?:eat|drink|wear|watch|listen to|play) (?:an? |the |any )?{THING}{END}", DISLIKE),
    # a learner's order
    (rf"^(?:i|we) (?:very|so much|too much|a lot) (?P<v>like|love|enjoy|hate|dislike) {THING}{END}", r"I \g<v> \g<x>"),
    # orders from a doctor
    (
        r"^(?:my |the )?(?:doctor|doc|gp|consultant|dietitian|dietician|nutritionist|cardiologist|surgeon|midwife)"
        r"(?:['’]s| has| is)? (?:ordered|banned|taken|has|put|wants|got) (?:me )?(?:to (?:avoid|cut out|give"
        rf" up|stay off|lay off)|off) {EATEN}{END}",
        AVOID,
    ),
    # a habit with its day first, a condition in short
    (
        rf"^(?P<d>{_WEEKDAYS}),? (?:i|we) (?:always |usually |mostly )?(?P<x>(?:go|play|do) [a-z][^,.;!?]{{2,40}}?){END}",
        r"I \g<x> on \g<d>",
    ),
    (rf"^(?P<x>{any_of(DIETS)})(?:,? type (?:1|2|one|two))?,? (?:ever )?since ", r"I'm \g<x>"),
)
