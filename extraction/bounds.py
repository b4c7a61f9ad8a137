"""Limits of an extraction: it has to fit into one record, however large the window or the answer is."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from pydantic import JsonValue

from extraction.drafts import Draft, DropCounter, PatchDraft
from memory.records import Extraction
from memory.texts.text import shortened

T = TypeVar("T")

MAX_ITEMS: Final = 200
"""Events, patches and segments, each: more than any window holds."""
MAX_EVIDENCE: Final = 20
"""Most messages in the evidence of an event or a patch."""
MAX_KEYWORDS: Final = 12

LONGEST_TOPIC: Final = 200
LONGEST_CONTENT: Final = 2000
LONGEST_SAID: Final = 600
"""Characters of the quoted message of a model's event: about as many tokens as one event of the offline extractor."""
LONGEST_PATCH: Final = 2000
"""Characters of a patch's search text, and of its replacement."""
LONGEST_SEARCHES: Final = 20_000
"""Characters of all search texts of a window together, since each is searched for."""
LONGEST_KEYWORD: Final = 80
LONGEST_SPEAKER: Final = 100
"""Characters of a speaker's name, which replaces each "I" in a search text."""
LONGEST_EXTRACTION: Final = 900_000
"""In bytes: below the largest record that the log takes."""

_RETAINED_SHARE: Final = 0.75


def bounded_value(value: JsonValue) -> JsonValue:
    """A property's value, its texts no longer than a content may be."""
    if isinstance(value, str):
        return shortened(value, LONGEST_CONTENT)
    if isinstance(value, list):
        return [bounded_value(each) for each in value[:MAX_ITEMS]]
    return value


def bounded_searches(patches: Sequence[PatchDraft], tally: DropCounter) -> list[PatchDraft]:
    """The patches, in their order, without those whose search texts are too long together; they are counted as ``too_much_search``.

    Args:
        patches: The patches of an answer.
        tally: Counts what is left out.
    """
    kept: list[PatchDraft] = []
    searched = 0
    for patch in patches:
        if searched + len(patch.search) <= LONGEST_SEARCHES:
            searched += len(patch.search)
            kept.append(patch)
    tally.drop("patch", "too_much_search", len(patches) - len(kept))
    return kept


def most_important(items: Sequence[T], weights: Sequence[float], *, most: int = MAX_ITEMS) -> list[T]:
    """At most so many items, those of the greatest weights, in their order; of equals the first.

    Args:
        items: The items to choose from.
        weights: One for each item.
        most: How many are chosen at most.
    """
    heaviest = sorted(range(len(items)), key=lambda index: -weights[index])[:most]
    return [items[index] for index in sorted(heaviest)]


def build_bounded(draft: Draft, build: Callable[[Draft], Extraction], *, most_bytes: int = LONGEST_EXTRACTION) -> Extraction:
    """The extraction of a draft, without the least important events where it would be too large; they are counted as ``too_many``.

    Args:
        draft: The draft.
        build: Makes the extraction.
        most_bytes: How large it may be, serialised.
    """
    while True:
        extraction = build(draft)
        if len(extraction.to_json()) <= most_bytes or not (draft.events or draft.patches):
            return extraction
        events = most_important(draft.events, [each.importance for each in draft.events], most=int(len(draft.events) * _RETAINED_SHARE))
        patches = draft.patches if draft.events else draft.patches[: int(len(draft.patches) * _RETAINED_SHARE)]
        draft.tally.drop("event", "too_many", len(draft.events) - len(events))
        draft.tally.drop("patch", "too_many", len(draft.patches) - len(patches))
        draft = replace(draft, events=tuple(events), patches=patches)
