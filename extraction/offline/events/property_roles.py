"""The role of a property, derived from its name."""

import re
from enum import Enum, auto
from typing import Final


class Meaning(Enum):
    """A kind of property that a rule can fill."""

    TOOL = auto()
    SUCCESS = auto()
    FAILURE = auto()
    ERROR = auto()
    DURATION = auto()
    ARGUMENTS = auto()
    RESULT = auto()
    GOAL = auto()
    STATEMENT = auto()
    QUESTION = auto()
    SPEAKER = auto()
    PEOPLE = auto()
    TOPIC = auto()
    TASTE = auto()
    TIME = auto()
    DUE = auto()
    PLACE = auto()
    LIKING = auto()
    OWN = auto()
    KEYWORDS = auto()


_NAMES: Final[dict[Meaning, str]] = {
    Meaning.TOOL: "tool tool_name tool_called function function_name",
    Meaning.SUCCESS: "success succeeded successful is_success ok",
    Meaning.FAILURE: "failure failed failures is_failure",
    Meaning.ERROR: "error error_message failure_reason error_text",
    Meaning.DURATION: "duration duration_ms duration_s duration_seconds latency latency_ms latency_s elapsed elapsed_ms elapsed_s time_ms",
    Meaning.ARGUMENTS: "arguments args input inputs parameters params",
    Meaning.RESULT: "result output response",
    Meaning.GOAL: "goal situation purpose intent context",
    Meaning.STATEMENT: "what fact statement content text summary description note notes detail details task sentence",
    Meaning.QUESTION: "query question",
    Meaning.SPEAKER: "speaker person who author owner assignee said_by by decided_by reporter name_of_speaker",
    Meaning.PEOPLE: "people participants attendees persons members who_else",
    Meaning.TOPIC: "topic theme knowledge_point area",
    Meaning.TASTE: "subject liked_thing disliked_thing",
    Meaning.TIME: "when date day time event_date happened_on",
    Meaning.DUE: "due due_date deadline until due_on by_when",
    Meaning.PLACE: "place location where city venue",
    Meaning.OWN: "own belongs_to_user users_own",
    Meaning.LIKING: "likes liked is_liked like positive",
    Meaning.KEYWORDS: "keywords tags",
}
_BY_NAME: Final = {name: meaning for meaning, names in _NAMES.items() for name in names.split()}


def name_words(name: str) -> list[str]:
    """The words of a property's name, in lower case: ``maxPrice`` and ``max_price`` to ``max price``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_\-\s]+", " ", name).lower().split()


def normalized_name(name: str) -> str:
    """A name's words in lower case, joined by underscores."""
    return "_".join(name_words(name))


def meaning_of(name: str) -> Meaning | None:
    """The role of a property of that name; None if the name is unknown."""
    return _BY_NAME.get(normalized_name(name))
