"""Frames of tastes: classes of verbs, adjectives and nouns that say what the writer feels about a thing, and where the thing stands.

A frame states a taste with every word of its class: "I've fallen for", "I have no interest in". The thing is any noun phrase that points to
nothing in the conversation. Where the words of a class are also used of other matters, the thing must be known as one of tastes.
"""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.grammar.thing_patterns import (
    AVOID,
    DISLIKE,
    EATEN,
    END,
    LIKE,
    LOVE,
    PASTIME,
    PLACED,
    PREFER,
    STOP,
    THING,
    WORD,
    Rule,
)
from memory.texts.prefiltered_patterns import compiled

_I: Final = r"^(?:i|we)"
_AM: Final = r"^(?:(?:i['’]?m|i am|we['’]?re|we are) )?"
_IS_I: Final = r"^(?:i['’]?m|i am|we['’]?re|we are)"
_HAVE: Final = r"^(?:(?:i|we)(?:['’]?ve| have)? )?"
_EVER: Final = (
    r"(?:(?:really|just|only|recently|lately|finally|always|also|still|completely|totally|absolutely|honestly|secretly|rather|right|quite"
    r"|a bit|so|very|too|way|well|officially|properly|kind of|kinda|long|ever) )*"
)
_SOME: Final = (
    r"(?:an? |the |some |my |any )?(?:(?:good|nice|proper|decent|strong|hot|cold|fresh|cup of|mug of|pot of|glass"
    r" of|plate of|bit of) )*"
)
_ACT: Final = rf"(?P<x>[a-z]{{2,}}ing\b(?<!being)(?: (?!{STOP}\b){WORD}){{0,3}})"
_WARMED: Final = any_of(
    listed("""
    fallen in love with, fell in love with, grown to love, grew to love, come to love, came to love, learned to love, learnt to love,
    grown fond of, become fond of, got fond of, grown keen on, become keen on, grown partial to, become partial to,
    developed a taste for, developed a love of, developed a love for, discovered a love of, discovered a love for, discovered the joy of,
    discovered the joys of, rediscovered, become obsessed with, got hooked on, gotten hooked on, become hooked on, become addicted to
""")
)
_BEGUN: Final = r"(?:took up|taken up|got(?:ten)? into|started|discovered|tried|picked up|fell into|got the bug for)"
_STILL: Final = any_of(
    listed("""
    love it, loving it, adore it, enjoy it, enjoying it, hooked, never stopped, haven't stopped, never looked back, haven't looked back,
    still do it, still at it, can't stop, can't get enough, obsessed, addicted, in love with it, it's the best
""")
)
_NEEDS: Final = (
    r"(?:can['’]?t|cannot|can not|don['’]?t|do not|never|couldn['’]?t) (?:even |really |properly )*(?:live|sleep"
    r"|function|work|study|wake up|cope"
    r"|manage|relax|think|start (?:my|the|a) (?:day|morning|shift)|begin (?:my|the|a) day|face (?:the|a) (?:day"
    r"|morning)|go (?:a|one) (?:single )?day"
    r"|be human|be doing without|do without|get going|get up|leave the house|travel)"
)
_RESTED: Final = (
    r"(?:to (?:relax|unwind|de-stress|destress|switch off|wind down|calm down|stay sane|clear my head)|for (?:fun"
    r"|pleasure|relaxation))"
)
_MADE: Final = (
    r"(?:knit|crochet|sew|bake|cook|garden|paint|draw|sketch|read|swim|run|jog|cycle|bike|hike|climb|sing|dance"
    r"|write|journal|meditate|garden"
    r"|play (?:the |some )?[a-z]+(?: [a-z]+)?|do [a-z]+(?: [a-z]+)?|embroider|whittle|carve|row|sail|fish|surf"
    r"|skate|box|walk|stretch|juggle|quilt)"
)
_DONE_ALONE: Final = (
    r"(?:singing|dancing|climbing|knitting|sewing|painting|drawing|surfing|skating|sailing|rowing|birding|brewing"
    r"|baking|fencing|boxing|swimming"
    r"|running|cycling|hiking|fishing|acting|juggling|crocheting)"
)
_DONE_WITH: Final = r"(?:playing|doing|practi[sc]ing|collecting|riding|keeping|growing|breeding)"
"""Pastimes with an object: "playing the cello"."""
_OBJECT: Final = (
    r"(?:the )?(?!(?:well|busy|up|with|for|on|it|this|that|more|longer|out|in|professionally|better|track|quiet|my"
    r"|your|okay|ok)\b)[a-z][\w'’-]*(?<!ly)"
)
_LOVED_NOUN: Final = any_of(
    listed("""
    my whole personality, my entire personality, my whole life, my entire life, my obsession, my addiction, my weakness,
    my guilty pleasure, my one weakness, my comfort food, my comfort, my go-to, my favourite thing, my favorite thing, my number one,
    my ritual, my daily ritual, my morning ritual, my cup of tea, my poison, my fuel, my medicine, my outlet, my sanctuary, my refuge,
    my reset, my reward, my treat, my thing now, my new thing, my thing these days, my latest thing, my latest obsession,
    my current obsession, my new obsession, my cardio, my scene, my vibe, my sport, my instrument, a must for me, sacred to me,
    how i unwind, how i relax, how i switch off, how i wind down, what i do for fun, what makes me happy, what i look forward to,
    the joy of my life, the light of my life, where my heart is, more my thing, more my speed, more my style, much more my thing,
    my comfort show, my comfort blanket, my religion
""")
)
_PLEASES: Final = (
    r"(?:always |really |just )*(?:hits? the spot|makes? everything better|fix(?:es)? everything|has my heart"
    r"|have my heart|brings? me (?:such |so much )?joy"
    r"|makes? my heart sing|floats? my boat|clears? my head|settles? my nerves|perks? me up|warms? my soul|never (?:disappoints?|fails?))"
)
_NO_FEELING: Final = any_of(
    listed("""
    no interest in, zero interest in, no patience for, no patience with, no appetite for, no stomach for, no desire for, a hatred of,
    a loathing for,
    a loathing of, a fear of, a phobia of, a phobia about, a terror of, a horror of, a dread of, an aversion to, an intense dislike of,
    a dislike of, a real fear of, a massive fear of, a huge fear of, an irrational fear of,
    a lifelong fear of
""")
)
_REFUSED: Final = any_of(
    listed("""
    never been one for, was never one for, never been much of a one for, never been able to stand, never been able to stomach,
    never been big on, never been keen on, never been mad on, never been into, was never into, was never keen on, was never big on,
    was never a fan of, was never much of a fan of, never really been into, never really got into, never got into, never got on with,
    never gotten into, never took to, never taken to, never saw the point of, never seen the point of, never seen the appeal of,
    never understood the appeal of, never understood the point of, never understood the fuss about, never understood the hype about,
    never got the point of, never got the appeal of, never got the hype about, never could stand, never could abide, could never stand,
    could never abide, could never get into, could never get on with, never cared for, never cared much for, never much cared for,
    never had much time for
""")
)
_NOT_ME: Final = any_of(
    listed("""
    not bothered about, not fussed about, not wild about, not sold on, rubbish with, hopeless with, squeamish about, funny about,
    scared stiff of,
    scared to death of, frightened to death of, wary of
""")
)
_FLEES: Final = any_of(
    listed("""
    run a mile from, would run a mile from, give a wide berth to, cross the road to avoid, recoil from, shudder at, cringe at,
    switch off at, get anxious in, get anxious around, get anxious about, get nervous around, get nervous in, get panicky in,
    get claustrophobic in, panic in, panic around, panic at, freak out at, freak out around, get bored by, get bored at, get annoyed by,
    get irritated by, get stressed by, get overwhelmed by, get overwhelmed in, get stressed out by, could do without, can do without,
    can happily do without, am no friend of, wrinkle my nose at, turn my nose up at, turn up my nose at, draw the line at, pass on,
    always pass on, never bother with
""")
)
_WORST: Final = any_of(
    listed("""
    my pet hate, my pet peeve, a pet hate of mine, a pet peeve of mine, my biggest fear, my worst fear, my greatest fear,
    my personal nightmare, my idea of a nightmare, the bane of my life, the bane of my existence, my enemy, my arch enemy,
    my mortal enemy, not for me, not my thing at all, beyond me, too much for me, too sweet for me, too spicy for me, too salty for me,
    too loud for me, too rich for me, pure torture, really not my thing, so not my thing, just not my thing, not really me, not me,
    where i draw the line, a dealbreaker, a deal-breaker, a turn-off, my undoing, a crime, a crime against humanity
""")
)
_TASTES_BAD: Final = (
    r"tastes? (?:like|of) (?:soap|feet|dirt|mud|cardboard|metal|grass|socks|old socks|nothing|chalk|perfume|bin"
    r" juice|medicine|ash)"
)
_STATE: Final = compiled(r"\b(?:(?:has|have|need|needs) to|must) be ", re.IGNORECASE)
_DAY: Final = (
    r"(?:(?:most|all|every|on) )?(?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|weekends?|evenings?|mornings?"
    r"|summers?|winters?)"
)

TASTE_FRAMES: Final[tuple[Rule, ...]] = (
    # the writer feels
    (rf"{_HAVE}{_EVER}{_WARMED} {_SOME}{THING}{END}", LOVE),
    (
        rf"{_HAVE}{_EVER}{_BEGUN} (?P<x>(?!(?:as|a|an|the|my|work|working)\b){WORD}(?:"
        rf" (?!{STOP}\b){WORD})?)\b[^.!?;]*?\b{_STILL}{END}",
        LOVE,
    ),
    (
        rf"{_HAVE}{_EVER}(?:taken up|took up|got(?:ten)? into|got the bug for) (?:the )?{PASTIME}(?:{END}|(?= (?:at|in|during"
        rf"|a few|last|late|two)\b))",
        LIKE,
    ),
    (rf"{_I} {_NEEDS} (?:without|before) {_SOME}{PASTIME}{END}", LIKE),
    (rf"{_IS_I} (?:never|rarely|seldom) (?:seen )?without (?:an? |my |some )?{PASTIME}{END}", LIKE),
    (
        rf"{_AM}(?:always|never not|forever|usually) (?:up for|in the mood for|down for|happy with|craving|ready for)"
        rf" {_SOME}(?:game of )?{PASTIME}{END}",
        LIKE,
    ),
    (
        rf"{_IS_I} {_EVER}(?:mad keen on|mad on|bonkers about|besotted with|enamoured with|smitten with|in love with"
        rf"|taken with|a convert to) {THING}{END}",
        LOVE,
    ),
    (
        rf"{_IS_I} {_EVER}(?:happiest|at my happiest|at peace|in my element|at home) (?:on|in|at|by|with|near|under"
        rf"|among) (?:an? |the |my )?{PASTIME}{END}",
        LOVE,
    ),
    (rf"{_I} (?:grew up on|was raised on|was brought up on|cut my teeth on) {PASTIME}{END}", LIKE),
    (
        rf"{_I} {_EVER}(?:can['’]?t|cannot) stop (?P<x>(?:listening to|reading|watching|playing|eating|drinking|baking"
        rf"|knitting|making) {WORD}(?: (?!{STOP}\b){WORD})?){END}",
        LOVE,
    ),
    (
        r"^i can (?:happily |easily |honestly )*(?:talk|go on|chat|bang on|ramble|bore you|geek out|read) (?:on )?about"
        rf" {THING} (?:all day|for hours|forever|endlessly|till|until|non-?stop)",
        LOVE,
    ),
    (
        rf"{_I} (?:mostly |only |basically |pretty much )*(?:read|watch|eat|drink|wear|play|listen to|cook|bake)"
        rf" (?:nothing|little|hardly anything) (?:but|except|other than) {THING}(?:{END}| now\b)",
        LOVE,
    ),
    (
        r"^(?=.*\b(?:most|every|weekends|usually|always|often|evenings|mornings|\w+days)\b)you(?:['’]ll| will| can)?"
        rf" (?:usually |always |mostly |often |probably )*find me {_ACT}",
        LIKE,
    ),
    (
        rf"{_I} (?:usually |normally )?spend (?:every|each|most|all|my) (?:of )?(?:my )?(?:single |spare |free |other )*(?:[a-z]+ )(?:on"
        r" )?(?P<x>(?!(?:work|commut|wait|driv|cry|study|clean|worry|sleep|try|look|do|go|mak|tak|be|chas|writ|fix"
        rf"|answer)\w*ing\b)[a-z]+ing\b(?: (?!{STOP}\b){WORD}){{0,2}}){END}",
        LIKE,
    ),
    (rf"{_I} (?P<x>{_MADE}) {_RESTED}{END}", r"I like to \g<x>"),
    (
        rf"{_HAVE}been (?P<x>{_DONE_ALONE}|{_DONE_WITH} {_OBJECT}(?: (?!{STOP}\b){WORD})?) (?:ever )?(?:since|for) "
        r"(?:(?:my )?(?:primary )?school|(?:i|we) w(?:as|ere)|\d{4}|[\w -]{2,20}? (?:years|decades)\b|ages|years|as"
        r" long as|(?:my )?childhood|university|college)",
        LIKE,
    ),
    (
        r"^(?P<d>(?:every|each) (?:single |other |second )?\w+|most \w+s|on (?:\w+days|weekends)|at weekends|once a \w+"
        r"|twice a \w+),? (?:i|we) (?P<x>(?:go|play|do|swim|run|cycle|bake|cook|train|sing|dance|eat|visit|volunteer"
        r"|climb|row|knit|paint|watch|read|restore|draw|listen to|fish|hike|garden|brew|sew)\b(?! (?:that|this|it|my"
        rf"|the work|to work)\b)[^.,;!?]{{2,40}}?){END}",
        r"I \g<x> \g<d>",
    ),
    (
        rf"{_I} (?P<x>(?:work|study|learn|think|concentrate|focus) )best (?P<how>(?:at|in|on|by|with|from|alone|before"
        rf"|after)\b[^.,;!?]{{0,40}}?){END}",
        r"I like to \g<x>\g<how>",
    ),
    (
        rf"{_I} (?:always |usually |mostly |tend to )?(?P<x>learn (?:by|from|through) (?:doing|watching|listening"
        rf"|examples|pictures|videos|practice|trial and error|reading)(?: [a-z]+)?){END}",
        r"I like to \g<x>",
    ),
    (
        r"^(?:i|we)(?:['’]ve| have) (?:always )?supported (?P<x>(?-i:[A-Z])[\w'’-]*(?: (?-i:[A-Z])[\w'’-]*)*) (?:all my"
        r" life|since|for|from)\b",
        r"I support \g<x>",
    ),
    (
        rf"^(?P<x>[a-z]{{3,}}ing(?<!working)(?<!being)(?: (?!{STOP}\b){WORD}){{0,2}}) (?:(?:once|twice|three times|four"
        rf" times|five times|\w+ times) (?:a|per) (?:day|week|month)|every (?:day|morning|evening|weekend))(?: now)?{END}",
        LIKE,
    ),
    # the thing pleases
    (rf"^{PLACED},? (?:is|are|['’]s|has become|have become|has always been|have always been|that['’]s|:) {_EVER}{_LOVED_NOUN}{END}", LOVE),
    (
        rf"^{THING}, (?:that['’]?s|now that['’]?s|they['’]re) (?:more )?my (?:thing|jam|passion|hobby|kind of \w+|idea"
        rf" of fun|weakness){END}",
        LOVE,
    ),
    (rf"^{PLACED} {_PLEASES}{END}", LOVE),
    (rf"^everything (?:is|tastes|goes|feels) (?:so much |much )?better with {_SOME}{THING}{END}", LOVE),
    (
        r"^(?:nothing|there['’]s nothing|there is nothing) (?:is |feels |tastes )?(?:better|nicer|finer|more relaxing)"
        rf" than {_SOME}{PASTIME}{END}",
        LOVE,
    ),
    (rf"^(?:you )?can['’]?t (?:beat|go wrong with|go past) {_SOME}{PASTIME}{END}", LOVE),
    (
        r"^my (?:idea of|perfect|ideal|kind of) (?:heaven|bliss|fun|paradise|evening|weekend|holiday|sunday|saturday"
        r"|morning|night|day off|a good (?:time|night|evening|day|weekend)|a perfect \w+)(?: out| in)?(?: is|['’]s|"
        rf" involves| means) {_SOME}{PLACED}{END}",
        LOVE,
    ),
    (rf"^{_DAY} (?:are|is) (?:for|made for|reserved for|all about|always) {PASTIME}{END}", LOVE),
    (rf"^give me (?:an? |some |the |my )?{PASTIME}(?: and .{{2,30}})?$", LOVE),
    (rf"^(?:so |and )?it['’]?s {PASTIME} for me (?:from now on|these days|now|all the way|every time|always|any day)", LIKE),
    (
        r"^my (?:perfect|ideal|dream) (?:date|meal|breakfast|dinner|lunch|trip|day|job|birthday|night in|night out"
        rf"|evening in) (?:is|involves|means) {_SOME}{PLACED}{END}",
        LIKE,
    ),
    (
        r"^(?:(?:big|huge|massive|lifelong|proud|long-suffering) )*(?P<x>(?-i:[A-Z])[\w'’-]+(?: (?-i:[A-Z])[\w'’-]+)?)"
        r" (?:fan|supporter|season ticket holder)(?=\s*(?:[.,;!]|$)| (?:here|since|for|all my))",
        LIKE,
    ),
    # the writer chooses
    (
        rf"{_I} (?:always |usually |only |invariably |tend to )*(?:choose|pick|take|go for|sit (?:on|in|by)|ask for|book"
        r"|request|want) (?:the |an? )?(?P<x>(?:aisle|window)(?: seats?)?|front row|back row|lower bunk|top bunk|quiet"
        rf" carriage){END}",
        PREFER,
    ),
    (rf"{_I} (?:choose|pick|take|go for|have(?! been\b)) (?:an? |the )?{THING} over (?!(?:the|for|on|at|to)\b){WORD}", PREFER),
    (r"^i like to (?P<x>[^.,;!?]{2,40}?) rather than ", r"I prefer to \g<x>"),
    (
        r"^(?:my |i (?:always |only )?(?:like|have|want|need|order|get) my )(?P<x>(?:coffee|tea|eggs?|steaks?|porridge"
        r"|toast|burgers?|curry|curries|pizza|beer|water|bacon|fish|rice|pasta|popcorn)(?: (?:has to be|have to be|must"
        r" be|needs to be|need to be))? (?:black|white|plain|poached|scrambled|fried|boiled|soft-boiled|hard-boiled"
        r"|rare|medium(?: rare)?|well done|raw|burnt|toasted|cold|hot|iced|strong|weak|mild|milky|sweet|unsweetened|al"
        r" dente|neat|spicy|without \w+|with (?!me\b|you\b)\w+))\b",
        lambda found: f"I prefer {_STATE.sub('', found['x'])}",
    ),
    (rf"{_IS_I} {_EVER}(?:rather )?more (?:of )?an? {PASTIME}(?: person)? than (?:of )?an? {WORD}\b", PREFER),
    # the writer rejects
    (rf"^(?:literally |really |please |absolutely )*anything (?:but|except|apart from|other than) {PASTIME}(?:,? please)?{END}", DISLIKE),
    (rf"^(?:i|we)(?:['’]?ve| have)? {_EVER}(?:got |always had |had )?{_NO_FEELING} {THING}{END}", DISLIKE),
    (rf"{_HAVE}{_EVER}{_REFUSED} (?:the )?{THING}{END}", DISLIKE),
    (
        rf"{_AM}(?:(?:really|just|so|still|absolutely|always|completely|totally|honestly|been|have|['’]ve) )*{_NOT_ME}"
        rf" {THING}{END}",
        DISLIKE,
    ),
    (rf"{_IS_I} {_EVER}(?:done|finished|through) with {PASTIME}{END}", DISLIKE),
    (rf"{_I} {_EVER}{_FLEES} {THING}{END}", DISLIKE),
    (rf"{_HAVE}{_EVER}(?:gone|went) {_EVER}off {THING}{END}", DISLIKE),
    (
        rf"{_I} (?:always )?(?:pick|fish|scrape|take|leave|dig) (?:out )?(?:the |all the |any )?{EATEN} (?:out of|off"
        r"|out|on the side of|from|to one side)\b",
        DISLIKE,
    ),
    (rf"{_I} (?:really |always )?(?:struggle with|can['’]?t cope with|have trouble with) {EATEN}{END}", DISLIKE),
    # the thing repels
    (rf"^{PLACED},? (?:is|are|['’]s|has always been|have always been) {_EVER}{_WORST}{END}", DISLIKE),
    (rf"^{EATEN} {_TASTES_BAD}(?: to me)?{END}", DISLIKE),
    (rf"^{PASTIME} (?:should be|ought to be|needs to be) (?:illegal|banned|outlawed|against the law){END}", DISLIKE),
    (rf"^(?:please )?(?:keep|get) (?:those |that |the |any |your |all )?{PASTIME} (?:well |far )?away from me\b", DISLIKE),
    (rf"^(?:please )?(?:hold|skip|leave out|leave off|no) (?:the |any )?{EATEN},? (?:always|ever)\b", AVOID),
)
