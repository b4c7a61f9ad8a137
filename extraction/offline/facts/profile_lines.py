"""The lines of one profile field, and the edits that a user's statements make to them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from extraction.bounds import LONGEST_PATCH
from extraction.offline.events.property_roles import name_words
from extraction.offline.facts.endings import Ending
from extraction.offline.facts.sentence_facts import PlainFact
from extraction.offline.grammar.fact_grammar import Field
from memory.schema import EntityProperty
from memory.texts.text import shortened

_TASTES: Final = "preference preferences likes interests tastes hobbies favourites favorites"
_AVOIDED: Final = "avoids dislikes allergies restrictions"
_FIELD_WORDS: Final[dict[Field, str]] = {
    Field.NAME: "name nickname",
    Field.HOME: "home city residence address location lives",
    Field.OCCUPATION: "occupation job profession work employment",
    Field.EMPLOYER: "employer company",
    Field.AGE: "age",
    Field.BIRTHDAY: "birthday",
    Field.LEVEL: "level grade class",
    Field.SIZE: "sizes size",
    Field.GOAL: "goals goal aims",
    Field.LEARNING: "learning_style",
    Field.LIKE: _TASTES,
    Field.DISLIKE: f"preference preferences {_AVOIDED}",
    Field.AVOID: f"preference preferences {_AVOIDED}",
    Field.ALLERGY: f"preference preferences health {_AVOIDED}",
    Field.DIET: "diet preference preferences",
    Field.HABIT: "habits habit routines routine preference preferences",
    Field.RELATION: "relationships relationship family friends pets people",
}
"""Words of a schema's field by which it takes a kind of fact."""
_TAKES: Final = {kind: frozenset(words.split()) for kind, words in _FIELD_WORDS.items()}
_MANY: Final = frozenset(
    f"{_TASTES} {_AVOIDED} relationships relationship family friends pets people goals goal aims sizes health diet".split()
)
_FIRST_PERSON_LINE: Final = re.compile(r"^my\b", re.IGNORECASE)
_PREFIXES: Final = {
    Field.LIKE: ("likes ",),
    Field.DISLIKE: ("dislikes ",),
    Field.ALLERGY: ("allergic to ",),
    Field.AVOID: ("doesn't ", "avoids "),
}
"""How the lines of a field with several kinds of fact begin."""
_ANIMAL_DIETS: Final = frozenset(
    ["vegan", "vegetarian", "veggie", "pescatarian", "pescetarian", "flexitarian", "omnivore", "carnivore", "plant-based", "fruitarian"]
)
"""Diets of which one has one at a time."""
_RELATIONS: Final = {
    Field.NAME: "is called",
    Field.HOME: "lives in",
    Field.OCCUPATION: "works as",
    Field.EMPLOYER: "works at",
    Field.AGE: "is aged",
    Field.LIKE: "likes",
    Field.DISLIKE: "dislikes",
    Field.AVOID: "avoids",
    Field.ALLERGY: "is allergic to",
}
"""The relation that a kind of fact states. Any other: ``has`` and the field's name."""
_VERBS: Final = ("likes", "dislikes", "avoids")
"""Names of fields that are relations themselves."""


@dataclass(frozen=True, slots=True)
class LineEdit:
    """A change of a field's text."""

    search: str
    """The line to replace; empty: a line is added."""
    replace: str
    """The new line; empty: the line is removed."""
    message: int
    """Index of the statement's message."""


def edits_of(field: EntityProperty, lines: Sequence[str], facts: Sequence[PlainFact], endings: Sequence[Ending]) -> Iterator[LineEdit]:
    """The edits that statements make to a field, in the order of the messages. A field that takes no kind of fact is not edited.

    A field with one value is replaced, but a name by which others call the user replaces no name of another message, and only a
    field for nicknames takes a nickname. A field with many values gets another line, unless it has that line already; the line of the
    opposite taste is replaced. A line that the user ends is removed.

    Args:
        field: The field.
        lines: Its current lines.
        facts: What the user states about themselves.
        endings: Clauses that may end facts. Those of a message are applied before its facts.
    """
    kinds = _kinds_of(field)
    if not kinds:
        return
    takes_nicknames = "nickname" in name_words(field.name)
    current = {line.casefold(): line for line in lines}
    statements: list[PlainFact | Ending] = sorted(
        (*endings, *(each for each in facts if each.field in kinds and (takes_nicknames or not each.is_nickname))),
        key=lambda each: (each.message, isinstance(each, PlainFact)),
    )
    stated_in: int | None = None
    """The message of the newest value."""
    for statement in statements:
        if isinstance(statement, Ending):
            yield from _removals(current, kinds, statement)
        elif not (statement.by_others and current and holds_one(field) and statement.message != stated_in):
            yield from _addition(current, field, statement)
            stated_in = statement.message


def holds_one(field: EntityProperty) -> bool:
    """Whether a field has one value, which a new one replaces; else it has a line for each value."""
    return not field.value_type.startswith("list") and not set(name_words(field.name)) & _MANY


def relation_of_line(field: EntityProperty, line: str) -> tuple[str, str] | None:
    """The relation between a person and a value that a line of their profile states: ``lives in``, ``Oslo``.

    Args:
        field: The line's field.
        line: A line that :func:`edits_of` wrote.

    Returns:
        None if the field takes no kind of fact.
    """
    kinds = _kinds_of(field)
    if not kinds:
        return None
    kind, value = _kind_of_line(line, kinds)
    if kind is Field.RELATION and ": " in value:
        relation, _, name = value.partition(": ")
        return f"has {relation}", name
    if kind is Field.AVOID and line.startswith("doesn't "):
        verb, _, avoided = value.partition(" ")
        return (f"doesn't {verb}", avoided) if avoided else ("doesn't", verb)
    named = field.name if field.name in _VERBS else f"has {field.name.replace('_', ' ')}"
    is_certain = len(kinds) == 1 or value != line
    return (_RELATIONS.get(kind, named) if is_certain else named), value


def _removals(current: dict[str, str], kinds: Sequence[Field], ending: Ending) -> Iterator[LineEdit]:
    for key, line in list(current.items()):
        kind, value = _kind_of_line(line, kinds)
        relation, _, name = value.partition(": ") if kind is Field.RELATION else ("", "", value)
        if ending.ends(kind, name, relation=relation):
            del current[key]
            yield LineEdit(line, "", ending.message)


def _addition(current: dict[str, str], field: EntityProperty, fact: PlainFact) -> Iterator[LineEdit]:
    line = shortened(_line(fact, field), LONGEST_PATCH)
    if line.casefold() in current:
        return
    former = _former_diet(fact, current) or _opposite(fact, line)
    replaced = current.get(next(reversed(current)), "") if current and holds_one(field) else current.get(former, "")
    yield LineEdit(replaced, line, fact.message)
    if len(replaced) > LONGEST_PATCH:
        return  # no patch can replace it
    current.pop(replaced.casefold(), None)
    if holds_one(field):
        current.clear()
    current[line.casefold()] = line


def _kind_of_line(line: str, kinds: Sequence[Field]) -> tuple[Field, str]:
    """The kind of fact that a line of a field states, and its value: the inverse of :func:`_line`."""
    for kind, prefixes in _PREFIXES.items():
        for prefix in prefixes:
            if kind in kinds and line.startswith(prefix):
                return kind, line.removeprefix(prefix)
    return next((each for each in kinds if each not in _PREFIXES), kinds[0]), line


def _former_diet(fact: PlainFact, current: Mapping[str, str]) -> str:
    """The case-folded line of the diet that a diet replaces: nobody is vegetarian and pescatarian; empty if there is none."""
    if fact.field is not Field.DIET or fact.value.casefold() not in _ANIMAL_DIETS:
        return ""
    return next((each for each in current if each in _ANIMAL_DIETS), "")


def _opposite(fact: PlainFact, line: str) -> str:
    """The case-folded line of the opposite taste: "likes tea" for "dislikes tea"; empty if there is none."""
    pairs = {Field.LIKE: ("likes ", "dislikes "), Field.DISLIKE: ("dislikes ", "likes ")}
    own, other = pairs.get(fact.field, ("", ""))
    return f"{other}{line.removeprefix(own)}".casefold() if own and line.startswith(own) else ""


def _kinds_of(field: EntityProperty) -> list[Field]:
    """The kinds of facts that a field takes."""
    parts = name_words(field.name)
    words = {"_".join(parts), *parts}
    return [kind for kind in Field if not words.isdisjoint(_TAKES[kind])]


def _line(fact: PlainFact, field: EntityProperty) -> str:
    """The line for a fact. A field for what is avoided, or with one value, takes the bare value."""
    words = set(name_words(field.name))
    if fact.field is Field.RELATION:
        return f"{fact.relation}: {fact.value}"
    if holds_one(field) or (fact.field in (Field.AVOID, Field.DISLIKE) and words & {"avoids", "dislikes", "restrictions"}):
        return fact.value
    match fact.field:
        case Field.LIKE:
            return (
                _FIRST_PERSON_LINE.sub("", fact.value).strip()
                if _FIRST_PERSON_LINE.match(fact.value) and " is " in fact.value
                else f"likes {fact.value}"
            )
        case Field.DISLIKE:
            return f"dislikes {fact.value}"
        case Field.AVOID:
            return f"doesn't {fact.verb} {fact.value}" if fact.verb else f"avoids {fact.value}"
        case Field.ALLERGY:
            return f"allergic to {fact.value}"
        case _:
            return fact.value
