"""Corrections of what was just said: "no wait, I meant Bern", "Sorry, Bern", "*Bern"."""

import re
from difflib import SequenceMatcher
from typing import Final

from extraction.offline.grammar.fact_grammar import Field
from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.grammar.value_patterns import NAME
from extraction.offline.words.people import NO_NAMES
from memory.texts.prefiltered_patterns import compiled

_WEAK: Final = listed("""
    haha, hmm, hm, mm, erm, argh, ugh, oh, nope, actually, hang on, i mean, not at all, well, eh, ah, um, er, hold on, gah, dang,
    damn, no no
""")
_STRONG: Final = listed("""
    oops, whoops, wait, sorry, pardon, correction, typo, rather, or rather, scratch that, make that, strike that, autocorrect, my bad,
    i meant, i mean, what i meant, meant to say, meant to write, meant to type, i meant to say, i meant to write, i meant to type, my
    mistake, apologies, let me correct that, correcting myself, wrong, mixed them up, mixed it up, mixed that up, i misspoke,
    misspoke, slip of the tongue, ignore that, damn autocorrect, edit, sry
""")
_NO: Final = r"no(?=\s*(?:[^\w\s]|$)|\s+(?:wait|sorry|not|no|i|my|it|that|make|scratch)\b)"
_CUE: Final = re.compile(
    rf"^\W*(?:(?!sorry (?:for|about|to|if|but|not|my|i|that)\b)(?:{_NO}|{any_of(_WEAK, _STRONG)}|not \w+)\b[\s,:;.!—–-]*)+", re.IGNORECASE
)
_STRONG_CUE: Final = compiled(
    rf"\b{any_of(_STRONG)}\b|\b(?:meant|mean)\b|^\W*(?:actually,? )?no\b(?=\s*(?:[^\w\s]|$)|\s+(?:wait|sorry|not"
    rf"|no)\b)(?!,? (?:i|my|we|it|that|there)\b)",
    re.IGNORECASE,
)
_CONTRAST: Final = compiled(r"\W*not \w+", re.IGNORECASE)
"""Names the wrong value after the right one: "called Siri, not Siry"."""
_MARKED: Final = re.compile(
    rf"^(?:\*\s?(?:(?:in|to|an?) )?(?P<after>{NAME}|[a-z]+)|(?P<before>{NAME}|[a-z]+)\*)(?:,? (?:sorry|sry"
    r"|oops|i meant|obviously|lol|haha|he['’]d \w+ me|she['’]d \w+ me|damn \w+|stupid \w+|autocorrect))*[.!]?$"
)
"""A message that only corrects a word of the message before it."""
_VALUE: Final = re.compile(
    rf"^(?:(?:it['’]?s|that['’]?s|in|is|to|i live in|as an?|an?|the)\s+)*(?P<value>{NAME}"
    rf"|[a-z][\w'’-]*(?: [a-z][\w'’-]*)?)(?=\s*(?:[.,!;]|$))",
    re.IGNORECASE,
)
_NO_NAME: Final = re.compile(any_of(NO_NAMES), re.IGNORECASE)
_NO_VALUE: Final = re.compile(
    r"\b(?:i|i['’]m|im|we|it|it['’]s|he|she|they|you|that|this|not|no|so|is|are|am|was|do|does|don['’]t|matters?|really|too|very)\b",
    re.IGNORECASE,
)
"""Words of a clause, which no corrected value has."""
_DENIED: Final = re.compile(
    r"^\W*(?:(?:haha|lol|well|ok|hm+|nah|no|nope|actually|wait)\b\W*)+(?:i['’]?m|i am|i do|i was|it is|it['’]?s|i)"
    r"(?:\s*(?:not|n['’]t)| don['’]?t| do not)(?: really| true)?\W*$",
    re.IGNORECASE,
)
"""Denies what was just said: "haha no I'm not"."""
_IN_THE_PAST: Final = re.compile(
    r"^\W*(?:(?:(?:well|ok|okay|i mean|or rather|actually|sorry|no|that is)\b\W*)+(?:i |we )?|(?=\w+(?: to)?(?:,|\."
    r"|…|\W*$)))(?:worked|lived|used to|was|were|studied|taught|drove|ran|had|did|owned)\b(?=\W*(?:$|,|\.|until"
    r"|till|before|there|that is))",
    re.IGNORECASE,
)
"""Puts what was just said into the past: "well, worked, they closed"."""
_MEANT: Final = compiled(r"\b(?:meant|mean|make that|rather|correction|typo|scratch|actually)\b", re.IGNORECASE)
_APOLOGY: Final = re.compile(
    r"^\W*(?:wait|hang on|hold on)\W*$|^\W*(?:(?:sorry|sry|pardon|apologies|my bad|oops|whoops)\b\W*)+"
    r"(?!.*\b(?:meant|mean|not|no|that|that['’]s|it|it['’]s)\b)",
    re.IGNORECASE,
)
_HESITATION: Final = re.compile(r"^\W*(?i:er|erm|uh|uhm)\W+(?=[A-Z])")
"""Before the right name: "in Bonn, er, Cologne"."""
_OF_SEVERAL: Final = re.compile(r"(?:the|that) (?:[\w'’-]+ ){1,3}ones?\b", re.IGNORECASE)
"""Says which of several things of a name was meant: "No, the Scottish one"."""
_MEANT_AFTER: Final = re.compile(rf"^\W*(?P<value>{NAME})\W+(?:sorry|oops|i meant?|i mean|that is)\b\W*(?:i meant?\W+)?(?:(?P=value)\W*)?$")
"""Puts the right name before the words of a correction: "Roark, I meant Roark"."""
_OF_THEM: Final = re.compile(r"(?:he|she|they|it)(?:['’](?:s|re)| is| are| was| were) (?:an?|the|not|in|at|\d|[a-z]+ing)\b", re.IGNORECASE)
_NAMED_FIELDS: Final = frozenset({Field.HOME, Field.NAME, Field.EMPLOYER, Field.RELATION})
_UNCORRECTED: Final = frozenset({Field.AGE, Field.BIRTHDAY, Field.SIZE, Field.LEVEL})
_ALIKE: Final = 0.5
_HEAD: Final = 30
"""Characters of a sentence in which a correction begins."""


def marked_word(text: str) -> str | None:
    """The word of a message that only corrects a word, as chats mark it: "*Bern"."""
    found = _MARKED.match(text)
    return None if found is None else found["after"] or found["before"]


def is_spelled_alike(word: str, value: str) -> bool:
    """Whether a word may correct the spelling of a value, whatever their case: "*bergen" after "Bremen"."""
    return SequenceMatcher(a=word.casefold(), b=value.casefold()).ratio() >= _ALIKE


def corrects(text: str) -> bool:
    """Whether a sentence begins with the words of a correction, so that what it states replaces what was stated before."""
    return _STRONG_CUE.search(text[:_HEAD]) is not None


def after_cue(text: str) -> str | None:
    """The text after the words of a correction; None if it begins with none."""
    if (meant := _MEANT_AFTER.match(text.replace("I meant", "i meant").replace("Sorry", "sorry"))) is not None:
        return meant["value"]
    found = _IN_THE_PAST.match(text) or _CUE.match(text)
    return None if found is None else text[found.end() :]


def retracts(text: str) -> bool:
    """Whether a text takes back what was said, even if it does not say what is right."""
    if _MEANT_AFTER.match(text) is not None or _IN_THE_PAST.match(text) is not None:
        return True
    found = _CUE.match(text)
    return found is not None and (_STRONG_CUE.search(text) is not None or _DENIED.match(text) is not None)


def says_what_was_meant(text: str) -> bool:
    """Whether a correction announces the right words: "I meant black tea"."""
    return _MEANT.search(text) is not None


def describes(text: str) -> bool:
    """Whether the words after a correction's cue say something else of whom was named: "Actually no, he's a basset"."""
    return _OF_THEM.match(text) is not None


def chooses(text: str) -> bool:
    """Whether the words after a correction's cue say which of several was meant, and keep the name: "No, the Scottish one"."""
    return _OF_SEVERAL.match(text) is not None


def only_apologises(text: str) -> bool:
    """Whether a sentence may apologise for something else than what was said: "sorry, long day"."""
    return _APOLOGY.match(text) is not None


def retracts_at_once(text: str) -> bool:
    """Whether the rest of a sentence takes back its statement: "in Oslo, no, in Bergen"; not "called Siri, not Siry"."""
    found = _CUE.match(text)
    if found is None or not text[found.end() :].strip(" .!"):
        return False  # "I'm not a fan of it, sorry."
    is_strong = _STRONG_CUE.search(found.group()) is not None or _HESITATION.match(text) is not None
    return is_strong and _CONTRAST.match(text) is None


def corrected_value(field: Field, text: str) -> str | None:
    """The value that a correction without a verb gives to a field; None if it names none.

    Args:
        field: Of the corrected fact.
        text: What follows the words of the correction.
    """
    found = _VALUE.match(text)
    if found is None or _NO_VALUE.search(found["value"]) is not None:
        return None
    value = found["value"]
    if field in _NAMED_FIELDS:
        return value if value[0].isupper() and _NO_NAME.fullmatch(value) is None else None
    return None if field in _UNCORRECTED else value
