"""Names of people by the part that they play in the writer's life: "my physio Asha", "Petra - she's my accountant".

A role is any noun that names an occupation (:mod:`extraction.offline.words.occupations`), a relative, a pet, or one of a short list,
so that no rule
needs to know the word. What stands between a role and a name, and which of them comes first, is read here.
"""

import re
from collections.abc import Iterator
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.grammar.value_patterns import FIRST_NAME
from extraction.offline.words.occupations import is_occupation
from extraction.offline.words.people import PETS, RELATIVES, WHOSE
from memory.texts.prefiltered_patterns import Table, compiled

_ROLES: Final = listed("""
    ex, carer, gp, doc, physio, gaffer, foreman, line manager, team lead, team leader, tech lead, guild leader, captain, skipper, lodger,
    tenant, missus, mate, workmate, crewmate, shipmate, choirmate, deskmate, schoolmate, lab partner, study partner, study buddy,
    gym buddy, buddy, bff, gran, nanny, nonna, nonno, oma, opa, abuela, abuelo, mam, mama, papa, pop, in-law, godchild, stepkid,
    half brother, half sister, co-founder, cofounder, co-worker, ex-colleague, running partner, climbing partner, dance partner,
    tandem partner, pen friend, sponsor, oncologist, cardiologist, dermatologist, allergist, orthodontist, consultant, health visitor,
    social worker, caseworker, lollipop lady, dinner lady, cleaning lady, handyman, babysitter, sitter, au pair, childminder, postie,
    confidant, confidante, soulmate, sweetheart, intern, apprentice, deputy, predecessor, successor, chairman, chairwoman, chair,
    head of year, form tutor, host mother, host father, host mum, host dad, boy, girl, lad, lass, little one, tenor, alto, soprano,
    baritone, bass player, drummer, goalie, goalkeeper, striker, winger, scrum half, opening batsman, pupil, tutee, mentee, student,
    patient, counterpart, protégé, raid leader, party leader, dungeon master, support worker, key worker, dog walker, form teacher,
    homeroom teacher, headteacher, head teacher, plus one, wingman, shift lead, line lead, lead, ta, pa, co-pilot, co-driver, co-author,
    co-host, gp, pt, dm, gm, pi, conductor, director, boss, second in command, first mate, deckhand, bridesmaid, maid of honour,
    best man, twin, triplet
""")
_ROLE_WORDS: Final = frozenset((*RELATIVES, *PETS, *_ROLES))
_NO_PERSON: Final = frozenset(
    listed("""
    player, controller, editor, driver, browser, reader, printer, server, router, tracker, trader, maker, processor, composer, adapter,
    monitor, charger, cooker, mixer, dishwasher, toaster, blender, washer, dryer, heater, cooler, scanner, speaker, tuner, opener,
    model, host,
    agent, packer, sander, cutter, plotter, filler, compiler, loader, planner, organiser, organizer, calculator, translator, builder,
    assembler,
    president, minister, prime minister, king, queen, pope, author, singer, actor, actress, novelist, poet, philosopher, comedian,
    senator,
    governor, writer, artist, band, designer, hero, heroine, villain, character, clown, lead, guide, keeper, distributor, broker,
    producer,
    film director, handler, dispatcher, scheduler, processor, manager app, assistant, interpreter, tester, viewer, explorer, navigator
""")
)
"""Nouns that are as often a device or a public person."""
_NO_NAMES: Final = compiled(
    rf"(?:ms\.? )?{any_of(listed('merlot, chardonnay, prosecco, rioja, malbec, shiraz, pinot, champagne, guinness, frizzle'))}",
    re.IGNORECASE,
)
"""Names in jokes and of fiction: "my therapist is called Merlot"."""
_NOT_NOW: Final = any_of(
    listed("""
    old, former, ex, previous, late, favourite, favorite, dream, imaginary, fictional, ideal, future, next, potential, would-be, virtual,
    hypothetical, toy, first, second, last, digital, robot, ai
""")
)
"""Before a role: it is over, or was never played."""
_PHRASE: Final = (
    r"(?P<relation>GP|PT|DM|GM|PI|(?:(?!(?:and|or|of|in|at|to|from|with|is|was|the|a|an|my|our|his"
    r"|her)\b)[a-z][\w-]* ){0,2}?[a-z][\w-]*)"
)
_CAPITAL: Final = r"(?<!\w)(?=[A-ZÀ-Ž])"
"""Keeps a pattern that begins with a name from being tried at each letter."""
_NAME: Final = rf"(?P<value>{FIRST_NAME})(?!['’]?\w)"
_SURNAME: Final = r"(?: (?-i:[A-ZÀ-Þ])[\w'’-]+){0,2}"
_MY: Final = r"\b(?i:my|our)\s+"
_ADJECTIVES: Final = (
    rf"(?:(?:{any_of(WHOSE)}|actual|real|own|wonderful|brilliant|amazing|long-suffering|darling|poor|good|dearest|trusty|current|usual) )*"
)
_END: Final = r"(?=\s*(?:[.,;:!?)—–]|-|$)|\s+(?:and|who|but|about|for|because|with|to|at|in|on|is|has|was|whose|if|when|that)\b)"
_AFTER_ROLE: Final = r"(?=\s*(?:[.,;)!—–]|-|$)|\s+(?:from|since|and|who|but|now|at (?:work|the|school|uni)|in (?:the|my|our))\b)"
_PARTNER: Final = r"(?P<relation>wife|husband|hubby|missus|mrs|old man|old lady|other half|better half|boyfriend|girlfriend|fiancée?)"
_ANIMAL: Final = rf"(?P<relation>{any_of(PETS)}|puppy|baby)"
_AT_HOME: Final = any_of(
    listed("au pair, nanny, childminder, babysitter, cleaner, lodger, carer, landlord, landlady, gardener, gaffer, foreman")
)
_PATTERNS: Final = Table(
    (pattern, None)
    for pattern in (
        # "my physio Asha", "our childminder, Bronwyn,", "my physio, a lovely woman called Asha"
        rf"{_MY}{_PHRASE},?\s+(?:\(\s*)?{_NAME}",
        rf"{_MY}{_PHRASE}(?:,| is| was)? (?:an?|this|the) (?:[a-z-]+ ){{1,4}}?(?:called|named|by the name of) {_NAME}",
        r"(?:^|(?<=[.!?]\s))(?P<relation>(?i:boss|gaffer|manager|supervisor|coach|landlord|landlady|hubby"
        r"|wife|husband|flatmate|housemate|roommate))(?:['’]s| is| was)? "
        rf"(?:name is|name['’]s|name|called|named) {_NAME}",
        rf"{_MY}{_PHRASE} is {_NAME}{_SURNAME}(?=\s*(?:[.,!;)]|$)|\s+(?:and|but|who)\b)",
        # "my dentist is called Roark", "my husband he is name Daniel", "one daughter, she calls Lin"
        rf"{_MY}{_PHRASE}(?:['’]s|,? (?:s?he|it|who)(?:['’]s| is)?|,? (?:his|her|its)| is|,)? (?:name is"
        rf"|name['’]s|name|called|named|calls|goes by) {_NAME}",
        rf"\b(?i:i|we)(?: have|['’]ve got|['’]ve| got) (?:an?|one) {_ADJECTIVES}{_PHRASE},? "
        rf"(?:(?:s?he|it|who|that)(?:['’]s| is)? )?(?:name is|name|called|named|calls|goes by) {_NAME}",
        # "Petra, my accountant,", "Petra - she's my accountant -", "Petra is my accountant"
        rf"{_CAPITAL}{_NAME}(?:,| \(| -| —| –) ?(?:(?i:who|s?he|they)(?:['’]s| is|['’]re| are) )?(?:my|our)"
        rf" {_ADJECTIVES}{_PHRASE}{_AFTER_ROLE}",
        # "Petra is coming too, my accountant."
        rf"(?:^|(?<=[.!?]\s)){_NAME} (?:is|was|has|had|will|can|just|wants?|says?|said|comes?|came)\b[^.!?,;:]{{1,40}}, (?:my|our)"
        rf" {_ADJECTIVES}{_PHRASE}(?=\s*(?:[.!)]|$))",
        rf"{_CAPITAL}{_NAME} (?i:who(?:['’]s| is)|happens to be|is|turned out to be) (?:(?:officially|now"
        rf"|actually|also|just|still|really) )?(?:my|our) {_ADJECTIVES}{_PHRASE}{_AFTER_ROLE}",
        rf"(?:^|(?<=[.!?] )){_NAME}(?:['’]s) (?:my|our) {_ADJECTIVES}{_PHRASE}{_AFTER_ROLE}",
        # "a friend of mine called Luca", "one of my flatmates, Priya"
        rf"\b(?i:an?|this) {_ADJECTIVES}{_PHRASE} of (?:mine|ours),? (?:(?:called|named) )?{_NAME}",
        # "the wife's called Jo", "the missus (Jo)", "the cat, Miso,"
        rf"\b(?i:the) {_PARTNER}(?:['’]s| is|['’]s name is|,| \()? ?(?:called |named )?{_NAME}",
        rf"\b(?i:the) {_ANIMAL}(?:['’]s (?:called|named|name is)|['’]s name['’]s| is (?:called|named)|,|"
        rf" \() ?{_NAME}(?=\s*(?:[.,;)!]|$)|\s+(?:and|but|who)\b)",
        rf"{_CAPITAL}{_NAME} the {_ANIMAL}(?=\s*(?:[.,;)!]|$)|\s+(?:is|has|was|and|who|ate|got)\b)",
        rf"\b(?:the|my|our) (?:new )?{_ANIMAL} (?:called|named) {_NAME}",
        rf"\b(?i:the) {_ANIMAL}(?:['’]s| is) (?:called|named) {_NAME}(?=\s*(?:[.,;!)]|$)|\s+(?:and|but|who)\b)",
        # "with a budgerigar called Winston", "the au pair, Giulia, ", "my counterpart in Tokyo is Yuki"
        rf"\b(?i:with|and|plus) (?i:an?|one) {_ADJECTIVES}(?:[a-z-]+ )??{_ANIMAL},? (?:called|named) {_NAME}",
        rf"\b(?i:the) (?P<relation>{_AT_HOME}),? \(?{_NAME}(?=,|\)| is\b)",
        rf"{_MY}{_PHRASE} (?:at|in|from|over in|across) (?:the )?[\w'’-]+(?: [\w'’-]+)?(?:,| is)(?: called| named)?"
        rf" {_NAME}{_SURNAME}{_END}",
        rf"\band (?:my|our) {_PHRASE}(?:['’]s| is|,) (?:called |named )?{_NAME}{_SURNAME}{_END}",
    )
)
_APPOSED: Final = compiled(
    rf"{_MY}(?P<relation>(?:(?!(?:and|or|of|in|at|to|from|with|is|was|the|a|an|my|our|his|her)\b)[a-z][\w-]*"
    rf" )?(?:[A-Z]{{2}}|[a-z][\w-]*)), {_NAME}{_SURNAME}, (?![A-Z])"
    r"(?:(?:who|always|never|just|also|still|says|said|has|is|was|had|can|will) )?(?=[a-z]+(?:s|ed)\b|has\b|is\b"
    r"|was\b|who\b|can\b|thinks\b|and i\b)"
)
"""A name between commas after a noun of the writer's, whatever the noun: "my TA, Shanice, keeps me sane"."""
_NO_BEARER: Final = frozenset(
    listed("""
    city, town, village, country, county, state, street, hometown, home, house, flat, school, college, university, uni, church, club,
    team, side, band, company, employer, firm, bank, insurer, provider, car, van, bike, truck, boat, ship, plane, phone, laptop,
    computer, server, app, project, product, game, book, novel, film, movie, show, song, album, blog, podcast, channel, site, website,
    brand, language, region, island, area, district, pub, bar, cafe, restaurant, hotel, shop, store, gym, hospital, clinic, paper,
    magazine, newspaper, station, party, religion, faith, hero, idol, character, avatar, god, goddess, lord, saviour, saint, wine, beer,
    drink, food, dish, colour, color, subject, major, sport, birthday, month, name, nickname, surname, answer, favourite, favorite,
    point, opinion, view, idea, problem, issue, plan, destination, address, code, model, tool, library, framework, editor, browser,
    distro, airline, university, alma mater, constituency, parish, battalion, regiment, unit, ex, hamlet, suburb, borough, plant, rose
""")
)
"""Nouns whose names are of no person and no pet."""
_CALLED_SOMEBODY: Final = compiled(
    r"(?<!is)(?<!['’]s)(?<!,)(?<!who)(?<!he)(?<!mine)(?<!ours)(?<!\(an)\s+(?:called|named)\s+(?-i:[A-ZÀ-Þ])", re.IGNORECASE
)
"""May be a call by phone: "my boss called Anna"; not "my boss is called Anna"."""
_IS_NAMED: Final = re.compile(r"\s*(?:,|\)|who\b|is\b|has\b|whose\b|lives\b|works\b)")
_FORMER: Final = compiled(rf"\b{_NOT_NOW}\b", re.IGNORECASE)
_LEADING: Final = re.compile(
    rf"^(?:(?:{any_of(WHOSE)}|{any_of(listed('lovely, actual, real, own, wonderful, brilliant, current, usual, trusty'))})\s+)+"
)


def named_by_role(text: str) -> Iterator[tuple[str, str]]:
    """The roles that a sentence gives to people, each with the name.

    Args:
        text: A sentence of the writer.
    """
    for found in _APPOSED.finditer(text) if text.count(",") > 1 else ():
        if found["relation"].rpartition(" ")[2].casefold() not in _NO_BEARER and _FORMER.search(found["relation"]) is None:
            yield found["relation"], found["value"]
    for pattern, _ in _PATTERNS.possible(text):
        for found in pattern.finditer(text):
            phrase = " ".join(found["relation"].split())
            role = _LEADING.sub("", phrase)
            if (
                _CALLED_SOMEBODY.search(found.group()) is not None
                and role.casefold() not in PETS
                and _IS_NAMED.match(text, found.end()) is None
            ):
                continue
            if (
                _NO_NAMES.fullmatch(found["value"]) is None
                and _FORMER.search(phrase.rpartition(" ")[0]) is None
                and (is_role(role.casefold()) or phrase.casefold() in _ROLE_WORDS)
            ):
                role = role if is_role(role.casefold()) else phrase
                yield role.lower() if not role.isupper() and found.start("relation") == 0 else role, found["value"]


def is_role(phrase: str) -> bool:
    """Whether a noun phrase names the part that a person plays for another: "driving instructor", not "dishwasher".

    Args:
        phrase: In lower case, without its article.
    """
    head = phrase.rpartition(" ")[2]
    if phrase in _ROLE_WORDS or head in _ROLE_WORDS:
        return True
    return phrase not in _NO_PERSON and head not in _NO_PERSON and is_occupation(phrase)
