"""Words by which people open a topic, stay with one, or close it."""

import re
from typing import Final

from extraction.offline.sentences import QUESTION_MARKS

_CLOSING: Final = re.compile(
    r"\b(?:bye|goodbye|welcome|(?:great|nice|good|wonderful|lovely|pleasant) (?:day|time|trip|evening|night|one|stay|rest)|"
    r"enjoy|have fun|no problem|my pleasure|glad (?:i|to)|anything else|that ?['’]?s all|that is all|that will be all|"
    r"take care|see you|thank(?:s| you))\b",
    re.IGNORECASE,
)
_REPLYING: Final = re.compile(
    r"^(?:yes|no|yeah|yep|yup|nope|nah|ok|okay|sure|great|thanks|thank|cool|nice|wow|lol|haha|ha|really|oh|me too|that|it|they|he|she|"
    r"awesome|good|right|sounds|same|true|perfect|alright|i see|i know|i do|i am|i did|not|very|so|of course|absolutely|definitely|"
    r"because|maybe|but|well)\b",
    re.IGNORECASE,
)
_POINTING_BACK: Final = re.compile(r"\b(?:it|its|that|they|them|their|those|he|she|him|her|one|ones|there|too|this|these)\b", re.IGNORECASE)


def closes(text: str) -> bool:
    """Whether a text thanks, wishes well or says goodbye."""
    return _CLOSING.search(text) is not None


def replies(text: str) -> bool:
    """Whether a text begins as an answer or a reaction does."""
    return _REPLYING.match(text.lstrip()) is not None


def points_back(text: str) -> bool:
    """Whether a text has a word that stands for something said before."""
    return _POINTING_BACK.search(text) is not None


def asks(text: str) -> bool:
    """Whether a text holds a question."""
    return any(mark in text for mark in QUESTION_MARKS)


def ends_in_question(text: str) -> bool:
    """Whether a text's last sentence is a question."""
    return text.rstrip().endswith(QUESTION_MARKS)
