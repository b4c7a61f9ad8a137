"""The grammar of plain statements: which clauses state which fact.

A clause is read from its first word: the first person, a verb of the grammar, a value, and then the clause's end or a word that begins an
adjunct. Negation, past and future need no rules: their verbs are not in the grammar.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from extraction.offline import fact_words as words
from extraction.offline import value_patterns as values
from extraction.offline.patterns import any_of, template


class Field(Enum):
    """A kind of fact."""

    NAME = auto()
    HOME = auto()
    OCCUPATION = auto()
    EMPLOYER = auto()
    AGE = auto()
    BIRTHDAY = auto()
    LEVEL = auto()
    SIZE = auto()
    GOAL = auto()
    LIKE = auto()
    DISLIKE = auto()
    AVOID = auto()
    ALLERGY = auto()
    DIET = auto()
    RELATION = auto()


_ADV: Final = values.ADV
_BIG: Final = any_of(words.DEGREES, words.FERVOUR)
_AROUND: Final = (
    r"(?:(?!(?:if|that|when|who|because|until|i|we|he|she|hope|fear|dreams?|head|mind|heart)\b)[^\s,;.!?]+\s+){0,7}?[^\s,;.!?]+?"
)
"""Where in a town: a few words without a clause."""
_CLASSES: Final = {
    "I": rf"(?:i|we){_ADV}",
    "I?": rf"(?:(?:i|we){_ADV}|(?!(?:i|we)\b){any_of(words.ADVERBS)}{_ADV})",
    "I_am": rf"(?:i\s?['’]\s?m|im|i am|we['’]re|we are){_ADV}",
    "I_have": rf"(?:(?:i|we)(?:['’]?ve|\s+have)(?:\s+(?:got|developed))?|(?:i|we)\s+(?:got|developed)){_ADV}",
    "my": r"(?:my|our)",
    "am_or_became": rf"(?:i\s?['’]\s?m|im|i am|we['’]re|we are|i(?:\s+{any_of(words.ADVERBS)})*\s+became){_ADV}",
    "is": rf"(?:is|are|['’]s){_ADV}",
    "have_lived": rf"(?:(?:i['’]ve|ive|i have|we['’]ve|we have){_ADV}\s+(?:lived|resided)|(?:(?:i['’]ve|ive|i have|we['’]ve|we have){_ADV}\s+)?been{_ADV}\s+(?:living|based))",
    "been": rf"been{_ADV}",
    "a": r"(?:an?|the)",
    "intensely": rf"{any_of(words.INTENSIFIERS)}(?:\s+{any_of(words.INTENSIFIERS)})?",
    "severe": any_of(words.DEGREES),
    "loves": rf"{any_of(words.LIKING)}{_ADV}",
    "hates": rf"{any_of(words.DISLIKING)}",
    "fan_of": any_of(words.ADMIRERS),
    "eats": any_of(words.AVOIDED_ACTS),
    "dwelling": rf"(?:[a-z-]+\s+){{0,2}}?{any_of(words.DWELLINGS)}",
    "settlement": rf"(?:[\w-]+\s+){{0,3}}?{any_of(words.SETTLEMENTS)}",
    "where": rf"(?:{any_of(words.HOUSEHOLD)}\s+){{0,2}}?(?:{any_of(words.HOUSEHOLD)}|{any_of(words.BESIDE)}\s+{_AROUND}|(?:an?|\d+|ten|twenty|half)\s+{_AROUND}\s+from\s+{_AROUND})",
    "in": r"(?:in|at|near|outside|just outside|not far from|outside of|close to|by|on|out of|above|below|beyond|around|(?:north|south|east|west) of)",
    "people": any_of(words.PEOPLE_WHO_NAME),
    "sector": any_of(words.SECTORS),
    "workplace": rf"(?:[a-z-]+\s+){{0,2}}?{any_of(words.WORKPLACES)}",
    "I_moved": rf"(?:(?:(?:i|we){_ADV}|(?:i['’]ve|i have|we['’]ve|we have){_ADV})\s+)?(?:{any_of(words.ADVERBS)}\s+)*moved{_ADV}",
    "moved": rf"(?:(?:(?:i|we){_ADV}|(?:i['’]ve|ive|i have|we['’]ve|we have){_ADV})\s+)?(?:{any_of(words.ADVERBS)}\s+)*(?:moved|relocated|emigrated){_ADV}",
    "direction": rf"(?:back|over|here|out|down|up|away|house|home|again|across|all the way|with {values.WORD}(?: {values.WORD})?)(?:\s+(?:back|over|here|out|down|up|away|house|home))*",
    "made": rf"(?:(?:i|we){_ADV}\s+(?:make|made)|(?:i['’]ve|i have|we['’]ve|we have){_ADV}\s+made)",
    "part_of": r"(?:downtown|central|(?:the |a )(?:[a-z-]+ )?(?:north|south|east|west|centre|center|outskirts|suburbs?|old town|middle|edge|heart|countryside|area|region|hills?|part|side)(?: of| around| near| outside| above)?)",
    "I_have_always": rf"(?:i|we)(?:['’]?ve|\s+have)(?:\s+(?:always|long|ever))+{_ADV}",
    "something_and": r"[a-z]+(?: [a-z]+){0,2} and",
    "own_dwelling": r"(?!(?:holiday|summer|second|weekend|vacation|rental|spare)\b)(?:[a-z-]+\s+)?(?:house|flat|apartment)",
    "from_place": rf"from {values.PLACE_NAME}(?:,\s+{values.PLACE_NAME})?",
    "where_I_live": r"(?:where (?:i|we) live|(?:i|we) live in)",
    "based": r"[A-Z][\w'’]+[- ]based",
    "work": (
        rf"(?:(?:i|i['’]ve|i have){_ADV}\s+(?:signed|signed on|been hired|been promoted|got hired)(?: with {values.NAME})?|(?:i|we){_ADV}\s+(?:work|started(?: working| work)?|(?:make|earn) (?:a|my) living|serve)|(?:i\s?['’]?m|i am){_ADV}\s+(?:working|employed)"
        rf"|i(?:['’]?ve| have){_ADV}\s+been (?:working|employed)|(?:i|i['’]ve|i have){_ADV}\s+(?:got|have|started|found|took|landed) (?:an?|my|the) (?:new )?(?:job|position|post)|(?:(?:just|recently|finally)\s+)?(?:started|got|landed) (?:an?|my|the) (?:new )?job|working){_ADV}"
        rf"(?:\s+(?:nights|days|shifts|here|there|from home|remotely|in \w+|(?:at|for|with) [\w &'’-]{{3,30}}?))?"
    ),
    "time": r"(?:full[- ]time|part[- ]time|nights|days|shifts|from home|remotely|mostly)",
    "the": "the",
    "big": rf"{_BIG}(?:\s+{_BIG})*",
    "big_a": rf"(?:(?:an?|the)(?:\s+{_BIG})*|{_BIG}(?:\s+{_BIG})*)",
    "severe_a": rf"(?:(?:an?|some)(?:\s+{any_of(words.DEGREES)})*|{any_of(words.DEGREES)}(?:\s+{any_of(words.DEGREES)})*)",
    "dietary": rf"{any_of(words.DIET_DEGREES)}(?:,?\s+{any_of(words.DIET_DEGREES)})?",
    "ever": r"(?:ever|really|usually|actually)",
    "eat": rf"(?P<verb>{any_of(words.AVOIDED_ACTS)})",
    "eating": r"(?P<gerund>eating|drinking|wearing|consuming|touching|using)",
}


@dataclass(frozen=True, slots=True)
class Form:
    """A form of clause and the kind of fact that it states."""

    field: Field
    pattern: re.Pattern[str]
    place_evidence: float | None = None
    needs_greeting: bool = False
    """Whether the sentence must begin with a greeting: "I'm Ann" alone may be "I'm Dutch"."""
    needs_occupation: bool = False
    """Whether the value must be a noun that names an occupation."""
    is_over: bool = False
    """Whether the clause says that the fact holds no longer."""


_DECLARED_PLACE: Final = -0.11
_MOVED_PLACE: Final = -0.04
"""Least similarities: "I live in" nearly always names a place; "I moved to" may name a tool, a team or a seat."""


def _form(
    field: Field,
    text: str,
    value: str,
    after: str = "",
    *,
    place: float | None = None,
    greeted: bool = False,
    job: bool = False,
    lasting: bool = False,
    over: bool = False,
) -> Form:
    """A form: a template, its value, and a pattern for what must follow; by default the clause's end."""
    pattern = (values.SINCE if lasting else "") + template(text, _CLASSES) + rf"(?P<value>{value})"
    return Form(field, re.compile(pattern + (after or values.CLAUSE_END), re.IGNORECASE), place, greeted, job, over)


_NAME_END: Final = r"(?=\s*(?:[.!,(—–-]|$|please|instead|from now|everyone|everybody|and\b|but\b))"
_LOWER_NAME: Final = (
    rf"(?-i:(?!{any_of(words.LOWER_CASE_NO_NAMES)}\b)[a-z]{{2,15}}(?<!ing)(?<!ed)(?<!ful)(?<!ous)(?<!able)(?<!less)(?<!ish))"
)
_NO_NAME_AFTER_AM: Final = rf"(?!{any_of(words.NO_INTRODUCTIONS)}\b)"
_NAMES: Final = (
    _form(Field.NAME, "<my> full|first|real|given|preferred? name is|'s|name's", values.NAME),
    _form(Field.NAME, "my|our|the full|first|real? name's", values.NAME),
    _form(Field.NAME, "name's", values.NAME),
    _form(Field.NAME, "the name is", values.NAME),
    _form(Field.NAME, "my name is spelled|spelt", values.NAME),
    _form(Field.NAME, "my name is|name's", _LOWER_NAME, _NAME_END),
    _form(Field.NAME, "<I_am> called|named", values.NAME),
    _form(Field.NAME, "<I> go by", values.NAME),
    _form(Field.NAME, "<people> just|always? call|calls me", values.NAME),
    _form(Field.NAME, "call me", values.NAME, _NAME_END),
    _form(Field.NAME, "call me", _LOWER_NAME, r"(?=\s*(?:[.!]|$|please\b|pls\b))"),
    _form(Field.NAME, "<I_am>", rf"{_NO_NAME_AFTER_AM}{values.NAME}(?<!ing)", r"(?=\s*(?:[.,!]|$)|\s+(?:and|from)\b)", greeted=True),
    _form(Field.NAME, "<I_am>", rf"{_NO_NAME_AFTER_AM}{values.NAME}(?<!ing)", r"(?=,?\s+(?:by the way|btw)\b)"),
    _form(Field.NAME, "they call me", values.NAME),
    _form(Field.NAME, "<people> know|knows me as", values.NAME),
    _form(Field.NAME, "", values.NAME, r"(?=(?: is my name\b|,? nice to meet you\b|,? pleased to meet you\b))"),
    _form(Field.NAME, "this is", rf"{values.NAME}", r"(?=\s*(?:[.,!]|$)|\s+(?:and|from|here)\b)", greeted=True),
    _form(Field.NAME, "", values.NAME, r"(?=\s+here\s*[.,!])", greeted=True),
)
_PLACE: Final = values.PLACE
_HOMES: Final = (
    _form(Field.HOME, "<I> live|reside|dwell <where>? <in>", _PLACE, place=_DECLARED_PLACE),
    _form(Field.HOME, "<I> live|reside <where>? in <a> <settlement> called|named|near|outside|by", _PLACE, place=_DECLARED_PLACE),
    _form(Field.HOME, "<I_am> living|based|settled|residing|domiciled|located|at_home <where>? <in>", _PLACE, place=_DECLARED_PLACE),
    _form(Field.HOME, "living|based <where>? <in>", _PLACE, place=_DECLARED_PLACE),
    _form(Field.HOME, "<have_lived> <where>? in", _PLACE, place=_DECLARED_PLACE, lasting=True),
    _form(Field.HOME, "<my> <dwelling> <is> <where>? <in>", _PLACE, place=_DECLARED_PLACE),
    _form(Field.HOME, "<my>? home for_me|for_us|now|nowadays? <is> in?", _PLACE, place=_MOVED_PLACE),
    _form(Field.HOME, "<my>? home <is> in? <a> <settlement> called|named", _PLACE, place=_MOVED_PLACE),
    _form(Field.HOME, "<moved> <direction>? <from_place>? to", _PLACE, place=_MOVED_PLACE),
    _form(Field.HOME, "<made> my|our home in", _PLACE, place=_DECLARED_PLACE),
    _form(Field.HOME, "<I_have> a|an|our <own_dwelling> in", _PLACE, place=_DECLARED_PLACE),
    _form(Field.HOME, "<I?>? settled|settled_down in", _PLACE, place=_MOVED_PLACE),
    _form(Field.HOME, "<I> rent|share <a> <dwelling> <where>? in", _PLACE, place=_DECLARED_PLACE),
    _form(Field.HOME, "<I_am> <a> resident|inhabitant of", _PLACE, place=_DECLARED_PLACE),
    _form(Field.HOME, "the city|town|village|place <where_I_live> <is>", _PLACE, place=_MOVED_PLACE),
    _form(Field.HOME, "<I_moved> into <a> <dwelling> in", _PLACE, place=_DECLARED_PLACE),
    _form(Field.HOME, "<I> moved|live in_with <where>? in", _PLACE, place=_DECLARED_PLACE),
    _form(Field.HOME, "<my> new home|city|town|village <is>", _PLACE, place=_MOVED_PLACE),
    _form(Field.HOME, "calling", _PLACE, r"(?=\s+home\b)", place=_MOVED_PLACE),
    _form(Field.HOME, "<I> live|reside in|on <part_of>", _PLACE, place=_DECLARED_PLACE),
    _form(Field.HOME, "<I> call", _PLACE, r"(?=\s+(?:my )?home\b)", place=_MOVED_PLACE),
    _form(
        Field.HOME,
        "",
        values.PLACE_NAME,
        rf"(?=(?:\s+is|['’]s){_ADV}\s+(?:(?:my|our)(?: new)? home|where (?:i|we) live)(?:\s*[.,!;]|$|\s+(?:now|these)\b))",
        place=_MOVED_PLACE,
    ),
    _form(Field.HOME, "<I_am> a|an", values.PLACE_NAME, r"(?=\s+(?:resident|local)\b)", place=_DECLARED_PLACE),
    _form(Field.HOME, "<I_have> <been> a|an", values.PLACE_NAME, r"(?=\s+(?:resident|local)\b)", place=_DECLARED_PLACE, lasting=True),
    _form(Field.HOME, "<I_am> <a>", r"(?-i:[A-Z][\w'’]+)", r"(?=[- ]based\b)", place=_DECLARED_PLACE),
)
_NOUNS: Final = r"(?!(?:an?|the)\b)(?:[a-zA-Z][\w'’-]*\s+){0,3}?[a-zA-Z][\w'’-]*"
_JOB_END: Final = rf"(?:(?=\s+(?:of|for|at|in|with|on)\s)|{values.CLAUSE_END})"
_FOR_A_LIVING: Final = r"(?=\s+(?:by (?:trade|profession|training)|for (?:a|my) living)\b)"
_OCCUPATIONS: Final = (
    _form(Field.OCCUPATION, "<work> as <a>", rf"(?!\w+ as\b){values.JOB}"),
    _form(Field.OCCUPATION, "<work> as", rf"(?!\w+ as\b){_NOUNS}", _JOB_END, job=True),
    _form(Field.OCCUPATION, "<I_am> <a>", values.JOB, _FOR_A_LIVING),
    _form(Field.OCCUPATION, "<am_or_became> a|an <based>?", _NOUNS, _JOB_END, job=True),
    _form(
        Field.OCCUPATION,
        "<am_or_became> the",
        rf"(?:head|chief|lead|local|village|town|resident|deputy|assistant) {_NOUNS}",
        _JOB_END,
        job=True,
    ),
    _form(Field.OCCUPATION, "", _NOUNS, r"(?=\s+here\s*(?:[,.!]|$))", job=True),
    _form(Field.OCCUPATION, "<I> make|earn a|my living by|from?", rf"[a-z]{{3,}}ing {values.PHRASE}"),
    _form(Field.OCCUPATION, "for a|my living <I>", rf"[a-z]{{3,}} {values.PHRASE}"),
    _form(Field.OCCUPATION, "<I>", rf"drive an? (?:[a-z]+ )?{any_of(words.VEHICLES)}"),
    _form(
        Field.OCCUPATION,
        "<I_am>",
        rf"(?:head|chief|lead|senior|junior|deputy|assistant|freelance|self-employed)\s+{_NOUNS}",
        _JOB_END,
        job=True,
    ),
    _form(Field.OCCUPATION, "<I_have> <been> <a>", _NOUNS, _JOB_END, job=True, lasting=True),
    _form(Field.OCCUPATION, "<been> <a>", _NOUNS, _JOB_END, job=True, lasting=True),
    _form(Field.OCCUPATION, "<work> as", rf"(?:head|director|chief|vice president) of {values.PHRASE}"),
    _form(Field.OCCUPATION, "<I_am> the?", rf"(?:head|director|chief|vice president) of {values.PHRASE}", r"(?=\s+(?:at|for|in)\b)"),
    _form(Field.OCCUPATION, "<my> job|profession|occupation|trade|day_job|career <is> being? <a>?", _NOUNS, _JOB_END, job=True),
    _form(
        Field.OCCUPATION,
        "<my> job|profession|occupation|work|day_job <is>",
        rf"[a-z]{{3,}}ing\s+(?!(?:me|us|my|at|in|on|like|out|up|down)\b)[a-z-]+(?:\s+(?!{values.STOP}\b)[a-z-]+)?",
    ),
    _form(Field.OCCUPATION, "<I>", rf"teach\s+(?!{any_of(words.UNTAUGHT)}\b)[a-z]+"),
    _form(Field.OCCUPATION, "<I>", rf"[a-z]{{3,}}\s+{values.PHRASE}", r"(?=\s+for (?:a|my) living\b)"),
    _form(Field.OCCUPATION, "<I> just? qualified as a|an", _NOUNS, _JOB_END, job=True),
    _form(Field.OCCUPATION, "<my> line of work <is>", values.PHRASE),
    _form(Field.OCCUPATION, "<my> job|work title <is>", _NOUNS, _JOB_END, job=True),
    _form(Field.OCCUPATION, "<I_am> in", any_of(words.SURE_SECTORS)),
    _form(Field.OCCUPATION, "<I> work <time>? in <the>?", any_of(words.SECTORS)),
    _form(Field.OCCUPATION, "<I> work <time>?", rf"(?:in|at) an? {_CLASSES['workplace']}"),
    _form(Field.OCCUPATION, "<I>", rf"(?:run|own|manage) an? {_CLASSES['workplace']}"),
    _form(Field.OCCUPATION, "<I_am>", r"(?:retired|self-employed|unemployed|freelancing|semi-retired)"),
    _form(Field.EMPLOYER, "<I> work for|at", rf"(?:the\s+)?{values.NAME}"),
)
_OF_THIS_TALK: Final = rf"(?!{any_of(words.POINTERS)}\b)"
_LIKED: Final = (
    rf"(?:{_OF_THIS_TALK}(?!being\b)(?:both\s+)?{values.PHRASE}|(?:any|every)thing (?:with|from|made of) {values.PHRASE})"
    rf"(?:\s+(?:in the|in it|with|for|of|on the|by the) {values.WORD})?"
)
_TASTES: Final = (
    _form(Field.LIKE, "<I> <loves>", rf"{_LIKED}{values.AND_ALSO}"),
    _form(Field.LIKE, "<I_am> <big_a>? <fan_of>", rf"{_LIKED}{values.AND_ALSO}"),
    _form(Field.LIKE, "<I_have_always> loved|liked|enjoyed|adored|been_into|been_fond_of|been_a_fan_of", rf"{_LIKED}{values.AND_ALSO}"),
    _form(Field.LIKE, "<big> fan of", values.PHRASE),
    _form(Field.LIKE, "nothing beats|tops", values.PHRASE),
    _form(Field.LIKE, "<I_am> a|an|more_of_a|totally_a|definitely_a", any_of(words.PERSON_OF), r"(?=\s+person\b)"),
    _form(Field.LIKE, "<I> love|like|prefer", rf"to (?!{any_of(words.TALKING)}\b)[a-z]+(?:\s+(?!{values.STOP}\b){values.WORD}){{0,3}}"),
    _form(Field.LIKE, "<my> main|favourite|favorite|biggest? hobby|hobbies|pastime|passion|passions <is>", values.PHRASE),
    _form(
        Field.LIKE,
        "",
        rf"my favou?rite (?:[a-z-]+ ){{1,3}}(?:is|are) (?!(?:when|the (?:one|way)|that|not|probably|definitely not)\b){values.PHRASE}",
    ),
    _form(
        Field.LIKE,
        "<I_am> <a> <big>?",
        r"[a-z]+(?:\s[a-z]+)?",
        r"(?=\s+(?:lover|enthusiast|fan|aficionado|addict|nerd|buff|devotee)s?\b(?:\s*[.,!;)]|$|\s+(?:and|so|but)\b))",
    ),
    _form(
        Field.LIKE,
        "",
        values.NAME + rf"|(?-i:[A-Z]?[a-z]+(?:\s[a-z]+)?)",
        r"(?=\s+(?:is|are)\s+my\s+(?:all-time\s+)?favou?rite\b(?!\s+(?:part|bit|line|one|idea|option)))",
    ),
    _form(
        Field.DISLIKE,
        "<I?>? <hates>",
        rf"{_OF_THIS_TALK}(?:being |people who )?{values.PHRASE}(?:\s+(?:of|in|on|with) {values.WORD})?(?:\s+or (?!(?:i|my|we)\b){values.WORD}(?=\s*(?:[.,!]|$)))?",
    ),
    _form(Field.DISLIKE, "<I_am> terrified|petrified of", rf"{_OF_THIS_TALK}{values.PHRASE}"),
    _form(
        Field.DISLIKE,
        "",
        rf"(?!{any_of(words.POINTERS)}\b)[a-z]+(?: [a-z]+){{0,2}}",
        rf"(?=\s+(?:is|are|was|were)?(?:n['’]?t| not)(?: really)? (?:my thing|my cup of tea|for me)\b)",
    ),
    _form(Field.DISLIKE, "<I_have_always> hated|disliked|loathed|detested|despised", rf"{_OF_THIS_TALK}{values.PHRASE}"),
    _form(Field.DISLIKE, "<I_have> never liked|enjoyed|cared_for|been_into|been_a_fan_of|been_fond_of", rf"{_OF_THIS_TALK}{values.PHRASE}"),
    _form(
        Field.DISLIKE,
        "",
        r"(?!(?:it|that|this|these|those|you|he|she|they|what|everything|nothing|the|my|your)\b)[a-z]+(?: [a-z]+)?",
        rf"(?=\s+(?:{any_of(words.REPELLING)}\s+me\b(?! (?:to|of|when|but))|{any_of(words.REPELLING_PHRASES)}))",
    ),
    _form(Field.DISLIKE, "<I_am>? not|no|never <big_a>? <fan_of>", rf"{_OF_THIS_TALK}{values.PHRASE}"),
)
_ALLERGEN: Final = rf"(?!{any_of(words.NO_ALLERGENS)}\b){values.LIST}"
_HEALTH: Final = (
    _form(Field.ALLERGY, "<I_am> <intensely>? allergic|intolerant to", _ALLERGEN),
    _form(Field.ALLERGY, "<I_have> <severe_a>? allergy|allergies|intolerance to", _ALLERGEN),
    _form(
        Field.ALLERGY,
        "<I_have> <something_and>? <severe_a>?",
        rf"(?!(?:no|any|many|several|few|food|severe|bad|some|seasonal|multiple)\b)[a-z]+(?: (?:and )?[a-z]+)?",
        r"(?=\s+(?:allergy|allergies|intolerance)\b)",
    ),
    _form(
        Field.ALLERGY,
        "<I> suffer|suffers from <severe_a>?",
        r"(?!(?:an?|severe|bad|food)\b)[a-z]+(?: [a-z]+)?",
        r"(?=\s+(?:allergy|allergies|intolerance)\b)",
    ),
    _form(Field.ALLERGY, "<my> main|only|worst|biggest? food? allergy|allergies|allergens <is> to?", _ALLERGEN),
    _form(Field.ALLERGY, "<I_have> <been> <intensely>? allergic to", _ALLERGEN, lasting=True),
    _form(Field.ALLERGY, "allergic to", _ALLERGEN, r"(?=\s+(?:here|btw|by the way|fyi)\b)"),
    _form(Field.ALLERGY, "my <severe_a>?", r"(?!(?:food|severe|bad|own|old|new|main|only)\b)[a-z]+(?: [a-z]+)?", r"(?=\s+allergy\b)"),
    _form(Field.ALLERGY, "", r"[a-z]+(?: [a-z]+)?", r"(?=\s+allergy here\b)"),
    _form(
        Field.DIET,
        "<I_am> <a>? <dietary>?",
        rf"{any_of(words.DIETS)}s?",
        rf"(?:(?=\s+(?:household|family|couple|home)\b)|{values.CLAUSE_END})",
    ),
    _form(Field.DIET, "<I_have> <been> <a>? <dietary>?", any_of(words.DIETS), lasting=True),
    _form(Field.DIET, "<I> became|went|turned|go|stay|eat|keep|cook <a>? <dietary>?", any_of(words.DIETS, words.REGIMES)),
    _form(
        Field.DIET,
        "<I> follow|keep|keep_to|adhere_to|stick_to|maintain|observe|eat|am_on <a>? <dietary>?",
        any_of(words.REGIMES),
        r"(?=\s+diet\b)",
    ),
    _form(Field.DIET, "<I_am> on <a>? <dietary>?", any_of(words.REGIMES), r"(?=\s+diet\b)"),
    _form(Field.DIET, "<I_have> gone|turned|become <a>? <dietary>?", any_of(words.DIETS)),
    _form(Field.DIET, "<my> diet <is> <dietary>?", any_of(words.DIETS, words.REGIMES)),
    _form(Field.DIET, "<dietary>?", any_of(words.DIETS), r"(?=\s+(?:here|since|for (?:\w+ )?(?:years|months|decades))\b)"),
    _form(Field.DIET, "<I_have>", r"c(?:o)?eliac(?: disease)?"),
    _form(Field.AVOID, "<I> don't|do_not|never|can't|cannot|can_not|won't <ever>? <eat>", rf"(?!{any_of(words.UNAVOIDED)}\b){values.LIST}"),
    _form(
        Field.AVOID,
        "<I> avoid|shun|stay_away_from|steer_clear_of|keep_away_from|abstain_from <eating>?",
        rf"(?!{any_of(words.UNAVOIDED)}\b){values.LIST}",
    ),
    _form(
        Field.AVOID,
        "no",
        rf"[a-z]+(?: [a-z]+)?(?:\s+(?:or|and)\s+[a-z]+)?",
        r"(?=\s+for me\b(?!\s+(?:today|tonight|this|tomorrow|yet|right|now|to|until|please just)))",
    ),
)
_OTHERS: Final = (
    _form(Field.AGE, "<I_am>", r"\d{1,2}(?: years old)?"),
    _form(
        Field.BIRTHDAY,
        "<my> birthday <is> on?",
        r"(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? (?-i:[A-Z][a-z]+)|(?-i:[A-Z][a-z]+) \d{1,2}(?:st|nd|rd|th)?",
    ),
    _form(Field.LEVEL, "<I_am> in", r"(?:grade|year|class)\s+\w+"),
    _form(Field.SIZE, "<my>", r"(?:[a-z]+ )?size is (?:\d+(?:[.,]\d+)?|X{0,3}[SML])"),
    _form(Field.SIZE, "<I> wear|take|need|fit <a>?", r"(?:[a-z]+ )?size (?:\d+(?:[.,]\d+)?|X{0,3}[SML])"),
    _form(Field.GOAL, "<my> goal <is> to?", r"[^.,;!?\n]{3,80}", "(?=.|$)"),
)
_NO_MORE: Final = r"(?=\s+(?:any ?more|any longer|now|these days)\b)"
_ENDED: Final = (
    _form(Field.HOME, "<I> no_longer live|reside in|at|near", values.PLACE_NAME, over=True),
    _form(Field.HOME, "<I> don't|do_not live|reside in|at|near", values.PLACE_NAME, _NO_MORE, over=True),
    _form(Field.HOME, "<I_moved> out_of|away_from|from", values.PLACE_NAME, rf"(?!\s+to\b){values.CLAUSE_END}", over=True),
    _form(Field.HOME, "<I> left", values.PLACE_NAME, over=True),
    _form(Field.OCCUPATION, "<I> no_longer work as a|an?", _NOUNS, _JOB_END, over=True),
    _form(Field.OCCUPATION, "<I_am> no_longer a|an", _NOUNS, _JOB_END, job=True, over=True),
    _form(Field.OCCUPATION, "<I> don't|do_not work as a|an", _NOUNS, _NO_MORE, over=True),
    _form(Field.DIET, "<I_am> no_longer a|an?", any_of(words.DIETS), over=True),
    _form(Field.DIET, "<I_am> not a|an?", any_of(words.DIETS), _NO_MORE, over=True),
)
FORMS: Final = (*_ENDED, *_NAMES, *_HOMES, *_OCCUPATIONS, *_OTHERS, *_TASTES, *_HEALTH)
