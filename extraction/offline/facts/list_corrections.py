"""Corrections that drop one thing of a list: "I'm allergic to figs and oats." / "Forget the oats, that's my cousin."."""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.words.people import RELATIVES

_OPENER: Final = (
    r"^\W*(?:(?:no|nope|wait|sorry|oh|oops|whoops|ah|actually|hm+|um|well|hang on|hold on|correction|ok|okay"
    r"|and|but|so|please|my mistake|edit"
    r"|my bad)\W+)*"
)
_ITEM: Final = r"(?:the |my )?(?P<item>(?!(?:the|that|this|it|what|about|i)\b)[\w'’-]+(?: [\w'’-]+)?)"
_DROPPING: Final = any_of(
    listed("""
    forget, forget about, scratch, strike, drop, ignore, remove, leave out, delete, take out, cross out, omit, disregard, take back, not,
    without
""")
)
_DROPPED: Final = re.compile(
    rf"{_OPENER}{_DROPPING} {_ITEM}(?: (?:part|bit|again|one|from (?:that|the) list|from that))?\s*(?:[,.;:!(–—-].*)?$",
    re.IGNORECASE | re.DOTALL,
)
_OTHERS: Final = re.compile(
    rf"{_OPENER}{_ITEM}(?: (?:is|are|was|were)|['’]s) (?:only |actually |just |really )?my (?:\w+ )?{any_of(RELATIVES)}\b(?:['’]s)?",
    re.IGNORECASE,
)
"""Says whose the thing is: "the oats are my cousin's"."""
_JOINT: Final = re.compile(r",\s*(?:and |or )?|\s+(?:and|or|&)\s+", re.IGNORECASE)
_DETERMINER: Final = re.compile(r"^(?:the|my|any|some|to)\s+", re.IGNORECASE)


def dropped_item(text: str) -> str | None:
    """The thing that a sentence drops from what was said before it; None if it drops nothing."""
    found = _DROPPED.match(text) or _OTHERS.match(text)
    return None if found is None else found["item"]


def without_item(value: str, item: str) -> str | None:
    """A value without one thing of its list: empty if it was the only one, None if the value does not have the thing.

    Args:
        value: Of a fact, such as "figs and oats".
        item: The thing, such as "oats".
    """
    items = [_DETERMINER.sub("", each.strip()) for each in _JOINT.split(value)]
    kept = [each for each in items if _stem(each) != _stem(item)]
    if len(kept) == len(items):
        return None
    return kept[0] if len(kept) == 1 else f"{', '.join(kept[:-1])} and {kept[-1]}" if kept else ""


def _stem(word: str) -> str:
    return word.casefold().removesuffix("s")
