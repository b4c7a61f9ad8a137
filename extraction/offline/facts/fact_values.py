"""Values that state no fact although their clause has the form of one: idioms, irony, limits, things of the conversation."""

import re
from typing import Final

from extraction.offline.grammar.fact_grammar import Field
from extraction.offline.grammar.patterns import any_of, cue, listed
from extraction.offline.words.occupations import is_possible_job
from extraction.offline.words.people import NO_NAMES
from extraction.offline.words.work import SECTORS, SURE_SECTORS
from memory.texts.prefiltered_patterns import compiled

_LIMITS: Final = listed("""
    of my, to two, to three, to the, to all, to these, in my own, in my kitchen, in my house, of this, of our, of your, of bad, for
    january, for february, for march, for april, for may, for june, for july, for august, for september, for october, for november,
    for december, to my, when, whenever, if, or, except, unless, until, till, on weekdays, on weekends, on mondays, sort of, kind
    of, at heart, in spirit, sometimes, for a day, for the day, for a week, for the week, for a month, for the month, at least on
    paper, on paper, in my head, in my mind, in my heart, in my thoughts, in theory, for tonight, tonight, for now until, for the
    night, for lent, this week only, in name only, by accident, in training, at best, for the summer, for the weekend, over the
    summer, part of the year, by marriage, of sorts, to be, in the making, wannabe, in disguise, in a past life, in another life, by
    association, for halloween, for my kids, for my children, for my family, for my cat, for my dog, for my teenagers, for my wife,
    for my husband, between, in between, not really, not strictly, not always, not exactly, not quite, not at, not on, not when, not
    today, not yet, not any, in my dreams, in the game, in the play, in my game, rent-free, rent free, of my dreams, during the
    week, for a few days, for a couple of days, for one night, today, again today,
    again tonight, this semester, this term, in the same way, the way a, the same way, during *
""")
_LIMITED: Final = compiled(rf"[\s,.…—–-]*(?:{any_of(_LIMITS)}\b|not\s*[.!]*$)", re.IGNORECASE)
"""Limits a statement so far that it is not plain: "a vegetarian when it suits me"."""
_TO_CHILDREN: Final = compiled(r"\s+(?:to|of) (?:two|three|four|five|six|\d|my)\b", re.IGNORECASE)
"""Whose parent somebody is, which limits no occupation: "a stay-at-home dad to three"."""
_SECTORS: Final = frozenset((*SECTORS, *SURE_SECTORS))
_POINTING: Final = compiled(
    r"(?:the (?:(?:very )?(?:first|second|third|last|latest|new|other|next|previous|current|old|blue|red|green|white"
    r"|black)\b|\w+ (?:one|ones|option|version|design|idea)\b|one\b)"
    r"|(?:no(?:ne|body)|every(?:one|body|where)|some(?:one|body|where)|any(?:one|body)|all|most|some|either|neither"
    r"|lots|plenty|more|less|much|many|few|several)\b(?<!\bmost)|most\b(?! [a-z-]+)"
    r"|(?:my favou?rite )?(?:option|version|choice|plan|answer|part|bit|thing|things|line|moment|one|idea|place|side|approach|way)\b)",
    re.IGNORECASE,
)
"""Likings of something in the conversation: "the second one"."""
_IN_TALK: Final = cue(listed("this, that, these, those, it, them, him, better, best, having, making sure, your, yours"))
"""Words in a value that compare or point."""
_AROUND_HERE: Final = compiled(r"[a-z]+ing (?:here|there)", re.IGNORECASE)
"""Points to a place of the conversation: "I love living here"."""
_GERUND: Final = compiled(r"[a-z]+ing(?: (?:up|down|out|off|on|in|away|over|back))?", re.IGNORECASE)
_OBJECT: Final = compiled(r"\s+(?:to\s+)?(?:my|our|your|his|her|their|them|him|us|you|each|that|this|those|these)\b", re.IGNORECASE)
"""The object of an act without which a taste would be another one: "I like breaking up my work"."""
_ACT: Final = compiled(r"(?:to [a-z]+|[a-z]+ing)(?: time)?", re.IGNORECASE)
_REST_OF_ACT: Final = compiled(
    r"(?:\s+(?!(?:and|n?or|but|so|because|cause|cuz|cos|coz|bc|which|since|when|whenever|while|who|where|what|how|until|till|if|though"
    r"|although|than|even|too|also|as (?:much|well)|a lot|alot|lots|much|more|most|now|lately|ever|any ?more|these days|please|tbh|lol|haha"
    r"|imo|tho|btw|i|i['’]?m|we|is|are|was|were|makes?|helps?|has|have|really|very|sometimes|especially|instead|again"
    r"|(?:you|he|she|they|it) (?:can|will|are|is|was|have|has|get|gets|see|do|does|feel|feels|make|makes|just|always|never))\b)"
    r"[\w'’&-]+){1,7}",
    re.IGNORECASE,
)
"""What belongs to an act after its verb: "to stay" goes on with "inside"."""
_DANGLING: Final = re.compile(r"(?:\s+(?:to|in|at|on|of|for|with|the|an?))+$", re.IGNORECASE)
_NO_ACT: Final = compiled(r"(?:of|to (?:because|but|and|so|too|when|if|be|do))\b", re.IGNORECASE)
_TODAY: Final = compiled(r"\s+(?:so much |a lot |really )?(?:today|tonight|right now|this morning)\b", re.IGNORECASE)
"""Limits a taste to a moment: "I hate my hair today"."""
_FITTING: Final = compiled(r"\s+(?:(?:for|as)\b|in (?:the|this|that|an?|our)\b)", re.IGNORECASE)
"""Rates somebody or something for a purpose: "I like John for the role"."""
_DEFINITE: Final = re.compile(r"the (?P<noun>[\w'’-]+)(?P<more> .*)?", re.IGNORECASE)
_GENERIC: Final = frozenset(
    listed("""
    sea, ocean, mountains, beach, outdoors, countryside, forest, woods, rain, snow, cold, heat, sun, summer, winter, autumn, spring,
    night, morning, mornings, theatre, theater, opera, cinema, ballet, piano, violin, cello, guitar, gym, dentist, dark, city, quiet,
    silence, water, desert, circus, zoo, radio, blues, beatles, rolling stones, bagpipes, subway, tube, metro, wind, fog, humidity
""")
)
_SENSED: Final = frozenset(listed("smell, taste, sound, colour, color, noise, texture, feel, scent, sight"))
"""Nouns that mean a kind of thing after "the": "I love the sea". Others were mentioned: "I love the curtains"."""
_VERBS_OF_WORK: Final = tuple(
    f"{each} "
    for each in listed("""
    in, at, with, for, run, own, manage, drive, teach, skipper, captain, crew, pilot, clean, fix, repair, service, mend, sell, deliver,
    stack, fill, restock, cut, do, lay, install, fit, wait, tend, pull, wash, flip, make, serve, pour, man, build, design, write,
    groom, train, shoe, milk, shear, farm, grow, raise, look, mind, answer, handle, process, pack, pick, empty, guard, patrol, stuff,
    enter, test, tutor, lecture, training, studying
""")
)
_COMPARED: Final = compiled(r".*\b(?:as much as|about as|like a hole|than a|less than|more than (?:you|my|the|life))\b", re.IGNORECASE)
_DISAGREEABLE: Final = cue(
    listed("""
    wait, waiting, queu*, in line, stuck, traffic, tax, taxes, paperwork, bills, delay, delays, delayed, spam, hangover, hangovers,
    headache, headaches, monday, mondays, audit, audits, stepping, getting up, losing, paying, cleaning up, cleaning ovens, 3am, 3
    am, 4am, 4 am, waking up, drama with, ignored, root canal, root canals, dentist, mosquito*, toothache*,
    migraine*, blisters, sunburn*, food poisoning, the flu, flat tyre, flat tyres, flat tire, flat tires, parking tickets, broken,
    spilling, sneez*, gravity, oxygen, breathing, electricity, punishment, power cut, power cuts, bugs in, crash, crashes, crashing,
    being yelled, being shouted, being late, being ghosted, being ignored, being told, being interrupted, being woken, being stuck,
    being lied, woken, hold music, on hold, pop-ups, ads, captcha, captchas, error messages, bureaucracy, overtime, soggy
""")
)
"""Things that nobody likes: "I love waiting in line" is irony."""
_NATIONALITY: Final = compiled(r"[A-Z]\w+(?:ian|ish|ese|ean|ican)\b")
_GIVEN_NAMES: Final = frozenset(
    listed("""
    adrian, brian, ian, vivian, julian, lillian, lilian, marian, fabian, damian, christian, sebastian, florian, gillian, kilian,
    killian, jillian, cyprian, sean, jean, dean, maximilian, cillian, bastian, dorian, tristian, emilian
""")
)
_NO_HOMES: Final = listed("""
    team *, room *, level *, tier *, unit *, gate *, terminal *, zone *, phase *, crocs, lego, leggings, hoodies, facebook, ruins,
    nowhere, fear, hope, denial, pain, limbo, exile, peace, debt, sin, hell, heaven, chaos, poverty, luxury, squalor, harmony,
    silence, airports, airport lounges, hotels, hotel rooms, trains, planes, boxes, tatters, squalor, filth, agony, rags, tents,
    bubbles, scrubs, uniform, darkness, terror, style, dread, bliss, misery, comfort, shame, lockdown, isolation, hiding,
    quarantine, narnia, westeros, hogwarts, gotham, mordor, wakanda, atlantis, middle-earth, neverland, wonderland, rivendell, oz,
    eden, utopia, valhalla, springfield, la la land, cloud cuckoo land, cloud nine, mars, the moon, azeroth, hyrule, tatooine,
    waterdeep, the shire, camelot, el dorado, azkaban, asgard, skyrim, gondor, arrakis, pandora, krypton, jupiter, saturn, venus,
    pluto, minecraft, the matrix, the past, the future, the moment, the present, the now, my head, pyjamas, pajamas, sweatpants,
    jeans, excel, slack, zoom, gmail, my inbox
""")
"""States, things and invented places that one can "live in"."""
_NO_HOME: Final = compiled(any_of(_NO_HOMES), re.IGNORECASE)
_HABIT_LIMITS: Final = listed("""
    after, before, at, on, when, every, during, in, until, till, much, anymore, any more, often, enough, unless, if, as much, that
    much, alone, today, tonight, yet, without, while, for breakfast, for lunch, for dinner
""")
_HABIT_ENDS: Final = compiled(rf"\s+(?!at all\b){any_of(_HABIT_LIMITS)}\b")
"""Limits an avoidance: "I never eat before noon"."""
_PUN: Final = compiled(r"\W*(?:because|cause|since) (?:i|im|my)\b", re.IGNORECASE)
_LEFT: Final = cue(
    listed("""
    and left, left again, left after, left in, left it, left there, moved away, moved back, moved on, moved out, moved again,
    returned, went back, came back, before moving, before i moved, before we moved
""")
)
"""The home that a sentence states was left."""
_TITLE: Final = compiled(r"\s+(?:by(?! the way)|is|was|in|of)\b", re.IGNORECASE)
"""Words after a name in the title of a book: "My Name is Red by Orhan Pamuk"."""
_BY_FEW: Final = compiled(
    r"[\s,;–—-]*(?:but|although|though) (?:only|just|nobody|no one|none|hardly anyone|hardly anybody)\b[^.!?]*\b(?:uses?|used"
    r"|calls?|called|says?)\b",
    re.IGNORECASE,
)
"""After a name, says that the writer does not go by it."""
_CUT_AT_INITIAL: Final = compiled(r"\b(?:is|are|by|of|and) [ABE-QS-Zabe-qs-z]$")
"""A value that ends in the first initial of a name; C, D and R may be programming languages."""
_OTHER_CLAUSE: Final = compiled(r"\b(?:i|i['’]m|i['’]ve|we|we['’]re|they|he|she|you)\b", re.IGNORECASE)
"""Words that no value has: those of the next clause."""
_TITLE_ALONE: Final = re.compile(r"(?:sr|jr|dr|mr|mrs|ms|st)\.?", re.IGNORECASE)
_SPELLED: Final = re.compile(r"\w(?:-\w)+")
_MONTHS: Final = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_PERIODS: Final = (
    r"\b(?:lent|ramadan|advent|passover|pesach|navratri|yom kippur|orthodox fast|veganuary|whole ?30|challenge|cleanse|detox"
    rf"|fasting|an? (?:\w+ )?fast|(?:dry|sober|no|meat-?less|meat-?free|sugar-?free|vegan|plant-?based) (?:{_MONTHS}|mondays?|month|week)"
    rf"|(?:in|for|during|through|throughout) (?:the month of )?{_MONTHS}|this (?:week|month|year|evening|morning|time|season)"
    r"|(?:for|over|within) (?:the )?(?:next |coming |rest of )?(?:an?|one|two|three|four|five|six|seven|ten|the|\d+|few|couple)"
    r" (?:of |few )*(?:days?|weeks?|months?|week|month|year)|during|while|from \w+day"
    r"|as (?:an?|my) (?:\w+ )?(?:trial|test|experiment|resolution)|on (?:weekdays|week-?ends|work ?days|\w+days?)"
    r"|before (?:bed|noon|lunch|\d+|an?)|right now|just now|tonight|for now)\b"
)
_PERIOD: Final = compiled(_PERIODS, re.IGNORECASE)
"""Words of a time with an end or of a recurring time, on either side of a habit."""
_BEGUN: Final = compiled(r"\b(?:been|went|became|turned|gone)\b", re.IGNORECASE)
"""The time after it is that of the beginning: "I went vegan in May"."""
_AT_TIMES: Final = re.compile(
    r"^[^,;.!?]*\b(?:until|till|when|whenever|unless|before|after|at home but|at (?:work|school|lunch|dinner|breakfast|night|parties"
    r"|weddings|christmas|easter))\b",
    re.IGNORECASE,
)
_ELSEWHERE: Final = compiled(r"\s+(?:over |up |down )?there\b", re.IGNORECASE)
"""Limits a diet to a place: "I'm vegan there"."""
_TITLED: Final = re.compile(r"(?:Mr|Mrs|Ms|Mx|Miss)[.\u2024]? (?P<surname>[A-ZÀ-Þ][\w'’-]+)(?: [A-ZÀ-Þ][\w'’-]+)?")
_NICKNAMES: Final = cue(
    listed("""
    right, wrong, perfect, grumpy, lazy, nice, sunshine, big, bean, doubtfire, know-it-all, congeniality, universe, world, happy, clean,
    fix-it, fixit, president, chairman, mom, dad, incredible, cool, clumsy, unlucky, lucky, nobody, claus, potato, bossy, late, always,
    president, darcy, bennet, tibbs, miyagi, spock, hyde, freeze, robot, piggy, marple, moneypenny, havisham, trunchbull, poppins, busy,
    lonely, pessimist, optimist, cellophane, brightside, bombastic, monk, blue, midnight, clean, bates, ripley, holmes, white, pink,
    orange,
    independent, popular, worldwide, smith-and-wesson, positive, negative, sensitive, sarcastic, t, x
""")
)
"""Words after a title that make a nickname or a part of it."""
_NO_NAME: Final = re.compile(rf"{any_of(NO_NAMES)}\b", re.IGNORECASE)


def with_whole_act(value: str, rest: str) -> str:
    """A taste with all that belongs to its verb: to like "to wear" something is another taste than "to wear my blue coat".

    Args:
        value: The value.
        rest: What follows it in its clause.
    """
    more = _REST_OF_ACT.match(rest) if _ACT.fullmatch(value) is not None else None
    return value if more is None else _DANGLING.sub("", f"{value}{more.group()}")


def is_believable(field: Field, value: str, rest: str) -> bool:
    """Whether a value is one of its field: no irony, no idiom, no name that is none.

    Args:
        field: The kind of fact.
        value: The value.
        rest: What follows it in its clause.
    """
    if field is not Field.GOAL and _OTHER_CLAUSE.search(value) is not None:
        return False
    match field:
        case Field.NAME:
            return (
                (_NO_NAME.match(value) is None or _is_titled_name(value))
                and _SPELLED.fullmatch(value) is None
                and _TITLE.match(rest) is None
                and _BY_FEW.match(rest) is None
                and (value.casefold() in _GIVEN_NAMES or _NATIONALITY.fullmatch(value) is None)
            )
        case Field.HOME:
            return _LIMITED.match(rest) is None and _NO_HOME.fullmatch(value) is None
        case Field.OCCUPATION:
            return (
                (_LIMITED.match(rest) is None or (_TO_CHILDREN.match(rest) is not None and value.lower().startswith("stay")))
                and len(value) > 1
                and _TITLE_ALONE.fullmatch(value) is None
                and (
                    value.lower().startswith(_VERBS_OF_WORK)
                    or rest.startswith(" for ")
                    or value.casefold() in _SECTORS
                    or is_possible_job(value)
                )
            )
        case Field.DIET:
            return _LIMITED.match(rest) is None and _ELSEWHERE.match(rest) is None
        case Field.LIKE:
            return _is_taste(value, rest) and _DISAGREEABLE.search(value) is None and _DISAGREEABLE.search(rest) is None
        case Field.DISLIKE:
            return _is_taste(value, rest)
        case Field.ALLERGY:
            return _DISAGREEABLE.search(value) is None
        case Field.AVOID:
            return _HABIT_ENDS.match(rest) is None
        case _:
            return True


def is_taken_back(field: Field, rest: str) -> bool:
    """Whether the rest of a sentence makes a joke or a limit of its statement: "a gardener because I dig it".

    Args:
        field: The kind of fact.
        rest: What follows the value in the sentence.
    """
    match field:
        case Field.OCCUPATION:
            return _PUN.match(rest) is not None or (_LIMITED.match(rest) is not None and _TO_CHILDREN.match(rest) is None)
        case Field.HOME:
            return _LEFT.search(rest) is not None or _LIMITED.match(rest) is not None
        case Field.DIET | Field.LIKE | Field.DISLIKE | Field.ALLERGY:
            return _LIMITED.match(rest) is not None
        case _:
            return False


def is_for_a_time(before: str, rest: str) -> bool:
    """Whether a diet or an avoidance holds only at some time: "I'm vegan this month", "For Lent I don't eat meat".

    Args:
        before: The sentence up to the value.
        rest: The sentence after the value.
    """
    clause = re.split(r"[,;.!?]", rest, maxsplit=1)[0]
    if _BEGUN.search(before) is not None:
        return False
    return _PERIOD.search(before) is not None or _PERIOD.search(clause) is not None or _AT_TIMES.match(clause) is not None


def _is_titled_name(value: str) -> bool:
    """Whether a name is a title with a surname: "Mrs. Okafor", not "Mr. Right"."""
    found = _TITLED.fullmatch(value)
    return found is not None and _NICKNAMES.fullmatch(found["surname"]) is None


def _is_taste(value: str, rest: str) -> bool:
    if (
        _NO_ACT.match(value) is not None
        or _POINTING.match(value) is not None
        or _COMPARED.match(rest) is not None
        or _CUT_AT_INITIAL.search(value) is not None
    ):
        return False
    if (
        _IN_TALK.search(value.removesuffix(" in it")) is not None
        or _AROUND_HERE.fullmatch(value) is not None
        or (value.istitle() and _FITTING.match(rest) is not None)
    ):
        return False
    if _GERUND.fullmatch(value) is not None and _OBJECT.match(rest) is not None:
        return False
    if _TODAY.match(rest) is not None:
        return False
    definite = _DEFINITE.fullmatch(value)
    if definite is None:
        return True
    noun, more = definite["noun"].casefold(), definite["more"] or ""
    return more.startswith(" of ") if noun in _SENSED else noun in _GENERIC
