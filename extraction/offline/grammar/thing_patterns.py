"""The things of implied statements: noun phrases that are no person and point to nothing, and the kinds of nouns in which they end."""

import re
from collections.abc import Callable, Iterable
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.words.people import MANY_RELATIVES, PETS, RELATIVES
from extraction.offline.words.taste_nouns import CONSUMED, HARMFUL, PERSON_NOUNS, TASTE_NOUNS

Statement = str | Callable[[re.Match[str]], str | None]
"""What a clause states: a template of its match, or a function that returns None if the clause states nothing."""
Rule = tuple[str, Statement]
LIKE: Final = r"I like \g<x>"
LOVE: Final = r"I love \g<x>"
DISLIKE: Final = r"I dislike \g<x>"
PREFER: Final = r"I prefer \g<x>"
AVOID: Final = r"I avoid \g<x>"
END: Final = (
    r"(?=\s*(?:[.,!;:)…—–]|$|[^\w\s'’])|\s+(?:and|but|so|because|since|cos|cause|especially|too|tbh|lol"
    r"|honestly|imo|these days|lately|for me"
    r"|any ?more|at all|ever|either|when|in any|on any|with|full stop|period|unless)\b)"
)
POINTERS: Final = any_of(
    listed("""
    it, this, that, these, those, he, she, they, you, we, i, there, here, what, who, which, where, when, how, why, if, not, no, nothing,
    everything, something, anything, everyone, everybody, nobody, someone, people, one, both, my, your, his, her, our, their, a, an,
    all, none,
    and, but, so, or, yes, to, for, about, the way, the fact, the idea, the thought, the first, the second, the last, the one,
    the ones, work,
    the doctor, the boss, him, them, me, us, its, each, another, any, more, much, some, most, whatever, life, time, god, whoever,
    option, options, really, just, still, also, always, actually, only, definitely, simply, honestly, maybe, even, too, very, usually,
    sometimes, often,
    already, never, well, totally, absolutely, ok, okay, yeah, oh, ah, hey, thanks, please, sure, great, good, nice, cool, right,
    sorry, bit, lot
"""),
    RELATIVES,
    (each for each in MANY_RELATIVES if each.removesuffix("s") not in PETS),
)
WORD: Final = r"[^\W\d][\w'’&-]*"
STOP: Final = (
    r"(?:is|are|was|were|am|be|i|that|which|who|and|but|so|because|since|when|if|or|me|my|always|never|really"
    r"|just|do|does|don['’]?t|doesn['’]?t"
    r"|keeps?|makes?|gives?|gets?|will|would|has|have|had|can|can['’]?t|than|as|you|it|for|to|over|without"
    r"|please|today|tonight|tomorrow|right|now"
    r"|yet|again|this|still|also|too|any ?more|at|every|in|on|with|from|after|before)"
)
THING: Final = rf"(?P<x>(?!{POINTERS}\b)(?:the )?(?!{POINTERS}\b){WORD}(?: (?!{STOP}\b){WORD}){{0,3}})"
"""A noun phrase that is no person and points to nothing in the conversation."""
PLACED: Final = (
    rf"(?P<x>(?!{POINTERS}\b)(?:the )?{WORD}(?: (?!{STOP}\b){WORD}){{0,3}}(?: (?:in|on|at|with|by|from|after"
    rf"|before|to) (?:the |an? |my )?{WORD}(?: (?!{STOP}\b){WORD}){{0,2}})?)"
)
"""Such a phrase with what belongs to it: "swimming in the sea"."""
ADJECTIVE: Final = r"(?:(?!(?:the|a|an|my|your|no|not|more|any|much|of|for|to|with|this|that|i|we|you)\b)[a-z][\w'’-]* ){0,2}?"
NOUN: Final = r"[a-z][\w'’&-]*(?: [a-z][\w'’&-]*){0,2}?"
TASTE: Final = rf"(?P<x>{ADJECTIVE}{NOUN})(?P<taste>)"
"""What is liked or not: a noun phrase that ends in a noun of tastes, which :func:`checked` looks up."""
PASTIME: Final = rf"(?P<x>{ADJECTIVE}{NOUN})(?P<pastime>)"
"""The same, or any act: "roofing"."""
EATEN: Final = rf"(?P<x>{ADJECTIVE}{NOUN}(?: (?:or|and) {NOUN})?)(?P<eaten>)"
PERSON: Final = rf"(?P<x>{ADJECTIVE}{NOUN})(?P<person>)"

HARM: Final = rf"(?P<x>{ADJECTIVE}{NOUN}(?: (?:or|and) {NOUN})?)(?P<harm>)"
"""What harms some people: food, drink, medicine, animals, plants, materials."""


def _in_any_number(nouns: Iterable[str]) -> frozenset[str]:
    """Nouns with their other number: "pudding" for "puddings"."""
    each_noun = tuple(nouns)
    return frozenset((*each_noun, *(f"{each}s" for each in each_noun), *(each.removesuffix("s") for each in each_noun)))


_NOUNS_OF: Final = {
    "taste": frozenset(TASTE_NOUNS),
    "pastime": frozenset(TASTE_NOUNS),
    "eaten": _in_any_number(CONSUMED),
    "person": frozenset(PERSON_NOUNS),
    "harm": _in_any_number((*CONSUMED, *HARMFUL)),
}
"""The nouns in which the thing of a rule must end, by the mark in its pattern."""
_JOINED: Final = re.compile(r" (?:or|and) ")
_NO_GERUNDS: Final = frozenset(
    listed(
        "thing, morning, evening, king, ring, string, spring, wing, being, going, doing, having, getting, building,"
        " meeting, feeling, ceiling"
    )
)


def is_taste(thing: str) -> bool:
    """Whether a phrase ends in a noun of tastes or in a pastime: "sourdough baking"."""
    return _is_known(thing, _NOUNS_OF["taste"]) or (thing.endswith("ing") and thing.rpartition(" ")[2].casefold() not in _NO_GERUNDS)


def checked(pattern: str, statement: Statement) -> Statement:
    """A statement that is made only of a thing of the kind that a pattern marks: of "a chips man", not of "a family man"."""
    mark = next((each for each in _NOUNS_OF if f"(?P<{each}>)" in pattern), None)
    if mark is None:
        return statement

    def stated(found: re.Match[str]) -> str | None:
        if not (is_taste(found["x"]) if mark == "pastime" else _is_known(found["x"], _NOUNS_OF[mark])):
            return None
        return found.expand(statement) if isinstance(statement, str) else statement(found)

    return stated


def _is_known(thing: str, nouns: frozenset[str]) -> bool:
    """Whether a phrase ends in one of some nouns, or each of two joined phrases does."""
    thing = thing.casefold().replace("’", "'")
    parts = [each.split() for each in (thing, *_JOINED.split(thing))]
    known = [any(" ".join(words[start:]) in nouns for start in range(len(words))) for words in parts]
    return known[0] or all(known[1:])
