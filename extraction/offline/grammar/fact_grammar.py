"""The grammar of plain statements: the kinds of facts, and the form of a clause that states one.

A clause is read from its first word: the first person, a verb of the grammar, a value, and then the clause's end or a word that begins an
adjunct. Negation, past and future need no rules: their verbs are in no form.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from extraction.offline.grammar.clause_parts import PARTS
from extraction.offline.grammar.patterns import template
from extraction.offline.grammar.value_patterns import CLAUSE_END, SINCE


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
    LEARNING = auto()
    """How somebody learns best."""
    LIKE = auto()
    DISLIKE = auto()
    AVOID = auto()
    ALLERGY = auto()
    DIET = auto()
    HABIT = auto()
    """An act that somebody does regularly, in their words: "swim every Monday"."""
    RELATION = auto()


@dataclass(frozen=True, slots=True)
class Form:
    """A form of clause and the kind of fact that it states."""

    field: Field
    pattern: str
    """Matches the clause, whatever its case."""
    place_evidence: float | None = None
    needs_greeting: bool = False
    """Whether the sentence must begin with a greeting: "I'm Ann" alone may be "I'm Dutch"."""
    needs_occupation: bool = False
    """Whether the value must be a noun that names an occupation."""
    by_others: bool = False
    """Whether it says what others call the writer: that may be a nickname."""
    is_nickname: bool = False
    """Whether it says that a name is a nickname, or that only the people of one place use it."""


DECLARED_PLACE: Final = -0.11
MOVED_PLACE: Final = -0.04
"""Least similarities: "I live in" nearly always names a place; "I moved to" may name a tool, a team or a seat."""


def form(
    field: Field,
    text: str,
    value: str,
    after: str = "",
    *,
    place: float | None = None,
    greeted: bool = False,
    job: bool = False,
    lasting: bool = False,
    by_others: bool = False,
    nickname: bool = False,
) -> Form:
    """A form: a template, its value, and a pattern for what must follow; by default the clause's end."""
    pattern = (SINCE if lasting else "") + template(text, PARTS) + rf"(?P<value>{value})"
    return Form(field, pattern + (after or CLAUSE_END), place, greeted, job, by_others, nickname)
