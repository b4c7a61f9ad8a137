"""Forms of English statements: a change, a former state, a repetition to the listener, a momentary wish, or a plain statement."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

_SINCE: Final = (
    r"since (?:the|last|this|january|february|march|april|may|june|july|august|september|october|november|december)"
    r"|since (?:i|we) (?:bought|got|moved|started|changed|have)"
)
_CHANGE: Final = re.compile(
    r"\b(?:moved|relocated|settled|switch(?:ed|ing)|swapped|chang(?:ed|ing)|replaced|upgraded|rewrote|rewritten|renamed|converted"
    r"|quit|stopped|(?:gave|given) up|took up|taken up|took (?:me|him|her|them) off|prescribed|dropped(?: out)?|closed|opened|cut"
    r"|no longer|any ?more|any longer|from (?:now on|today)|these days|nowadays|instead|start(?:ed|ing)|began|begun|joined|turned"
    r"|became|(?:has|have) become|sold|bought|adopted|born|left|retired|graduated|promoted|accepted|finished|postponed|brought forward"
    r"|rescheduled|raised|increased|reduced|lowered|divorced|broke up|broken up|split up|separated|got (?:married|engaged|a new)|died"
    r"|passed(?: away)?|cancelled|deleted|installed|down to|up to|is over|come to|gave|new|second|again|already|next is|until now"
    rf"|{_SINCE}|now(?! that| and then))\b|^actually\b|[’']ve got\b",
    re.IGNORECASE,
)
_CORRECTS: Final = re.compile(
    r"^(?:sorry|oops|correction|actually|no wait)\b|^no, not\b"
    r"|\b(?:i (?:was|am) (?:wrong|mistaken)|got (?:that|it|this) wrong|misspoke|typo|it should be|mixed (?:that|it|them|this) up"
    r"|(?:no|wait|oops|sorry),? i mean(?:t)?)\b"
    r"|, not (?:on |at |in )?(?-i:[A-Z\d])[\w.,:’'-]*\W*$|\bisn['’]t \w+, (?:i['’]m|it['’]s)\b",
    re.IGNORECASE,
)
_ENDS: Final = re.compile(
    r"\b(?:no longer|any ?more|any longer|quit|stopped|gave up|given up|left|died|passed away|sold|is over|cancelled|broke up|split up)\b",
    re.IGNORECASE,
)
_BEGINS: Final = re.compile(
    r"\b(?:moved|switch(?:ed|ing)|replaced|upgraded|took up|taken up|from now on|these days|instead|start(?:ed|ing)|began|joined|became"
    r"|become|bought|adopted|got|settled|new|now|single|again|is|are|but)\b",
    re.IGNORECASE,
)
_MOMENTARY: Final = re.compile(
    r"\bnow\b[^.!?]{0,20}\b(?:want|need|must|have to|has to|going to|off to)\b|\b(?:just|only) (?:want|wants|need|needs)\b|^maybe\b",
    re.IGNORECASE,
)
_FORMER: Final = re.compile(
    r"\b(?:used to|formerly|previously|in the past|years ago|back then|before that|at that time|at school"
    r"|as a (?:child|student|kid|boy|girl)|my (?:old|former|previous|ex|first|last) )\b"
    r"|\bwhen (?:i|we|he|she|they) (?:lived|worked|was|were)\b|\buntil (?:19|20)\d\d\b"
    r"|\b(?:i|we|he|she|they) (?:lived|worked|drove|drank|wore|studied|played)\b(?!.*\bnow\b)",
    re.IGNORECASE,
)
_LASTS: Final = re.compile(r"\b(?:from (?:now on|today)|these days|nowadays|for good|switched to|(?:has|have) switched)\b", re.IGNORECASE)
_DISLIKES: Final = re.compile(
    r"\b(?:hate[sd]?|dislikes?|detests?|loathes?)\b|\b(?:can['’]?t|cannot) (?:stand|bear)\b|\bnot (?:a fan|keen)\b"
    r"|(?:n['’]t|\bnot|\bnever|\bno longer) (?:\w+ )?(?:like|love|enjoy|care for)\b",
    re.IGNORECASE,
)
_LIKES: Final = re.compile(r"\b(?:likes?|loves?|enjoys?|adores?|prefers?|fond of|fan of|keen on)\b", re.IGNORECASE)
_TO_LISTENER: Final = re.compile(r"\byou(?:r|rs|['’]re|['’]ve)?\b", re.IGNORECASE)
_WORD: Final = re.compile(r"\w")
_INTRODUCTION: Final = re.compile(
    r"^(?:(?:no|sorry|oops|wait|well|actually|correction|by the way|from now on|i was wrong|i got that wrong)\b[\s,.:;–-]*)+", re.IGNORECASE
)
_ONE_THING: Final = re.compile(
    r"^(?P<subject>(?:my|our|the|his|her|their|[A-Z][\w-]+['’]s) (?:[\w'’-]+ ){0,3}?[\w-]+) "
    r"(?:is|are|was|has been|leaves?|starts?|begins?|costs?)\b"
)
_ONE_VALUE: Final = re.compile(
    r"^(?:i|we|[A-Z][\w-]+)(?:['’](?:ve|m|s))? (?P<verb>lives?|works? (?:as|at|for|in)|weighs?|drives?|studies|study|get up|gets up"
    r"|go to the \w+|goes to the \w+|(?:have|has) \w+ (?=\w+)) ?",
    re.IGNORECASE,
)
_ATTRIBUTE_WORDS: Final = {
    "home": r"lives?|living|lived|resides?|home|flat|apartment|house|address|moved|relocated|settled",
    "work": r"(?:works?|working|worked)(?! (?:on|out|with|hard|towards?|through)\b)|jobs?|employers?|employed|company|occupation|profession"
    r"|career|for a living|hired|joined|promoted|retired",
    "partner": r"married|engaged|single|dating|partner|girlfriend|boyfriend|wife|husband|divorced|separated|broke up|split up|relationship",
    "study": r"stud(?:y|ies|ying|ied)|subject|major|university|degree",
    "vehicle": r"drives?|drove|car|bike|bicycle|cycle|bus|train|get to work|commute",
    "drink": r"drinks?|drank|tea|coffee|espresso|cappuccino|matcha|rooibos|cocoa|milk|juice|water|alcohol|beer|wine",
    "diet": r"eats?|ate|diet|vegetarian|vegan|meat|fish|pork",
    "health": r"allergic|allergy",
    "language": r"learning|language",
    "instrument": r"instrument|violin|cello|piano|guitar|flute|drums",
    "sport": r"sport|tennis|handball|football|running|marathon|swimming",
    "smoking": r"smok(?:e|es|ing|ed)|cigarettes?",
    "child": r"pregnant|born|baby",
    "hours": r"(?:get|gets|got|getting|wake|wakes|woke|waking) up|go(?:es)? to bed",
}
_ASKED_WORDS: Final = {
    "study": r"stud(?:y|ying|ied)|subject|major|degree|learning",
    "work": r"jobs?|occupation|profession|employers?|for a living|(?:do|does|did|is|are|was|were) \w+ work(?:ing)?",
    "language": r"languages?",
    "instrument": r"instruments?",
    "sport": r"sports?",
}


def _patterns(words: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    return {name: re.compile(rf"\b(?:{each})\b", re.IGNORECASE) for name, each in words.items()}


ATTRIBUTES: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(_patterns(_ATTRIBUTE_WORDS))
"""Attributes that persons often state, with the words for them. Statements without such words are linked by the words that they share."""
_ASKED: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType({**ATTRIBUTES, **_patterns(_ASKED_WORDS)})


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a text."""

    frame: str
    """The subject of a statement whose value can only be one: "my phone is", "I live in". Empty: it has none."""
    changes: bool
    """It says that something changed, or corrects something."""
    corrects: bool
    """It says that an earlier statement was wrong."""
    only_ends: bool
    """It says that something ended, and not what holds since."""
    is_former: bool
    """It states an earlier state."""
    is_hearsay: bool
    """It is addressed to the listener and about them, as an assistant does that repeats its knowledge."""
    is_question: bool
    lasts: bool
    """It says that something holds from now on."""
    is_momentary: bool
    """It states a wish of the moment."""
    liking: int
    """1: it likes something, -1: it dislikes it, 0: neither."""

    @property
    def is_answer_now(self) -> bool:
        """Whether it may state how things are now."""
        return not (self.is_former or self.is_hearsay or self.is_question or self.is_momentary)


def asked_attributes(question: str) -> frozenset[str]:
    """The attributes that a question asks for.

    Args:
        question: The text of a query, in English.
    """
    return frozenset(name for name, words in _ASKED.items() if words.search(question))


def may_correct(text: str) -> bool:
    """Whether a text contains words of a correction; much faster than :func:`form_of`."""
    return _CORRECTS.search(text) is not None


def attributes_of(text: str, among: Iterable[str] = ATTRIBUTES) -> frozenset[str]:
    """The attributes that a statement is about.

    Args:
        text: The statement, in English.
        among: The attributes of :data:`ATTRIBUTES` that matter.
    """
    return frozenset(name for name in among if ATTRIBUTES[name].search(text))


def _ends_as_question(text: str) -> bool:
    """Whether no word follows the last question mark."""
    last = text.rfind("?")
    return last >= 0 and _WORD.search(text, last) is None


def form_of(text: str) -> Form:
    """The form of a text in English.

    Args:
        text: A statement, or a question about one.
    """
    bare = _INTRODUCTION.sub("", text.strip())
    is_question = _ends_as_question(text)
    corrects = bool(_CORRECTS.search(text.strip()))
    changes = corrects or bool(_CHANGE.search(text))
    return Form(
        frame="" if is_question else _frame(bare),
        changes=changes and not is_question,
        corrects=corrects and not is_question,
        only_ends=bool(_ENDS.search(text)) and not _BEGINS.search(text),
        is_former=bool(_FORMER.search(text)) and not is_question,
        is_hearsay=bool(_TO_LISTENER.search(text)),
        is_question=is_question,
        lasts=bool(_LASTS.search(text)) and not is_question,
        is_momentary=bool(_MOMENTARY.search(text)),
        liking=-1 if _DISLIKES.search(text) else int(bool(_LIKES.search(text))),
    )


def _frame(text: str) -> str:
    found = _ONE_THING.match(text)
    if found:
        return found["subject"].casefold().replace("’", "'")
    verb = _ONE_VALUE.match(text)
    return verb["verb"].casefold().removesuffix("s") if verb else ""
