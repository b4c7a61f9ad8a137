"""How much of RealMem's gold memories an extraction stored, and how much of what it stored the messages do not support.

Words are compared, no model judges. The terms of a text are those of :func:`memory.texts.terms.terms_of` (folded, without stop words,
English words stemmed) without ``user`` and ``assistant``, which gold memories add; a number and its unit are two terms (``75kg``).

- A gold memory is *covered* if the three stored items of its session that share most terms with it have together at least
  :data:`COVERED_SHARE` of its terms. Its heading in brackets does not count.
- A stored item is *unsupported* if less than :data:`SUPPORTED_SHARE` of its terms, or not every number, is in its window's messages.
  Dates do not count, since an extractor works them out.

Items are the events' contents and the texts that patches write. An unsupported item may be a correct paraphrase, and a supported one may
be false: the report lists the unsupported items to be read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evaluation.realmem.dataset import Session, User
from memory.records import Extraction
from memory.texts.terms import terms_of

COVERED_SHARE: Final = 0.5
"""Agreed with a judge on 113 of 126 gold memories (two extractions of 16 sessions); with 0.6 on 103, since paraphrases were missed."""
SUPPORTED_SHARE: Final = 0.6
_ITEMS: Final = 3
_LISTED: Final = 50
_ADDED_TERMS: Final = frozenset(terms_of("user users assistant"))
_HEADING: Final = re.compile(r"^\s*【[^】]*】")
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE: Final = re.compile(
    rf"\b\d{{4}}-\d\d(?:-\d\d)?\b|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? \d{{4}})?|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b"
    rf"(?:,? \d{{4}})?|\b{_MONTH} \d{{4}}\b",
    re.IGNORECASE,
)
_UNIT: Final = re.compile(r"(?<=\d)(?=[^\W\d_])")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Coverage:
    """One session's gold memories and stored items."""

    session: str
    covered: tuple[str, ...]
    missed: tuple[str, ...]
    supported: tuple[str, ...]
    unsupported: tuple[str, ...]


def coverage_of(user: User, extractions: Mapping[str, Extraction]) -> list[Coverage]:
    """Compares each session's extractions with its gold memories and with its messages.

    Args:
        user: The sessions.
        extractions: By window id.
    """
    return [_of_session(session, extractions) for session in user.sessions]


def _of_session(session: Session, extractions: Mapping[str, Extraction]) -> Coverage:
    items: dict[str, bool] = {}
    for window in session.windows:
        if window.id in extractions:
            messages = " ".join(each.text for each in window.messages)
            for item in items_of(extractions[window.id]):
                items[item] = is_supported(item, messages)
    gold = {each.content: is_covered(each.content, list(items)) for each in session.gold}
    return Coverage(
        session.id,
        covered=tuple(text for text, found in gold.items() if found),
        missed=tuple(text for text, found in gold.items() if not found),
        supported=tuple(text for text, found in items.items() if found),
        unsupported=tuple(text for text, found in items.items() if not found),
    )


def items_of(extraction: Extraction) -> Iterator[str]:
    """The contents of events and the texts that patches write."""
    for event in extraction.events:
        yield event.content
    for patch in extraction.patches:
        if patch.replace.strip():
            yield patch.replace


def is_covered(gold: str, items: Sequence[str]) -> bool:
    """Whether stored items of a session have most of a gold memory's terms.

    Args:
        gold: The memory.
        items: All items of its session.
    """
    wanted = _terms(_HEADING.sub("", gold))
    shared = sorted((wanted & _terms(item) for item in items), key=len, reverse=True)
    found = frozenset[str]().union(*shared[:_ITEMS])
    return bool(wanted) and len(found) >= COVERED_SHARE * len(wanted)


def is_supported(item: str, messages: str) -> bool:
    """Whether messages have the numbers and most of the terms of a stored item.

    Args:
        item: The item.
        messages: The texts of its window.
    """
    bare = _DATE.sub(" ", item)
    terms = _terms(bare)
    has_words = len(terms & _terms(messages)) >= SUPPORTED_SHARE * len(terms)
    return has_words and set(_NUMBER.findall(bare)) <= set(_NUMBER.findall(messages))


def _terms(text: str) -> frozenset[str]:
    return frozenset(terms_of(_UNIT.sub(" ", text))) - _ADDED_TERMS


def coverage_report(coverages: Sequence[Coverage]) -> dict[str, Any]:
    """The shares over all sessions, and the first missed memories and unsupported items.

    Args:
        coverages: Coverages of each session.
    """
    covered, missed = (sum(len(getattr(each, name)) for each in coverages) for name in ("covered", "missed"))
    supported, unsupported = (sum(len(getattr(each, name)) for each in coverages) for name in ("supported", "unsupported"))
    return {
        "gold": covered + missed,
        "covered": covered,
        "covered_share": round(covered / (covered + missed), 4) if covered + missed else None,
        "items": supported + unsupported,
        "unsupported": unsupported,
        "unsupported_share": round(unsupported / (supported + unsupported), 4) if supported + unsupported else None,
        "missed_memories": [{"session": each.session, "text": text} for each in coverages for text in each.missed][:_LISTED],
        "unsupported_items": [{"session": each.session, "text": text} for each in coverages for text in each.unsupported][:_LISTED],
    }
