"""Work in other words: "off nights at the bottling plant", "fourteen years I've been driving the gritter", "being a paramedic means"."""

import re
from typing import Final

from extraction.offline.grammar.acts import TRADE_ACTS
from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.grammar.thing_patterns import Rule
from extraction.offline.words.occupations import is_occupation
from extraction.offline.words.work import SECTORS, SUBJECTS, VEHICLES, WORKPLACES
from memory.texts.prefiltered_patterns import compiled

_SUBJECT: Final = rf"(?:[a-z]+ (?:and )?)?(?:[a-z]+(?:ology|nomics|ography|metry|physics|matics|engineering)|{any_of(SUBJECTS)})"
_PLACES: Final = any_of(WORKPLACES)
_AT_WORK: Final = rf"(?P<x>(?:at|in|on) (?:the|an?|our local|my local|our|this) (?:(?!(?:new|old|big|whole)\b)[a-z-]+ ){{0,2}}?{_PLACES})"
_END: Final = (
    r"(?=\s*(?:[.,!;:)…—–]|$|[^\w\s'’])|\s+(?:and|but|so|because|since|for|as|with|on|every|mostly|after|before"
    r"|to|doing|where|until|these|now|at|in|while|when|who|i)\b)"
)
_DAYS: Final = (
    r"(?:(?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|weekends|nights|days|evenings"
    r"|mornings|lates|earlies|shifts|part[- ]time|full[- ]time|night shifts?|weeknights|most weekends|every"
    r" weekend|after school)(?: and [a-z]+s)? )?"
)
_TRADES: Final = any_of(
    listed("""
    driving, teaching, cooking, nursing, tending bar, waiting tables, cutting hair, laying bricks, fixing, repairing, delivering,
    cleaning, running,
    managing, building, welding, farming, coaching, guarding, stacking shelves, selling, looking after, minding, serving, pulling pints,
    painting houses, fitting, installing, digging, packing, sorting, policing, fighting fires, catching, training, tuning, restoring,
    translating,
    editing, designing, sewing, baking, butchering, pouring concrete, plastering, tiling, roofing, hauling, sweeping, mending, inspecting
""")
)
_YEARS: Final = (
    r"(?:(?:nearly|almost|over|about|for|going on|some) )*(?:\d+|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve|fifteen|twenty|thirty|forty|many|half my life|all my life)(?: (?:odd|long|good))?(?: years"
    r"| yrs| decades)?(?: now)?"
)
_EMPLOYED: Final = (
    r"(?:for the (?:council|city|company|county|post|railway|nhs|army|navy|school|state|firm|same [a-z]+)|for"
    r" a living|professionally|at (?:the|an?) [a-z]+|in (?:the|an?) [a-z]+|for (?-i:[A-Z])\w+)"
)
_MORE_VEHICLES: Final = any_of(
    VEHICLES,
    listed(
        "gritter, school bus, night bus, crane, tractor, hgv, 18-wheeler, metro, subway, tube, uber, bin lorry,"
        " dustcart, street sweeper, milk float, mail van, plough, trolleybus, cement mixer"
    ),
)
_PRESENT_ACT: Final = (
    r"(?=[^.!?]*\b(?:i|i['’]m|i['’]ve|me|my|we)\b)(?![^.!?]*\b(?:my (?:sister|brother|mother|mum|mom|father"
    r"|dad|wife|husband|son|daughter|friend)\b|he\b|she\b|used to\b|back then\b))"
)
_ARTICLE: Final = compiled(r"^(?:an?|the)\s+", re.IGNORECASE)
_JOB: Final = r"(?P<x>(?:(?!(?:and|or|of|in|at|for|with|who|i)\b)[a-z][\w'’-]* ){0,3}?[a-z][\w'’-]*)"


def _a_job(found: re.Match[str]) -> str | None:
    """An occupation, if the noun names one."""
    job = _ARTICLE.sub("", found["x"])
    return f"I'm a {job}" if is_occupation(job) else None


_ACTS: Final = {
    "cleaning": "clean",
    "fixing": "fix",
    "repairing": "repair",
    "servicing": "service",
    "selling": "sell",
    "delivering": "deliver",
    "driving": "drive",
    "stacking": "stack",
    "cutting": "cut",
    "laying": "lay",
    "installing": "install",
    "fitting": "fit",
    "waiting": "wait",
    "washing": "wash",
    "building": "build",
    "designing": "design",
    "writing": "write",
    "grooming": "groom",
    "training": "train",
    "milking": "milk",
    "farming": "farm",
    "growing": "grow",
    "picking": "pick",
    "packing": "pack",
    "answering": "answer",
    "teaching": "teach",
}
"""The plain form of the verbs of trades."""
_NOW: Final = (
    r"(?:here|now|these days|nowadays|currently|at the moment|at present|this year|since [^.,;]{3,20}|for (?:the"
    r" (?:last|past) )?[^.,;]{3,20})"
)
_TRADE_ACT: Final = re.compile(TRADE_ACTS, re.IGNORECASE)
_OF_YEARS: Final = (
    r"(?:(?:for|going on|coming up on) (?:[\w-]+ ){0,3}?(?:years|decades|ages)|since (?:\d{4}|the \w+|school"
    r"|university|uni|college|leaving school))"
)
_SERVICE: Final = (
    r"(?:army|navy|air force|marines|police|police force|fire brigade|fire service|coast ?guard|merchant navy|civil"
    r" service|reserves|raf|ambulance service)"
)
_EMPLOYER: Final = any_of(
    listed("""
    council, city council, government, county, city, state, post office, railway, nhs, bank, charity, ngo, start-up, startup, newspaper,
    university, school district, airline, law firm, insurance company, insurer, ministry, municipality, embassy, water board, museum,
    zoo, hospital, trust, local authority, tax office, port authority, ferry company, bus company, phone company, utility,
    construction company, publisher, broadcaster
""")
)


def _acted(found: re.Match[str]) -> str | None:
    """A trade in the progressive, "I'm cleaning offices now", as one in the simple present."""
    act = f"{_ACTS[found['v'].lower()]} {found['x']}"
    return f"I {act}" if _TRADE_ACT.fullmatch(act) is not None else None


def _in_training(found: re.Match[str]) -> str:
    return f"My line of work is {found['x'].replace('-year', ' year')}"


def _engaged(found: re.Match[str]) -> str | None:
    return None if found["v"].lower() == "volunteering" else f"In my job I work {found['x']}"


_ORGANISATION: Final = (
    r"(?:(?:the|an?|our|my) )?(?!(?:all|it|this|that|least|first|last|present)\b)[\w'’&-]+(?: (?!is\b|has\b|was\b)[\w'’&-]+){0,3}?"
)
_LASTS: Final = (
    r"(?:is(?! (?:over|gone|up for|advertised|open|mine if|starting|still open|to be)\b)|isn['’]t|has been|keeps|means|suits|pays|lets"
    r"|comes with|involves|gets|makes|gives|leaves|takes|needs|requires|feels|turns out|turned out|beats|can be|hasn['’]t|doesn['’]t"
    r"|started(?! \w+ing))\b(?![^.!?]*\b(?:ends?|ended|finish\w*|fell through|interview|offer|would|next|resign\w*|quit|quitting|leav\w+"
    r"|last (?:week|day|month))\b)"
)
"""Says that a job goes on."""


def _employed(found: re.Match[str]) -> str | None:
    """The work that a clause about a job names: its trade, or else its place."""
    if found["as"] is not None:
        return f"I'm {found['as']}" if is_occupation(_ARTICLE.sub("", found["as"])) else None
    return f"In my job I work {found['x']}"


WORK_RULES: Final[tuple[Rule, ...]] = (
    # an act that lasts
    (rf"\b{_NOW},? (?:i['’]?m|i am) (?P<v>{'|'.join(_ACTS)}) (?P<x>[a-z][\w'’ -]{{2,25}}?){_END}", _acted),
    (rf"^(?:i['’]?m|i am) (?:now |currently )?(?P<v>{'|'.join(_ACTS)}) (?P<x>[a-z][\w'’ -]{{2,25}}?) {_NOW}\b", _acted),
    (
        r"^(?:i['’]?ve|i have|been) (?:been )?(?P<x>(?:teaching|tutoring|lecturing in|nursing|practi[sc]ing (?:law"
        r"|medicine)|waiting tables|tending bar|cutting hair"
        r"|policing|welding|plastering|farming|fishing|driving (?:an? |the )?[a-z]+(?: [a-z]+)?|delivering [a-z]+"
        r"|managing [a-z]+(?: [a-z]+)?|running an? [a-z]+(?: [a-z]+)?"
        rf"|fixing [a-z]+|repairing [a-z]+|selling [a-z]+(?: [a-z]+)?|translating [a-z]+|building [a-z]+)(?: [a-z]+)?) {_OF_YEARS}",
        r"My job is \g<x>",
    ),
    (
        r"^i(?: just| mostly| mainly)? (?P<x>drive (?:the|an?) (?:(?!(?:first|last)\b)[\w-]+"
        rf" ){{1,3}}{_MORE_VEHICLES})(?=\s*[.,!;]|$| (?:so|and|but|for|on|in|at|to|every)\b)",
        r"For a living I \g<x>",
    ),
    (rf"^(?:i['’]?ve|i have) been (?P<v>temping|interning|volunteering|working) (?P<x>(?:at|for|in|with) {_ORGANISATION}){_END}", _engaged),
    # by its place or its employer
    (
        r"^(?:(?:my|our)(?: new| current| first| second| old| part-time| full-time| summer| day| evening| weekend| little| own)*"
        r"|(?:the|this) new) (?:job|position|role|post|gig|traineeship|internship|apprenticeship|placement)"
        rf"(?: as (?P<as>an? [a-z -]{{3,30}}?))? (?P<x>(?:at|with|for|in) {_ORGANISATION}) {_LASTS}",
        _employed,
    ),
    (
        rf"^(?:i|i['’]?m|we|we['’]re)\b[^.;!?]{{0,80}}?(?:\bwhile|\bwhilst|\band|,)(?: also| still)? (?:working|temping"
        rf"|interning|waitressing|helping out|serving) {_DAYS}{_AT_WORK}{_END}",
        r"I work \g<x>",
    ),
    (
        r"^(?:(?:i|we)(?:['’]?ve| have)? )?(?:just |finally |recently |now |still |only )*(?:got|landed|found|have|took"
        rf"|accepted|start|started) (?:an?|my|this) (?:[a-z-]+ ){{0,2}}(?:job|position|post|gig|role|placement"
        rf"|apprenticeship|traineeship) {_AT_WORK}{_END}",
        r"I work \g<x>",
    ),
    (
        rf"^(?:i['’]?m|i am) (?:usually |mostly )?{_AT_WORK} (?:\w+ (?:days|evenings|nights|mornings|afternoons) a week"
        r"|full[- ]time|part[- ]time|most (?:days|nights|weekdays)|on (?:week)?days|every (?:week)?day)\b",
        r"I work \g<x>",
    ),
    (
        r"\bmy (?:(?:second|other|main|day|evening|night|part-time|full-time|new|weekend|saturday|summer|current"
        rf"|regular) )+job(?: is|['’]s)? {_AT_WORK}{_END}",
        r"I work \g<x>",
    ),
    (
        r"^(?:i|we) (?:now |currently |still |also )?work (?P<x>for (?:the|an?|our|my) (?:(?!(?:first|last)\b)[a-z-]+"
        rf" )?{_EMPLOYER}){_END}",
        r"In my job I work \g<x>",
    ),
    (
        r"^(?:i|we)(?:['’]?ve| have)? (?:just |recently |now )?(?:joined|serve in|serve with|enlisted in|enlisted with"
        rf"|signed up for|['’]m serving in|am serving in) the (?P<x>{_SERVICE}){_END}",
        r"I'm in the \g<x>",
    ),
    (
        r"^(?:i|we)(?:['’]?ve| have)? got my own (?P<x>(?:[a-z-]+ ){0,2}(?:business|shop|salon|stall|practice|studio"
        r"|company|firm|workshop|garage|café|cafe|bakery|restaurant|bar|pub))",
        r"I run my own \g<x>",
    ),
    (rf"^(?:i['’]?m|i am) in charge of (?P<x>an? (?:[a-z-]+ ){{0,2}}?{_PLACES}){_END}", r"I run \g<x>"),
    (
        r"^(?:i['’]?m|i am) (?:now |currently |usually |mostly )?(?P<x>(?:on|in|at|behind) the (?:service desk|help"
        r" ?desk|front desk|it desk|switchboard|tills?|checkouts?|deli counter|night desk|reception|shop floor|door"
        rf"|packing line|assembly line|gates?)){_END}",
        r"I work \g<x>",
    ),
    (
        r"\b(?:in|during|by|at) (?:the |my )?(?:night|nights|day|evenings?|weekends?|mornings?|summer|winter),? i"
        r" (?P<x>(?:wash dishes|wait tables|clean|drive|deliver|teach|tutor|bartend|tend bar|stack shelves|cut hair)(?:"
        r" [a-z]+){0,2}?)(?= (?:in|at|for) | *[.,;!]|$)(?! up\b)",
        r"For a living I \g<x>",
    ),
    (
        rf"\b(?:(?:at|from|to|in|of|near|outside) )?(?P<x>(?:the|a|an) (?:(?!(?:new|old|big|whole)\b)[a-z-]+"
        rf" ){{0,2}}?{_PLACES}) where i(?: now| still)? work\b(?!ed)",
        r"In my job I work at \g<x>",
    ),
    # by its name
    (r"^[1-6]\d,? (?:[a-z]+, )?(?P<x>[a-z][a-z -]{2,30}?)(?=,| from\b| in\b| at\b|$)", _a_job),
    (rf"^(?:speaking|talking|writing|saying this|coming) as an? {_JOB}(?=,)", _a_job),
    (rf"^(?:us|we) (?!all\b){_JOB}s(?= (?:never|always|don['’]?t|can['’]?t|know|see|have|need|are|get|work|live|eat|sleep)\b)", _a_job),
    (
        r"^(?:(?:i|we)(?:['’]?ve| have)? )?(?:then |later |recently |just |since |now )*(?:retrained|re-trained"
        rf"|requalified) as (?P<x>an? [a-z][\w'’ -]{{2,30}}?){_END}",
        _a_job,
    ),
    (
        r"^(?:i['’]?m |i am )?(?:(?:at|in) (?:uni|university|college|school),? )?(?:doing|studying|reading)"
        rf" (?P<x>{_SUBJECT}) (?P<w>at (?:uni|university|college))\b",
        r"I study \g<x>",
    ),
    (
        r"^(?:i['’]?m |i am )?(?:at|in) (?:uni|university|college|law school|med school),? (?:doing|studying|reading)"
        rf" (?P<x>{_SUBJECT}){_END}",
        r"I study \g<x>",
    ),
    (
        r"^(?:i['’]?m |i am )?(?:(?:an?|my|in|now|currently) )*(?P<x>(?:\d(?:st|nd|rd|th)|first|second|third|fourth"
        rf"|fifth|sixth|final)[- ]year (?:of )?{_SUBJECT})(?: student| major| undergrad)?{_END}",
        _in_training,
    ),
    (rf"^(?:currently |still |just )?work (?P<x>(?:in|at|on) (?:an?|the) (?:[a-z-]+ ){{0,2}}?{_PLACES}){_END}", r"I work \g<x>"),
    (
        rf"\b(?:being|life as|working as) an? {_JOB} (?:means|is|makes|has|comes with|teaches|pays|keeps|gets"
        rf"|ruins?|leaves|gives|and (?=i\b)){_PRESENT_ACT}",
        _a_job,
    ),
    (
        r"^(?:as|being) (?:the (?:only|one|first|new|newest|oldest|youngest|local|resident|lone|sole)|one of"
        rf" (?:the|two|three)(?: only| few)?) {_JOB}(?=(?: (?:in|at|of|on|for|with|here) [^,]{{2,40}}?)?,? (?:i"
        r"|i['’]m|i['’]ve|my|we)\b)(?![^.!?]*\b(?:was|were|had|did)\b)",
        _a_job,
    ),
    (rf"^(?:for )?{_YEARS},? (?:i['’]ve|i have) been (?P<x>{_TRADES}(?: [a-z'’]+){{1,4}}?){_END}", r"My job is \g<x>"),
    (
        rf"^(?:i['’]ve|i have) been (?P<x>{_TRADES} (?!me\b|him\b|her\b|it\b|my\b|them\b)(?:[a-z'’]+ ?){{1,3}}?)"
        rf"(?= {_EMPLOYED})(?=[^.!?]*\b(?:years|decades|since|for (?:\d+|two|three|ten|twenty))\b)",
        r"My job is \g<x>",
    ),
    (
        rf"^i(?: just| mostly| mainly)? (?P<x>drive (?:the|an?) (?:[a-z]+ )?{_MORE_VEHICLES})(?= (?:for (?!fun\b)"
        r"|on |at |in |now|these|every|nights|to pay)|\s*[.,!;]|$)",
        r"For a living I \g<x>",
    ),
    (rf"^i(?: only| just| mostly| currently| still| also)? (?:work|do|cover|pull) {_DAYS}{_AT_WORK}{_END}(?! as\b)", r"I work \g<x>"),
    (
        r"^(?:i['’]m |i am |i )?(?:just |still |only )?(?:came|come|coming|got|getting|am|clock|clocked|clocking"
        r"|knocked|finished|been) (?:off|on|in|back on|back from|out)(?: of| from)? (?:an? |my |the )?(?:(?:night"
        r"|nights|late|lates|early|earlies|double|long|graveyard|12-hour|twelve-hour|day|days|shift|shifts|break)"
        rf" ?)*{_AT_WORK}{_END}",
        r"I work \g<x>",
    ),
    (
        r"(?:\bmy |^)(?:(?:night|late|early|first|next|saturday|weekend|day) )*(?:shifts?|job|day|week"
        rf"|month) {_AT_WORK}{_END}",
        r"I work \g<x>",
    ),
    (
        r"^(?:they|work|the boss|my boss|my manager|the manager|management)(?:['’]ve| have| has)? (?:just |now"
        rf" |gone and )*(?:moved|put|stuck|transferred|switched|promoted|sent) me (?:from [^,.;]{{3,30}}? )?"
        rf"(?:to|on|onto|in|into|behind) (?P<x>the (?:[a-z-]+ ){{0,2}}?{_PLACES}){_END}",
        r"I work at \g<x>",
    ),
    (
        rf"^i(?:['’]m| am)? work(?:ing)? (?:(?:now|already) )?(?:(?:since|for) (?:[\w'’-]+ ){{1,3}}?)?(?:like"
        rf"|how) (?!an?\b|the\b){_JOB}(?= (?:in|at|for|on|here|since|of|by|from)\b|\s*[.,!;]|$)",
        _a_job,
    ),
    (
        rf"^(?:still|now|currently|back to being|once again|these days) an? {_JOB}(?= (?:in|at|for|on|here|of"
        r"|by|with)\b|\s*[.,!;]|$)",
        _a_job,
    ),
    (rf"^{_JOB},? (?:me|myself)(?=\s*[.,!;]|$)", _a_job),
    (
        r"^(?:i['’]?m |i am )?(?:now |currently |just )*(?:in |doing |starting |finishing |into |halfway through"
        r" )?(?P<x>(?:my |the )?(?:\d(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|final|last|penultimate)"
        rf" (?:year|semester|term) (?:of |in |doing |studying |at )?{_SUBJECT}){_END}",
        r"My line of work is \g<x>",
    ),
    (
        r"^i(?:['’]?m| am) (?:currently |now )?(?:reading|majoring in|doing|doing a degree in|doing my degree"
        rf" in|doing a ba in|doing a bsc in|taking a degree in) (?P<x>{_SUBJECT}) (?=at\b|in\b)",
        r"I study \g<x>",
    ),
    (
        r"^i (?:now |currently |mostly )?(?P<x>(?:look after|handle|head up|head|oversee|am in charge of|am"
        rf" responsible for) (?:the )?{any_of(SECTORS)})(?= (?:for|at|on|in|across|here|there)\b|\s*[.,!;]|$)",
        r"For a living I \g<x>",
    ),
    (
        rf"^i (?P<x>(?:tutor|lecture in|lecture|coach) (?:{_SUBJECT}|english|french|german|spanish|piano|guitar"
        r"|violin|swimming|tennis|football))\b",
        r"For a living I \g<x>",
    ),
    (rf"^(?:an? )?{_JOB} by (?:trade|profession|day|training)\b", _a_job),
)
