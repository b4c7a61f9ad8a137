"""Laughter around a statement: whether it makes a joke of it."""

import re
from collections.abc import Sequence
from typing import Final

from extraction.offline.factuality.mood_patterns import LAUGHTER
from extraction.offline.grammar.fact_grammar import Field
from extraction.offline.grammar.patterns import cue, listed
from memory.texts.prefiltered_patterns import compiled

_JOKED: Final = frozenset({Field.NAME, Field.OCCUPATION, Field.EMPLOYER, Field.LIKE, Field.AGE, Field.GOAL})
"""Kinds of facts that people joke about: "I'm a professional napper lol"."""
_STATED_APART: Final = frozenset({Field.OCCUPATION, Field.EMPLOYER, Field.AGE})
"""Kinds of facts of which a laughing clause with another subject makes no joke: "I'm a nurse, my feet hate it lol"."""
_NAMED: Final = compiled(
    r"(?:(?:my (?:(?:full|first|real|given) )?name|name)(?:['’]?s| is)|(?:i['’]?m|i am) (?:called|named)|i go by"
    r"|(?:everyone|everybody|people|friends) calls? me)\b",
    re.IGNORECASE,
)
_DAFT: Final = cue(
    listed("""
    king, queen, princess, prince, captain, master, lord, lady, mr, mrs, miss, sir, boss, professor, genius, legend, trouble,
    danger, potato,
    banana, pickle, muffin, pumpkin, chaos, hungry, tired, lazy, sleepy, grumpy, clumsy, nobody, anonymous, loser, awesome, fabulous, error,
    sherlock, batman, gandalf, dracula, voldemort, elvis, beyonce, madonna, einstein, picasso, mozart, napoleon, cleopatra, zeus
""")
)
"""Words of names that people give themselves as a joke."""
_NAME_WORDS: Final = 2
_ANOTHER_SUBJECT: Final = re.compile(
    r"\W*(?:(?:and|but|so|though)\s+)?(?:my|our|his|her|their|the|nobody|no one|everyone|everybody|people|he|she|they)\b", re.IGNORECASE
)
_LAUGHS_AT_END: Final = compiled(r"(?:[\s,]+(?:lol|lmao|(?:ha){2,}|(?:he){2,}|xd))+$", re.IGNORECASE)


def may_joke(field: Field, value: str, stated: Sequence[str], following: Sequence[str]) -> bool:
    """Whether laughter in or after a sentence may make a joke of a fact in it.

    It makes none of a name that is stated as one, and none of a job if a later clause about something else laughs.

    Args:
        field: The kind of the fact.
        value: Its value.
        stated: The clauses of the sentence up to the one that states the fact; the last one without its opening.
        following: The clauses after it.
    """
    if field not in _JOKED:
        return False
    if field is Field.NAME:
        return _NAMED.match(stated[-1]) is None or not _is_usual_name(value)
    laughing = next((clause for clause in following if LAUGHTER.search(clause) is not None), None)
    laughs_before = any(LAUGHTER.search(clause) is not None for clause in stated)
    return laughs_before or laughing is None or field not in _STATED_APART or _ANOTHER_SUBJECT.match(laughing) is None


def without_laughter(value: str) -> str:
    """A value without the laughter at its end."""
    return _LAUGHS_AT_END.sub("", value)


def _is_usual_name(value: str) -> bool:
    return len(value.split()) <= _NAME_WORDS and _DAFT.search(value) is None
