"""Facts that a sentence about something else mentions as known: "With my nut allergy I can't eat out", "the keys to our flat in Gouda".

Each becomes a statement before its sentence. A mention is true in a question, too: "With my nut allergy, can I have pesto?"
"""

import re
from collections.abc import Iterator
from typing import Final

from extraction.offline.grammar.patterns import any_of, cue, listed
from extraction.offline.grammar.value_patterns import PLACE_NAME
from extraction.offline.rewriting.canonical_clauses import LONGEST
from extraction.offline.words.occupations import is_occupation
from extraction.offline.words.people import MANY_RELATIVES, RELATIVES
from extraction.offline.words.tastes import DIETS
from memory.texts.prefiltered_patterns import compiled

_LEAD: Final = r"^\W*(?:(?:and|so|but|well|oh|ok|okay|yes|yeah|also|honestly|actually|btw|tbh|fyi|hi|hello|hey|thanks)\b[\s,!.]*)*"
_ALLERGEN: Final = (
    r"(?P<value>(?!(?:food|severe|bad|own|old|new|main|only|seasonal|serious|annoying|stupid|many|various|skin|first|worst|other|next"
    r"|little"
    r"|dog['’]?s|cat['’]?s|[a-z]+['’]s)\b)[a-z]+(?: [a-z]+)?)"
)
_MY_ALLERGY: Final = compiled(
    rf"\bmy (?:(?:severe|bad|terrible|stupid|annoying|serious|mild|silly|awful|horrible|lifelong|damn|known) )*{_ALLERGEN} "
    r"(?P<kind>allergy|allergies|intolerance)\b"
    r"(?! (?:is gone|has gone|was|were|went|has (?:disappeared|vanished|gone)|disappeared|vanished|turned|tests?|results?"
    r"|medicine for my)\b)",
    re.IGNORECASE,
)
_MY_ILLNESS: Final = compiled(
    r"\bmy (?P<value>c(?:o)?eliac(?: disease)?|(?:type (?:1|2|one|two) )?diabetes|lactose intolerance|gluten intolerance)\b"
    r"(?! (?:is gone|was|were|went|has gone|test\w*|screening|risk)\b)",
    re.IGNORECASE,
)
_ROLE: Final = r"(?P<value>[a-z][\w'’-]*(?: (?!(?:and|who|i|my|for|in|at|of|with|to)\b)[a-z][\w'’-]*){0,3}?)"
_MY_WORK: Final = compiled(
    rf"\b(?:my|our) (?:(?:current|new|day|full-time|part-time|own|next) )?(?P<noun>job|work|role|shift|shifts|career|position|day job|life"
    rf"|business|hours|schedule|routine|salary|duties|profession|vocation) as (?:an? |the )?{_ROLE}"
    r"(?=\s*(?:[.,!;?)]|$)|\s(?:is|are|means|requires|involves|starts|begins|ends|keeps|makes|takes|has|at|in|for|with|and|so|but|i|lets"
    r"|allows"
    r"|gets|can|leaves|pays|gives|you|it|we)\b)",
    re.IGNORECASE,
)
_AS_A: Final = re.compile(
    rf"{_LEAD}(?:as|being|working as|speaking as) an? {_ROLE}(?P<where> (?:in|at|for|with|of) [^,.!?\n]{{2,40}})?,? "
    r"(?=(?P<rest>[^!?\n]*))",
    re.IGNORECASE,
)
_LIKE_ME: Final = compiled(
    r"\b(?:for|as|like|to|help) (?:an? )(?P<value>[a-z][\w-]*(?: [a-z][\w-]*){0,2}) like (?:me|myself)\b", re.IGNORECASE
)
_WE: Final = compiled(
    rf"(?:{_LEAD}|\b(?:but|and|because|since|as|that) )(?:we|us) (?P<value>[a-z]+(?: [a-z]+)?)s (?=(?:are|get|have|need|know|love|hate|work"
    r"|don['’]?t|never|always|often|usually|can|like|use|see|call|eat)\b)",
    re.IGNORECASE,
)
_AS_DIET: Final = re.compile(
    rf"{_LEAD}(?:as|being|speaking as) (?:an? )?(?:(?:strict|lifelong|committed|proud|new|long-time|fellow"
    rf"|type [12]) )*(?P<value>{any_of(DIETS)})"
    r"s?(?: (?:myself|since \d{4}|for \w+ years))?,? (?=(?:i|i['’]?m|i['’]ve|my|we)\b"
    r"|(?:what|which|where|how|can|could|should|do|is|are) (?:[\w'’-]+ ){0,4}?(?:i|me|my)\b)",
    re.IGNORECASE,
)
_PLACE: Final = rf"(?P<value>{PLACE_NAME})"
_LIVE_THERE: Final = compiled(
    rf"\b(?:in|to|from|of|around|about|is|called) {_PLACE}\b[^.!?;\n]{{0,90}}?"
    r"\b(?:i|we|and|where|i['’]m|we['’]re|i['’]ve|we['’]ve|i am|we are)(?: (?:i|we))?(?: (?:now|still|currently|happily|both|all|have"
    r"|been|always|do"
    r"|actually|i|we|ever since|work and))* (?:live|living|(?<=have )lived|(?<=ve )lived|(?<=been )lived) (?:there|here)\b(?! (?:until"
    r"|till|before|when|as a|during|once|for a)\b)",
    re.IGNORECASE,
)
_NEVER_LEFT: Final = compiled(
    rf"\b(?:(?:born|raised|bred|grew up)(?: and (?:born|bred|raised|grew up))?|home ?town(?:['’]s| is)"
    rf"|from)(?: in)? {_PLACE}\b[^.!?;\n]{{0,40}}?"
    r"(?:\b(?:i |i['’]ve |have |we )?(?:never|haven['’]?t(?: ever)?) (?:left|moved away|lived anywhere else)"
    r"|\b(?:i['’]?m |am |i |we |and )?still (?:live|living|reside|residing|based)?(?: right)? ?(?:here|there)\b)",
    re.IGNORECASE,
)
_MY_DWELLING: Final = compiled(
    r"\b(?:my|our) (?:(?:new|little|small|tiny|own|cosy|cozy|rented|lovely|beautiful|first|first own|shared|attic|ground-floor) )*"
    rf"(?:flat|apartment|house|home|place|studio|cottage|condo|bungalow|street|neighbou?rhood) in {_PLACE}(?!['’]s)",
    re.IGNORECASE,
)
_DWELT: Final = compiled(
    r"\b(?:keys?|moved? in|moving in(?:to)?|settl\w+|unpack\w*|my landlord|my neighbou?rs?|my commute|wi-?fi|heating|curtains|furnish\w*"
    r"|balcony|redecorat\w*|every (?:day|morning|night|evening)|right now|these days|i live|we live|rent (?:is|went)|renovat\w+ our"
    r"|home office)\b",
    re.IGNORECASE,
)
"""Words of a sentence about a dwelling that one lives in."""
_NOT_DWELT: Final = compiled(
    r"\b(?:holiday|summer house|second|vacation|weekend|sold|selling|sell|left|leave|leaving|moved out|moving out|former|old|was|were"
    r"|had|used to"
    r"|until|tenants?|airbnb|let out|rent(?:ed|ing)? (?:it )?out|dream|will|next|parents)\b",
    re.IGNORECASE,
)
_HERE_IN: Final = compiled(
    rf"\bliving (?:here )?in {_PLACE} (?:means|makes|has|keeps|gets|lets|allows|suits|is)\b(?=[^.!?\n]*\b(?:i|me|my|we|us|our)\b)",
    re.IGNORECASE,
)
_HERE: Final = re.compile(
    rf"^\W*(?:(?:and|but|so|well|yes|yeah)\W+)?(?:back |over )?here in {_PLACE},? (?=(?:i|we|my|our|the|it)\b)", re.IGNORECASE
)
_AWAY: Final = compiled(
    r"\b(?:visit\w*|trip|holidays?|vacation|conference|hotel|airbnb|week|days?|tonight|today|tour|travel\w*|for now|arrived"
    r"|landed|landing)\b",
    re.IGNORECASE,
)
"""Words of a sentence about a stay."""
_FOOD: Final = (
    r"(?P<value>(?!(?:it|this|that|them|anything|much|more|people|my|your|the|a|an|any)\b)[a-z]+(?: (?!(?:please|pls|because"
    r"|as|since|cause|cos|due|but|and|i|for)\b)[a-z]+)?)"
)
_ALLERGIC: Final = (
    r"(?:(?:(?:i['’]?m|i am) )?(?:(?:very|really|badly|severely|highly|deathly|actually|also) )?allergic(?: to (?:it|them|those|that))?"
)
_BECAUSE: Final = r"(?:,? ?(?:because|since|as|cause|cos|coz|due to|on account of|bc)(?: of)?|\s*[,;:–—]|\s-)"
_REFUSED: Final = compiled(
    rf"(?:^\W*(?=can)|\b(?=i\b|please|no\b|hold|skip|without))(?:(?:i (?:really )?)?(?:can['’]?t|cannot|can not|don['’]?t|do not|never"
    rf"|must not|mustn['’]?t|shouldn['’]?t) (?:eat|have|drink|touch|wear|use|do)"
    rf"(?: any)?|i (?:have to |must )?avoid|(?:please )?no(?: more)?|hold the|skip the|without(?: any)?) {_FOOD}(?:,? (?:please|pls"
    rf"|for me))?{_BECAUSE}"
    rf" {_ALLERGIC}|(?:an|my|a (?:severe|bad)) allergy)(?=\s*(?:[.,!;)]|$))",
    re.IGNORECASE,
)
"""A food that is refused with the reason: "No sesame please, I'm allergic"."""
_REACTED_TO: Final = compiled(
    rf"{_LEAD}{_FOOD} (?:is|are|gives?|makes?|causes?|looks?|tastes?|smells?|sounds?) [^.!?\n]{{2,50}}?,? (?:and |but |since |because "
    rf"|as |so |cos )?"
    rf"{_ALLERGIC})(?=\s*(?:[.,!;)]|$))",
    re.IGNORECASE,
)
_FELT_ABOUT: Final = compiled(
    rf"{_LEAD}{_FOOD} (?:is|are|tastes?|smells?|looks?|feels?|makes?|gives?) [^.!?;\n]{{2,50}}?,? (?:and |so |but )?(?:i )?"
    r"(?:really |just |absolutely )?(?P<verb>hate|can['’]?t stand|love|adore|loathe|detest) (?:it|them|that stuff"
    r"|the stuff)(?=\s*(?:[.,!;)]|$))",
    re.IGNORECASE,
)
_MY_LOVE: Final = compiled(
    r"\b(?:my|our shared) (?:(?:great|deep|huge|lifelong|big|newfound|passionate|secret) )?(?:love|passion|fondness|enthusiasm) (?:for|of) "
    r"(?P<value>(?!(?:you|him|her|them|it|this|that|my|the|a|an|all|those|god|life|people|each|what|how)\b)"
    r"[a-z][\w-]*(?: [a-z][\w-]*){0,2}?)"
    r"(?=\s*(?:[.,!;?]|$)|\s(?:is|are|and|with|as|to|into|by|i|so|but|that|which|in|on|since|when|comes?|makes?|keeps?|began|started|through"
    r"|from)\b)",
    re.IGNORECASE,
)
_UNREAL: Final = cue(
    listed("""
    if, would, wouldn't, wish, wished, imagine, suppose, supposed, pretend*, character, novel, story, lyrics, says, said, say,
    claims, claimed, according, told, tells, wrote, quote, once, used to, former, formerly, ex, dream*, hypothetical*, joke,
    joking, kidding, translate, rewrite, proofread, rephrase, role-play, next life, past life
""")
)
"""Words by which a mention may be no fact about the writer now."""
_NOT_NOW: Final = compiled(
    r"\b(?:was|were|did|had|would|could|should|might|used|you|your|he|she|they|his|her|their|ended|ago|quit|left|retired from|back then"
    r"|leaving|fired|sacked|laid off|lost|losing|resign\w*|quitting|gave notice|handed in|last|last day|end|ends|ending|finish\w*"
    r"|interview\w*|applying|apply|applied|going to|will|want|wanted|hope|dream\w*)\b|['’]ll\b|['’]d\b",
    re.IGNORECASE,
)
_LOST: Final = compiled(r"\b(?:lost|losing|lose|rekindle\w*|no longer|was|were|had|he|she|they)\b", re.IGNORECASE)
"""Says that a passion is over, or of somebody else."""
_GENERAL_YOU: Final = compiled(r"\byou (?:see|meet|learn|have to|need|get|can)\b", re.IGNORECASE)
"""Anybody: "In my job as a paramedic you see everything"."""
_PAST: Final = compiled(
    r"\b(?:i|we)(?: \w+ly| always| often| never)? (?:(?!need\b|feed\b|speed\b)\w+ed|went|got|made|saw|knew|took|gave|came|met|learnt"
    r"|spent|felt"
    r"|told|thought|found|became|began|wore|ate|drank|drove|flew|wrote|taught|read)\b",
    re.IGNORECASE,
)
_FIRST_PERSON: Final = compiled(r"\b(?:i|i['’]?m|i['’]ve|me|my|we|our)\b", re.IGNORECASE)
_ANY: Final = cue(
    listed("""
    allerg*, intolerance, celiac, coeliac, diabetes, as, being, like me, like myself, there, here, never left, still, keys, place,
    house, flat, apartment, home, studio, cottage, living, hate, stand, love, adore, loathe, detest, passion, fondness, we, us,
    neighbourhood, neighborhood
""")
)
"""A word without which a sentence mentions nothing."""
_SENTENCE: Final = re.compile(r"[^.!?\n]+(?:\.(?=\w)[^.!?\n]*)*[.!?\n]*")
_RELATED: Final = cue(RELATIVES, MANY_RELATIVES)
_OTHERS_LIVE: Final = compiled(
    rf"\b{any_of(RELATIVES, MANY_RELATIVES)}\b(?:['’]s)?(?: \w+)?(?: still| both| now| never| has| have| all)* (?:lives?|living|lived|is"
    rf"|are|works?|left|grew|was|born"
    r"|owns?|has|have|resides?|stays?)\b",
    re.IGNORECASE,
)
_OF_RELATED: Final = compiled(rf"\W*(?:my|our) (?:\w+ )?{any_of(RELATIVES, MANY_RELATIVES)}\b", re.IGNORECASE)


def with_mentions_stated(text: str) -> str:
    """A message with the facts that its sentences mention as statements before them. Only facts are read from it; it is never stored.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    if len(text) > LONGEST or _ANY.search(text) is None or _FIRST_PERSON.search(text) is None:
        return text
    return _SENTENCE.sub(_with_statements, text)


def _with_statements(found: re.Match[str]) -> str:
    sentence = found.group()
    if _ANY.search(sentence) is None or _UNREAL.search(sentence) is not None or any(mark in sentence for mark in '"“”:'):
        return sentence
    stated = list(dict.fromkeys(_mentions(sentence)))
    if not stated:
        return sentence
    begin = len(sentence) - len(sentence.lstrip())
    return f"{sentence[:begin]}{' '.join(f'{each}.' for each in stated)} {sentence[begin:]}"


def _mentions(sentence: str) -> Iterator[str]:
    yield from _of_health(sentence)
    yield from _of_work(sentence)
    yield from _of_homes(sentence)
    if (found := _FELT_ABOUT.match(sentence)) is not None:
        yield f"I {found['verb']} {found['value'].lower()}"
    if (found := _MY_LOVE.search(sentence)) is not None and _LOST.search(sentence) is None:
        yield f"I love {found['value']}"


def _of_health(sentence: str) -> Iterator[str]:
    if (found := _MY_ALLERGY.search(sentence)) is not None and _RELATED.search(found["value"]) is None:
        yield f"I have a {found['value']} allergy"
    if (found := _MY_ILLNESS.search(sentence)) is not None:
        value = found["value"].lower()
        yield f"I'm {value.partition(' ')[0]}-intolerant" if value.endswith("intolerance") else f"I have {value}"
    if (found := _REFUSED.search(sentence)) is not None:
        yield f"I'm allergic to {found['value'].lower()}"
    if (found := _REACTED_TO.match(sentence)) is not None:
        yield f"I'm allergic to {found['value'].lower()}"
    if (found := _AS_DIET.match(sentence)) is not None:
        yield f"I'm {found['value'].lower()}"
    if (found := _LIKE_ME.search(sentence)) is not None and re.fullmatch(any_of(DIETS), found["value"], re.IGNORECASE) is not None:
        yield f"I'm {found['value'].lower()}"


def _of_work(sentence: str) -> Iterator[str]:
    found = _LIKE_ME.search(sentence)
    if found is not None and is_occupation(found["value"]):
        yield f"I'm a {found['value']}"
    found = _WE.search(sentence)
    if found is not None and is_occupation(found["value"]) and _NOT_NOW.search(sentence) is None:
        yield f"I'm a {found['value']}"
    found = _MY_WORK.search(sentence)
    if found is not None and is_occupation(found["value"]) and _NOT_NOW.search(_GENERAL_YOU.sub("", sentence)) is None:
        yield f"I'm a {found['value']}"
    found = _AS_A.match(sentence)
    if (
        found is not None
        and is_occupation(found["value"])
        and _FIRST_PERSON.search(found["rest"]) is not None
        and _OF_RELATED.match(found["rest"]) is None
        and _NOT_NOW.search(found["rest"]) is None
        and _PAST.search(found["rest"]) is None
    ):
        yield f"I'm a {found['value']}"


def _of_homes(sentence: str) -> Iterator[str]:
    for pattern in (_LIVE_THERE, _NEVER_LEFT, _HERE_IN):
        found = pattern.search(sentence)
        if found is not None and found["value"][0].isupper() and _OTHERS_LIVE.search(sentence[: found.end()]) is None:
            yield f"I live in {found['value']}"
            return
    found = _HERE.match(sentence)
    if (
        found is not None
        and found["value"][0].isupper()
        and _AWAY.search(sentence) is None
        and _NOT_NOW.search(sentence) is None
        and _PAST.search(sentence) is None
    ):
        yield f"I live in {found['value']}"
        return
    found = _MY_DWELLING.search(sentence)
    if found is not None and found["value"][0].isupper() and _DWELT.search(sentence) is not None and _NOT_DWELT.search(sentence) is None:
        yield f"I live in {found['value']}"
