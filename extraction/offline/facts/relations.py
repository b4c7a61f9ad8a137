"""Names of relatives, friends and pets. They are true in a question and in a condition, too, and are read anywhere in a sentence."""

import re
from collections.abc import Iterator
from typing import Final

from extraction.offline.facts.roles import named_by_role
from extraction.offline.grammar.patterns import any_of, cue, either, listed, whole_apart
from extraction.offline.grammar.value_patterns import FIRST_NAME
from extraction.offline.words import people
from memory.texts.prefiltered_patterns import Table, compiled

_LOST: Final = listed("""
    passed away, passed on, rainbow bridge, no longer with us, no longer alive, in doggy heaven, in cat heaven, euthanised, euthanized,
    put to sleep, buried, cremated, urn, rip, r.i.p, rest in peace, has passed, had to say goodbye, said goodbye, death of, mourning,
    grieving, in loving memory, funeral, my late, our late, broke up, split up, divorced, separated, former, used to, imaginary,
    had a, had
    an, untrue that, not true that, lie that, exes, grave, ghost, no longer, dumped, fictional, hypothetical, made-up, toy,
    plush, stuffed, video game, sims, avatar, old boss, old manager, old roommate, old flatmate, old housemate, old colleague, old
    coworker, old supervisor, old landlord, old landlady, old neighbour, old neighbor, old teammate, previous, ex-boss
""")
_SUPPOSED: Final = listed("""
    wish i, wish my, wish we, if i had, if we had, if i have, if i got, if we got, if i get, if we get, imagine, suppose, supposing,
    pretend, would be, would name, would call, call my, call our, name my, name our, naming my, naming our, rename my, rename our,
    calling my, calling our, baptise our, want to name, want to call, going to name, going to call, will name, will call, should i
    name, should i call, should we name, should we call, might name, might call, thinking of naming, i'd name, i'd call, we'd name,
    we'd call, dream of, hope to have
""")
_PET_LOST: Final = (
    r"\b(?:is|are) dead\b(?! (?:tired|asleep|set|serious|keen|to|on|against|weight|right|calm|lazy)\b)|"
    rf"\b(?:i|we)(?:['’]ve| have)? (?:just |recently |sadly )*lost (?:my|our) (?:\w+ ){{0,2}}?{any_of(people.PETS)}\b"
    rf"|\b(?:my|our) (?:\w+ ){{0,2}}?{any_of(people.PETS)} (?:\w+ )?(?:is gone|didn['’]?t make it|did not make it"
    rf"|was run over|got run over)\b"
)
_NO_RELATION: Final = either(
    *whole_apart(_LOST, _SUPPOSED),
    r"(?<!nearly )(?<!almost )\bdied\b",
    _PET_LOST,
    r"\b(?:put|had|gave)\s+(?:my|our)\s+(?:\w+\s+){1,3}(?:down|to sleep|away|up)\b",
    r"\bno\b,? my\b",
    r"(?<!my )\bex\b",
    r"(?<!my )(?<!our )\bex\b(?![- ](?:husband|wife|boyfriend|girlfriend|partner)"
    r"(?:(?:['’]s name)? is\b|['’]s name['’]?s?\b|,? (?:called |named )?(?-i:[A-Z])))",
    r"\bbob['’]?s your uncle\b",
    r",? or is (?:she|he|it)\b",
    r"\b(?:(?:is|are|was)n['’]?t|not) (?:my|our)\b",
    r"\bis (?:actually |really )?(?:my|our|his|her) \w+['’]s(?=\s*(?:[.,!]|$))",
)
_RELATION: Final = rf"(?P<relation>{any_of(people.RELATIVES, people.PETS)})"
_RELATIONS: Final = any_of(people.MANY_RELATIVES, (f"{each}s" for each in people.PETS))
_WORD: Final = re.compile(r"[^\W\d_]+")
_RELATION_WORDS: Final = frozenset(
    word
    for entry in (
        *people.RELATIVES,
        *people.PETS,
        "together",
        *(f"{each}s" for each in (*people.RELATIVES, *people.PETS)),
        *people.MANY_RELATIVES,
        *people.SHORT_BREEDS,
        *(
            "married",
            "engaged",
            "dating",
            "report",
            "reports",
            "manages",
            "supervises",
            "out",
            "boy",
            "girl",
            "oldest",
            "younger",
            "older",
            "ex",
        ),
    )
    for word in _WORD.findall(entry.casefold())
)
"""Words of which a sentence has one if it names a relation; looked for first, since few sentences do."""
_MY: Final = rf"\b(?i:my|our)\s+(?i:(?:{any_of(people.WHOSE)}|\d+[- ]year[- ]old|[a-z]+-year-old)\s+)*"
_HAVE: Final = (
    r"\b(?i:i|we)(?i:['’]ve|\s+have|)(?i:\s+(?:just|recently|also|now|finally))*(?i:\s+(?:got|have|adopted|own|bought"
    r"|keep|rescued|share my \w+ with|live with))*"
    rf"\s+(?i:an?|one)\s+(?i:(?:{any_of(people.WHOSE)}|[a-z]+-?[a-z]*)\s+){{0,2}}?"
)
_NAME: Final = rf"(?P<value>{FIRST_NAME})"
_LOWER: Final = (
    r"(?P<value>(?!(?:not|a|an|the|it|in|on|so|very|hard|my|after|for|what|something|nothing|too|home|back|over|by|to|me"
    r"|i)\b)[a-z]{2,15})(?=\s*(?:[.,!;]|$|\s(?:and|lol|btw|haha)\b))"
)
_CALLED: Final = r"(?:['’]s (?:name is|name['’]s|called|named)|s name is| is called| is named|['’]s name)"
_PATTERNS: Final = Table(
    (pattern, None)
    for pattern in (
        rf"{_MY}{_RELATION} of [\w ]{{3,20}}, {_NAME}(?=\s*[.,!;)])",
        rf"\b(?i:i|we)(?i:['’]ve|\s+have)\b[^.;!?]{{3,60}}?\band (?i:an?"
        rf"|one) (?i:(?:{any_of(people.WHOSE)}\s+)*){_RELATION},?\s+(?:called |named )?{_NAME}",
        rf"{_MY}{_RELATION},?\s+(?:\(\s*)?(?:(?:is |are )(?:called|named)\s+|(?:called|named)\s+(?=\w+(?:\s*[,)]"
        rf"|\s+(?:who|is|has|and)\b)))?{_NAME}",
        rf"{_MY}{_RELATION}{_CALLED}\s+(?:{_NAME}|{_LOWER.replace('?P<value>', '?P<lower>')})",
        rf"{_HAVE}{_RELATION}(?:,? who(?:['’]s| is)|,|,? and (?:his|her|its|their) name is"
        rf"|,? whose name is)?\s+(?:(?:called|named)\s+)?{_NAME}(?=\s*[.,!;)]|$|\s+(?:and|who|but)\b)",
        rf"\b(?i:the|this) (?i:new |little |old |other )*(?P<relation>(?i:{any_of(people.PETS)}))(?:['’]s| is) (?:called|named) {_NAME}",
        rf"\b(?i:the) (?P<relation>(?i:{any_of(people.PETS)}|missus|wife|husband))(?: \(|, ){_NAME}(?=[,)])",
        rf"(?:{_HAVE}|{_MY}){_RELATION} (?:called|named) {_LOWER}",
        rf"{_HAVE}{_RELATION}\s+(?:called|named)\s+{_NAME}(?=\s+(?:from|in|at|on|last|this|yesterday|today|recently|since)\b)",
        rf"{_MY}{_RELATION}(?: since \w+(?: \w+)?)?\s+is\s+{_NAME}(?: (?-i:[A-ZÀ-Þ])[\w'’-]+)?(?=\s*[.,!;]|$|\s+and\b)",
        rf"\b(?i:i['’]?m|i am) (?:an? |the )?(?:proud |single |new )?(?:mother|father|mum|mom|dad|parent|grandmother|grandfather) (?:to"
        rf"|of) an? "
        rf"(?:[a-z-]+ ){{0,3}}(?P<relation>son|daughter|boy|girl|child|toddler|baby)(?: (?:called|named)|,) {_NAME}",
        rf"\b(?i:i['’]?m|i am|we are|we['’]re|i got|we got|i just got"
        rf"|i['’]ve been|i have been) (?:happily |newly |recently |just )?(?P<relation>married|engaged) to {_NAME}",
        # "married to a wonderful nurse, Dagny", "engaged to a Greek called Stavros"
        rf"\b(?i:i['’]?m|i am|we are|we['’]re|i got|i['’]ve been|i have been) (?:happily |newly |recently "
        rf"|just )?(?P<relation>married|engaged) to "
        rf"(?:an?|the|my) (?:(?!(?:who|that|which|from|in|of|near|at|named|called|whose|and)\b)[\w'’-]+ ){{0,4}}"
        rf"(?!(?:who|that|named|called)\b)[\w'’-]+(?:(?: (?:from|in|of|at) (?:the )?[\w'’-]+)?,? (?:(?:who is|who['’]s) )?(?:called|named"
        rf"|by the name of|whose name is)|,) {_NAME}(?=\s*[.,!;)]|\s*$|\s+(?:and|since|for|with)\b)",
        rf"{_MY}(?P<relation>{any_of(people.SHORT_BREEDS)})(?:['’]s name is|['’]s (?:called|named)| (?:is|got) (?:called|named)) {_NAME}"
        rf"(?=\s*(?:[.,!;)]|$)|\s+(?:and|but|after|because)\b)",
        rf"\b(?i:i|we) (?:named|called) (?i:(?:my|our|the)(?: new)? {_RELATION})\s+{_NAME}",
        rf"^\W*(?i:me and ){_NAME} (?i:(?:have|['’]ve) been (?P<relation>together) (?:for |since )?)(?:\d"
        r"|an?|two|three|four|five|six|seven|eight|nine|ten|ages|years|many|several|\w+teen|\w+ty)",
        rf"^\W*{_NAME} and (?i:(?:i|me)(?:['’]ve| have) been (?P<relation>together) (?:for|since) "
        r"(?:(?:the )?(?:past|last|almost|over|about) )*(?:\d+|an?|two|three|four|five|six|seven|eight|nine|ten|many|several|\w+teen|\w+ty)"
        r" ?(?:years?|months?|decades?|\d\d)?\b)",
    )
)
_ONE_OF_THEM: Final = any_of(
    listed(
        "boy, girl, eldest, oldest, youngest, older, younger, middle, older one, younger one, big one, little one,"
        " first, second, son, daughter, baby"
    )
)
_AGED: Final = r"(?:\s*\(\d{1,2}[^()]{0,12}\)|,?\s\d{1,2}(?=[,\s.!]|$)|,?\s(?:who['’]s|who is|aged) \w+)?"
_APPOSED: Final = compiled(
    rf"(?:^\W*|\band |[,;] ){_NAME},? (?i:is )?(?i:the|our|my) (?P<relation>(?i:eldest|oldest|youngest|middle one|middle child"
    rf"|younger one|older one|baby))"
    r"(?=\s*[.,!;)]|$|\s+[a-z])"
)
"""Names one of the children whom the sentence has another one of: "and Majella the youngest"."""
_SEVERAL: Final = compiled(
    rf"(?:{_MY}(?:two |three )?|\b(?i:the) (?=\w+, )|^\W*(?i:two|three|four|five|\d)\s+|\b(?i:i|we)(?:['’]ve|\s+have)?(?:\s+(?:got"
    r"|have))*\s+(?i:\d+|two|three|four"
    rf"|five|twin)\s+)(?i:(?:{any_of(people.WHOSE)}\s+)*(?P<relations>{_RELATIONS}))"
    rf"(?:,|:| are| are called| are named| called| named"
    rf"|,? whose names are|['’]? names are)?\s+\(?(?P<names>{FIRST_NAME}{_AGED}(?:,\s+{FIRST_NAME}{_AGED})*,?\s+(?:and|&)\s+{FIRST_NAME})"
)
_OF_TWO: Final = compiled(
    rf"{_MY}{_RELATION} (?i:and) (?:(?i:my|our) )?(?i:{_RELATION.replace('relation', 'relation_2')})(?:,|:| are| are"
    rf" called| are named| called| named)? \(?(?P<name>{FIRST_NAME}) "
    rf"(?i:and|&) (?P<name_2>{FIRST_NAME})"
)
"""Names two in the order of their relations: "my niece and nephew, Lily and Max"."""
_WORKS_FOR: Final = compiled(
    rf"\b(?i:i|we)(?i: now| both| directly| still| also)* (?i:report|answer)(?i: directly)? to {_NAME}"
    rf"|(?<![\w'’])(?P<by>{FIRST_NAME})(?: \w+)?(?i: now| also)? (?:manages|supervises) me\b"
    rf"|(?<![\w'’])(?P<of>{FIRST_NAME})(?i: now| also| both| directly)* (?:reports|answers) to (?:me|us)\b"
)
"""Says who is above or below the writer at work: "I report to Chidi"."""
_DATES: Final = compiled(
    r"\b(?i:i['’]?m|i am|i['’]?ve been|i have been|we are|we['’]re)(?i: still| now| currently| also| happily)*"
    rf" (?i:dating|going out with|going steady with) {_NAME}(?=\s*[.,!;)]|$|\s+(?:and|since|for|now|again)\b)"
)
_CHILDREN: Final = compiled(
    r"\b(?:i|we)(?:['’]ve| have| got)*(?: got)? (?:\d|two|three|four|five|twin|a pair of|several) (?:[a-z]+"
    r" ){0,2}?(?:kids|children|childs|sons|daughters|boys|girls|grandchildren|grandkids|twins|babies)\b"
    r"|\b(?:mother|father|mum|mom|dad|parent|gran|grandma|grandad|nan) (?:of|to) (?:two|three|four|five|\d|twins)\b",
    re.IGNORECASE,
)
_EACH_CHILD: Final = compiled(
    rf"\b(?i:the|my|our) (?P<relation>{_ONE_OF_THEM})(?i:['’]s| is)(?: called| named)?"
    rf" {_NAME}(?=\s*[.,!;)]|$|\s+(?:and|who|but)\b)"
)
"""Names one of the children who were introduced: "the boy is Mateo"."""
_CHILD_BY_AGE: Final = compiled(
    r"\b(?:my|our) (?:two |three )?(?:eldest|oldest|youngest|kids|children|sons|daughters|girls|boys)\b", re.IGNORECASE
)
_CHILD: Final = frozenset({"boy", "girl", "son", "daughter", "baby"})
_GOT: Final = r"\b(?i:got|adopted|have|has|bought|rescued)\s+(?i:an?|one|another)\s+(?i:[a-z]+-?[a-z]*\s+){0,2}?"
_INTRODUCED: Final = compiled(rf"(?:{_HAVE}|{_GOT}){_RELATION}\b|{_MY}(?:new )?(?i:{_RELATION.replace('relation', 'relation_2')})\b")
_NAMED_LATER: Final = compiled(
    rf"(?:^\W*|[,;—–-]\s+(?:and\s+)?|\band\s+)(?:(?i:his|her|its|their|the (?:little|new) (?:one|guy|girl)['’]s) name(?i:['’]s| is)"
    rf"|(?i:he|she|it|they)(?i:['’]s| is|['’]re| are) (?:called|named)|(?:(?i:we|i) )?(?:named|called|call) (?i:him|her|it))\s+{_NAME}"
    rf"|(?:^\W*|[,;—–-]\s+(?:and\s+)?|\band\s+){_NAME.replace('?P<value>', '?P<first>')}(?i:,? (?:is|that['’]s) (?:his|her|its"
    rf"|their) name\b)"
    rf"|^\W*{_NAME.replace('?P<value>', '?P<doubled>')}, (?i:s?he|it)(?i:['’]s| is| has| was| works| lives)\b"
)
"""Names what was introduced before: "Her name is Pixel"."""
_SINGULARS: Final = {
    "children": "child",
    "kids": "kid",
    "puppies": "puppy",
    "ponies": "pony",
    "budgies": "budgie",
    "grandchildren": "grandchild",
    "goldfish": "goldfish",
    "canaries": "canary",
    "childs": "child",
    "stepchildren": "stepchild",
    "godchildren": "godchild",
    "babies": "baby",
}
_BEFORE_NAME: Final = re.compile(
    rf"(?P<owner>['’]s )?(?<![\w-])(?P<relation>(?i:{any_of(people.RELATIVES, people.PETS)}))\s+(?P<name>{FIRST_NAME})(?!\w)"
)
_FORMER: Final = re.compile(r"^ex (\w+)$", re.IGNORECASE)
_BRAND: Final = re.compile(r"[a-z][A-Z]|[A-Z]{2}")
_LAB_WORK: Final = cue(
    listed("""
    test, tests, testing, research*, sample*, university, uni, team, scien*, experiment*, professor, department, phd, analys*, biolog*,
    chemi*, group, company, work, works, working, institute, building, study, studies, project*, campus, institution, founded, lab coat,
    equipment, microscope*, grant, paper, papers, publish*, physics, data, student*, software, server*
""")
)
"""Words by which a lab is no dog."""
_SPOUSES: Final = {"married": "married to", "engaged": "engaged to", "together": "partner"}


_DIED: Final = re.compile(
    r"^\W*(?:(?:but|and|so|sadly|unfortunately|then|well)\W+)*(?:he|she|it|they)(?:['’]s| has| have| is| are| was"
    r"| were)? (?:sadly |unfortunately |suddenly |just )*"
    r"(?:died|passed (?:away|on)|dead(?! (?:tired|asleep|set|serious|keen|to|on|right|calm)\b)|gone now"
    r"|no longer (?:with us|alive)|put (?:down|to sleep)|(?:got |been )?run over|buried"
    r"|crossed the rainbow|didn['’]?t make it|did not make it)\b",
    re.IGNORECASE,
)


def reports_death(text: str) -> bool:
    """Whether a sentence says that the one who was named before it died: "She died on Monday"."""
    return _DIED.search(text) is not None


def relations_of(text: str, before: str = "", after: str = "") -> Iterator[tuple[str, str]]:
    """The relations that a sentence names, each with the name.

    Args:
        text: The sentence.
        before: The sentence before it: "We got a dog. Her name is Pixel."
        after: The sentence after it.
    """
    names_later = _NAMED_LATER.search(text) is not None and (before or _INTRODUCED.search(text) is not None)
    has_relation = names_later or not _RELATION_WORDS.isdisjoint(_WORD.findall(text.casefold()))
    by_role = list(named_by_role(text))
    if (not has_relation and not by_role) or _NO_RELATION.search(text):
        return
    works_in_lab = _LAB_WORK.search(f"{before} {text} {after}") is not None
    seen: set[str] = set()
    for relation, found in (*(_named(text, before) if has_relation else ()), *by_role):
        name = found.removesuffix("'s").removesuffix("’s")
        if name in seen or len(name) <= 1 or (relation.casefold() == "lab" and (works_in_lab or _BRAND.search(name))):
            continue
        relation = _FORMER.sub(r"ex-\1", relation)
        seen.add(name)
        if (right := _corrected(relation, name, text)) is not None:
            yield right, name


def _corrected(relation: str, name: str, text: str) -> str | None:
    """The last relation before the same name, "my cousin Eva, no wait, my niece Eva"; None if it is somebody else's."""
    last = next(reversed(list(_BEFORE_NAME.finditer(text))), None) if text.count(name) > 1 else None
    others = [each for each in _BEFORE_NAME.finditer(text) if each["name"] == name] if last is not None else []
    if not others:
        return relation
    is_same = others[-1]["relation"].casefold() == relation.casefold()
    return None if others[-1]["owner"] else relation if is_same else others[-1]["relation"].casefold()


def _named(text: str, before: str) -> Iterator[tuple[str, str]]:
    for several in _SEVERAL.finditer(text):
        plural = several["relations"].casefold()
        for name in re.split(r",\s+(?:and\s+)?|\s+(?:and|&)\s+", re.sub(_AGED, "", several["names"])):
            yield _SINGULARS.get(plural) or plural.removesuffix("s"), name
    for pair in _OF_TWO.finditer(text):
        yield pair["relation"], pair["name"]
        yield pair["relation_2"], pair["name_2"]
    for one in _WORKS_FOR.finditer(text):
        yield ("direct report", one["of"]) if one["of"] else ("manager", one["value"] or one["by"])
    for one in _DATES.finditer(text):
        yield "partner", one["value"]
    if _CHILDREN.search(f"{before} {text}") is not None:
        for one in _EACH_CHILD.finditer(text):
            yield one["relation"] if one["relation"] in _CHILD else f"{one['relation'].removesuffix(' one')} child", one["value"]
    if _CHILD_BY_AGE.search(text) is not None:
        for one in _APPOSED.finditer(text):
            yield one["relation"].split()[0], one["value"]
    for pattern, _ in _PATTERNS.possible(text):
        for match in pattern.finditer(text):
            groups = match.groupdict()
            relation = match["relation"]
            yield _SPOUSES.get(relation, relation), groups["value"] or groups.get("lower") or ""
    for later in _NAMED_LATER.finditer(text):
        earlier = text[: later.start()] or before
        # The nearest noun is meant: "my wife Ann and I got a puppy. His name is Rex."
        introduced = None if _NO_RELATION.search(earlier) else next(reversed(list(_INTRODUCED.finditer(earlier))), None)
        if introduced is not None:
            yield introduced["relation"] or introduced["relation_2"], later["value"] or later["first"] or later["doubled"]
