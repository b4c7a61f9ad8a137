"""How much an extraction may hold, whatever a window holds: it has to fit into one record."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from pydantic import JsonValue

from extraction.drafts import Draft
from extraction.one_pass.answer.reading import LONGEST_CONTENT, MAX_ITEMS
from memory.records import Extraction

T = TypeVar("T")

LONGEST_SPEAKER: Final = 100
"""A speaker's name stands wherever they speak of themselves."""
LONGEST_EXTRACTION: Final = 900_000
"""In bytes: below the largest record that the log takes."""

_KEPT_SHARE: Final = 0.75


def shortened(text: str, longest: int) -> str:
    """The text in at most so many characters; an ellipsis tells where it was cut."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def bounded_value(value: JsonValue) -> JsonValue:
    """A property's value, its texts no longer than a content may be."""
    if isinstance(value, str):
        return shortened(value, LONGEST_CONTENT)
    if isinstance(value, list):
        return [bounded_value(each) for each in value[:MAX_ITEMS]]
    return value


def most_important(items: Sequence[T], weights: Sequence[float], *, most: int = MAX_ITEMS) -> list[T]:
    """At most so many items, those of the greatest weights, in their order; of equals the first."""
    heaviest = sorted(range(len(items)), key=lambda place: -weights[place])[:most]
    return [items[place] for place in sorted(heaviest)]


def fitting(draft: Draft, laid_down: Callable[[Draft], Extraction], *, most_bytes: int = LONGEST_EXTRACTION) -> Extraction:
    """The extraction of a draft, without the least important events where it would be too large; they are counted as ``too_many``.

    Args:
        draft: What was found.
        laid_down: Makes the extraction.
        most_bytes: How large it may be, serialised.
    """
    while True:
        extraction = laid_down(draft)
        if len(extraction.to_json()) <= most_bytes or not (draft.events or draft.patches):
            return extraction
        events = most_important(draft.events, [each.importance for each in draft.events], most=int(len(draft.events) * _KEPT_SHARE))
        patches = draft.patches if draft.events else draft.patches[: int(len(draft.patches) * _KEPT_SHARE)]
        draft.tally.drop("event", "too_many", len(draft.events) - len(events))
        draft.tally.drop("patch", "too_many", len(draft.patches) - len(patches))
        draft = replace(draft, events=tuple(events), patches=patches)
