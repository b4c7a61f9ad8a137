"""Scores what an extractor stored of the facts data set. Pure: it compares an item with values and contents."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from unicodedata import normalize

from pydantic import JsonValue

from evaluation.facts.items import Item, ProfileFact, TypedEvents
from evaluation.markdown import table
from memory.texts.words import FUNCTION_WORDS

GOALS: Final = {"true": 0.98, "found": 0.85, "in_events": 0.99}
"""Shares that the extractor without a model must reach on the shipped set."""

FALLBACK_TYPE: Final = "fact"
"""The type of an event when in doubt."""

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*[#+]*")
_TOKEN: Final = re.compile(r"\([^)]*\)|\S+")
_NEGATIVE: Final = re.compile(
    r"\b(?:dislik|hat(?:e|es|ed|ing)\b|loath|detest|avoid|allerg|intoleran|not\b|no\b|never\b|without\b|cannot\b|\w+n['’]t\b|averse|aversion)"
)
_EXACT_FIELDS: Final = frozenset({"home", "name"})
"""Fields that hold nothing besides the value."""
_FORMS: Final = """
like likes love loves enjoy enjoys prefer prefers dislike dislikes hate hates avoid avoids allergic allergy intolerant favourite favorite
user called named name works working worker work job person interested fond fan can can't stand eat eats drink drinks wear wears buy buys
doesn't don't not no never very really being
"""
_FORM_WORDS: Final = frozenset(_FORMS.split())
"""Words that an extractor may add when it words a value as a line."""
_LINE_WORDS: Final = frozenset(("to", "from"))
"""Further words of such a line: "allergic to sesame" where the user said "a sesame allergy"."""
_CLAUSE_WORDS: Final = "i i'm i've i'd i'll we we're we've but"
_NEXT_CLAUSE: Final = frozenset(_CLAUSE_WORDS.split())
"""Words that begin another clause: a value with one of them holds more than the fact."""
_MOST_FURTHER_WORDS: Final = 8
_ROUNDING: Final = 0.01
"""Largest difference between equal numbers."""


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A value, or one line of a value, in a profile."""

    entity: str
    field: str
    value: str

    def __str__(self) -> str:
        return f"{self.entity}.{self.field}: {self.value}"


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event."""

    content: str
    type: str = FALLBACK_TYPE
    properties: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stored:
    """Everything that an extractor stored of an item."""

    facts: tuple[StoredFact, ...] = ()
    events: tuple[StoredEvent, ...] = ()

    @property
    def contents(self) -> list[str]:
        """The contents of the events."""
        return [each.content for each in self.events]


@dataclass(slots=True)
class Count:
    """Number of right things among all, and a description of each wrong one."""

    right: int = 0
    of: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, is_right: bool, description: str) -> None:
        """Counts one thing."""
        self.of += 1
        self.right += is_right
        if not is_right:
            self.wrong.append(description)

    def join(self, other: "Count") -> None:
        """Adds another count to this one."""
        self.right += other.right
        self.of += other.of
        self.wrong += other.wrong

    @property
    def share(self) -> float | None:
        """The share of right things, None if there are no things."""
        return round(self.right / self.of, 4) if self.of else None


MEASURES: Final = {
    "true": "stored profile facts that are true",
    "found": "expected profile facts that are stored",
    "in_events": "facts that are in an event",
    "clean": "fillers and binary data that are in no event",
    "types": "event types other than fact that are true",
    "properties": "event properties that are true",
    "typed": "plain statements with a type other than fact that have it",
}


def new_counts() -> dict[str, Count]:
    """A count of zero for each of :data:`MEASURES`."""
    return {name: Count() for name in MEASURES}


def score(item: Item, stored: Stored) -> dict[str, Count]:
    """The counts of one item.

    Args:
        item: The item.
        stored: The facts and events that the extractor stored.
    """
    counts = new_counts()
    said = " ".join(f"{each.speaker} {each.text}" for each in item.messages)
    true_facts = (*item.expected, *item.allowed)
    for stored_fact in stored.facts:
        is_true = any(states(stored_fact, each, said) for each in true_facts)
        is_true = is_true and not any(matches(stored_fact.value, each) for each in item.forbidden)
        counts["true"].add(is_true, f"stored, but false: {stored_fact}")
    for fact in item.expected:
        is_found = any(states(each, fact, said) for each in stored.facts)
        counts["found"].add(is_found, f"not stored: {fact.entity}.{fact.field}: {fact.values[0]}")
    for pattern in item.in_events:
        counts["in_events"].add(any(matches(each, pattern) for each in stored.contents), f"in no event: {pattern}")
    for text in item.verbatim:
        counts["in_events"].add(any(text in each for each in stored.contents), f"in no event, word by word: {text}")
    if item.no_event:
        counts["clean"].add(not stored.contents, f"an event of a filler: {stored.contents[:1]}")
    for expression in item.not_in_events:
        found = next((each for each in stored.contents if re.search(expression, each)), "")
        counts["clean"].add(not found, f"binary data in an event: {found[:80]!r}")
    if item.events is not None:
        _score_types(item.events, stored.events, said, counts)
        if item.events.types and not item.is_trap:
            is_typed = any(event.type in item.events.types for event in stored.events)
            counts["typed"].add(is_typed, f"no event has the type {' or '.join(item.events.types)}")
    return counts


def _score_types(true: TypedEvents, events: Sequence[StoredEvent], said: str, counts: Mapping[str, Count]) -> None:
    for event in events:
        if event.type != FALLBACK_TYPE:
            counts["types"].add(event.type in true.types, f"the type {event.type} is false")
        for name, value in event.properties.items():
            if value is None or value in ("", []):
                continue
            parts = value if isinstance(value, list) else [value]
            is_true = all(any(_is_property(each, right, said) for right in true.properties.get(name, ())) for each in parts)
            counts["properties"].add(is_true, f"the property {event.type}.{name} is false: {str(value)[:80]}")


def _is_property(value: JsonValue, right: bool | float | str, said: str) -> bool:
    if isinstance(right, str):
        return isinstance(value, str) and _is_worded(value, right, said)
    if isinstance(right, bool) or isinstance(value, bool):
        return value is right
    return isinstance(value, int | float) and abs(value - right) < _ROUNDING


def states(stored: StoredFact, fact: ProfileFact, said: str) -> bool:
    """Whether a stored value states a fact, and nothing else.

    A home and a name must be the value alone. Other fields may have some further words of the messages.

    Args:
        stored: The value.
        fact: The fact.
        said: The speakers and texts of the messages.
    """
    if (stored.entity, stored.field) != (fact.entity, fact.field):
        return False
    if fact.negative is not None and "avoid" not in fact.field:
        is_negative = bool(_NEGATIVE.search(stored.value.casefold()))
        if is_negative != fact.negative:
            return False
    exact = fact.field in _EXACT_FIELDS
    return any(_is_worded(stored.value, pattern, said, exact=exact) for pattern in fact.values)


def matches(text: str, pattern: str) -> bool:
    """Whether each required word of a pattern begins a word of the text.

    Args:
        text: Any text.
        pattern: As in :mod:`evaluation.facts.items`.
    """
    words = _words(text)
    return all(any(word.startswith(token) for word in words) for token in _required(pattern))


def _is_worded(value: str, pattern: str, said: str, *, exact: bool = False) -> bool:
    """Whether a text matches a pattern and has nothing else, or, unless it must be exact, only some further words of the messages."""
    if not matches(value, pattern):
        return False
    tokens = (*_required(pattern), *_optional(pattern))
    further = [each for each in _words(value) if not any(each.startswith(token) for token in tokens)]
    if _NEXT_CLAUSE.intersection(further):
        return False
    further = [each for each in further if each not in FUNCTION_WORDS and each not in _FORM_WORDS]
    if exact:
        return not further
    further = [each for each in further if each not in _LINE_WORDS]
    return len(further) <= _MOST_FURTHER_WORDS and set(further) <= set(_words(said))


def _words(text: str) -> list[str]:
    return _WORD.findall(normalize("NFC", text).casefold().replace("’", "'"))


def _required(pattern: str) -> list[str]:
    return [word for each in _TOKEN.findall(pattern) if not each.startswith("(") for word in _words(each)]


def _optional(pattern: str) -> list[str]:
    return [word for each in _TOKEN.findall(pattern) if each.startswith("(") for word in _words(each)]


def report_of(scored: Sequence[tuple[Item, Mapping[str, Count]]]) -> dict[str, Any]:
    """The figures of all items, by kind, with each failure, and a table in Markdown.

    Args:
        scored: Each item with its counts.
    """
    total, kinds = new_counts(), dict[str, dict[str, Count]]()
    failures = []
    for item, counts in scored:
        of_kind = kinds.setdefault(item.kind, new_counts())
        for name, count in counts.items():
            total[name].join(count)
            of_kind[name].join(count)
            failures += [{"id": item.id, "kind": item.kind, "measure": name, "problem": each, "said": _said(item)} for each in count.wrong]
    return {
        "items": len(scored),
        "traps": sum(item.is_trap for item, _ in scored),
        "shares": {name: count.share for name, count in total.items()},
        "goals": {name: {"goal": goal, "reached": (total[name].share or 0.0) >= goal} for name, goal in GOALS.items()},
        "kinds": {kind: {name: [count.right, count.of] for name, count in counts.items()} for kind, counts in kinds.items()},
        "failures": failures,
        "markdown": "\n".join(_markdown(total, kinds, failures)),
    }


def _said(item: Item) -> str:
    return " / ".join(each.text if len(each.text) <= 120 else f"{each.text[:117]}..." for each in item.messages)


def _markdown(total: Mapping[str, Count], kinds: Mapping[str, Mapping[str, Count]], failures: Iterable[Mapping[str, str]]) -> Iterable[str]:
    rows = []
    for name, meaning in MEASURES.items():
        count = total[name]
        share = "-" if count.share is None else f"{100 * count.share:.1f} %"
        goal = f"{100 * GOALS[name]:.0f} %" if name in GOALS else "-"
        rows.append((meaning, share, str(count.right), str(count.of), goal))
    yield from table(("measure", "share", "right", "of", "goal"), rows)
    yield ""
    by_kind = ((kind, *(f"{each.right}/{each.of}" if each.of else "" for each in counts.values())) for kind, counts in kinds.items())
    yield from table(("kind", *MEASURES), by_kind)
    yield ""
    for each in failures:
        yield f"- {each['id']}: {each['problem']} ({each['said']!r})"
