"""Applies one SEARCH/REPLACE patch to a text (VikingMem 3.1, Algorithm 1).

The algorithm differs from the paper's in four ways. An empty SEARCH appends a line, or creates the text; the paper skips it. A patch
whose best span is less similar than :data:`MIN_SIMILARITY`, has other numbers, or ends inside a word is refused; the paper would overwrite
unrelated text. So is one whose SEARCH is in several lines: nobody knows which fact it means. Marks of JSON that a model puts around SEARCH
and REPLACE are taken off (:mod:`operators.patches.json_artifacts`).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from pydantic import JsonValue

from memory.schema.coerce import coerce_value
from memory.schema.model import ValueType
from memory.texts.scripts import SCRIPTS_WITHOUT_SPACES
from operators.errors import RefusedChangeError
from operators.patches.approximate_span import Span, best_approximate_span
from operators.patches.json_artifacts import clean_replacement, variants
from operators.work import WorkBudget

MIN_SIMILARITY: Final = 0.75
"""The least ``1 - distance / len(search)`` at which a patch is applied."""
MAX_TEXT: Final = 4000
"""The longest text, SEARCH or REPLACE, in characters."""
_NUMBER: Final = re.compile(r"\d+")
_EDIT_UNITS: Final = 10
"""Units of work per character of a text and its patch, in addition to the search. A patch without SEARCH costs nothing."""
_PLACE_UNITS: Final = 200
"""Cost of each place of a search, to see whether it is the only one that can be meant."""
_SPELLING_UNITS: Final = 30
"""Units of work per character of a patch for all its variants without JSON artifacts together."""
_INSIDE_WORD: Final = re.compile(rf"[^\W_{SCRIPTS_WITHOUT_SPACES}]{{2}}")


class Nearness(NamedTuple):
    """Degree to which a SEARCH matched the span that its patch edited."""

    distance: int
    """In edits."""
    cuts: int
    """How many words the ends of the span cut."""


UNKNOWN: Final = Nearness(MAX_TEXT, 2)
"""Nearness of a patch whose state has none: any span that is similar enough is accepted."""


@dataclass(frozen=True, slots=True)
class Patch:
    """One patch; ``time`` is its event time in microseconds. Patches of equal times keep the order in which they came."""

    time: int
    id: str
    search: str | None
    """None: the patch replaces the whole text; manual corrections do so."""
    replace: str
    nearness: Nearness | None = None
    """When it was first applied: if its own text was removed, it edits no text that is less similar. None: it was not applied yet."""
    offset: int = 0
    """The UTC offset of its time, in microseconds."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The result of applying a patch to a text."""

    text: str
    nearness: Nearness | None = None
    """Nearness of the patch's SEARCH; None: it has no SEARCH."""


def value_of(text: str, value_type: ValueType) -> JsonValue | None:
    """A text as a value: each line of a list is an item; None if the text is not of the type, or empty."""
    if not text.strip():
        return None
    if value_type.startswith("list"):
        return coerce_value([line.strip() for line in text.splitlines() if line.strip()], value_type)
    return coerce_value(text, value_type)


def edit(text: str, patch: Patch, value_type: ValueType = "string", work: WorkBudget | None = None) -> Edit:
    """Applies one patch to a text (VikingMem 3.1, Algorithm 1, lines 3 to 7).

    Args:
        text: The text before.
        patch: The patch to apply.
        value_type: Value type of the property.
        work: Pays for the search; None: the patch has its own allowance.

    Raises:
        RefusedChangeError: ``no_similar_span``, ``ambiguous_search``, ``text_too_long``, ``not_int64`` or its like if the text would not be
            of the type, and ``patch_too_costly`` or ``contribution_too_costly`` if the search costs more than is left.
    """
    work = work or WorkBudget()
    if patch.search:
        work.spend(_EDIT_UNITS * (len(text) + len(patch.search) + len(patch.replace)))
    nearness: Nearness | None = None
    if patch.search is None:
        new = patch.replace
    elif patch.search:
        new, nearness = _with_replaced(text, patch, value_type, work)
    else:
        new = _with_added(text, patch.replace, value_type)
    if value_type != "string":
        new = text_of_value(value_of(new, value_type), value_type) if new.strip() else ""
    if len(new) > MAX_TEXT:
        raise RefusedChangeError("text_too_long")
    if new.strip() and value_of(new, value_type) is None:
        raise RefusedChangeError(f"not_{value_type}")
    return Edit(new, nearness)


def _with_replaced(text: str, patch: Patch, value_type: ValueType, work: WorkBudget) -> tuple[str, Nearness]:
    """The text with the patch's SEARCH replaced, and how near the replaced piece was to it."""
    span, replace = located(text, spellings(patch, value_type, work), patch.nearness, work)
    if patch.nearness is None:
        span = _only_place(text, span, work)
    replace = clean_replacement(replace, search=text[span.start : span.end], text=text, value_type=value_type)
    new = f"{text[: span.start]}{replace}{text[span.end :]}" if replace else _without_span(text, span)
    return new, _nearness(text, span)


def _with_added(text: str, added: str, value_type: ValueType) -> str:
    """The text with a further line, unless it has that line; for a type with a single value, the new value."""
    added = clean_replacement(added, search="", text=text, value_type=value_type)
    if not text or not (value_type == "string" or value_type.startswith("list")):
        return added
    return text if f"\n{added}\n" in f"\n{text}\n" else f"{text}\n{added}"


def _without_span(text: str, span: Span) -> str:
    """A text without a piece of it; where the piece is a whole line, that leaves no blank line."""
    before, after = text[: span.start], text[span.end :]
    if after.startswith("\n") and (not before or before.endswith("\n")):
        return before + after[1:]
    return before.removesuffix("\n") if not after else before + after


def spellings(patch: Patch, value_type: ValueType, work: WorkBudget) -> Iterator[tuple[str, str]]:
    """The ways to read a patch's SEARCH and REPLACE: as given, then without marks of JSON.

    Args:
        patch: With a SEARCH.
        value_type: Value type of the property.
        work: Pays for all but the first.
    """
    all_spellings = variants(patch.search or "", patch.replace, value_type)
    yield next(all_spellings)
    work.spend(_SPELLING_UNITS * (len(patch.search or "") + len(patch.replace)))
    yield from all_spellings


def located(text: str, pairs: Iterable[tuple[str, str]], first: Nearness | None, work: WorkBudget) -> tuple[Span, str]:
    """The place of a patch's SEARCH in a text, and its REPLACE, both in the nearest spelling.

    Args:
        text: The text.
        pairs: The patch's :func:`spellings`.
        first: The distance of the SEARCH when the patch was first applied; None: it was not applied yet.
        work: Pays for the search.

    Raises:
        RefusedChangeError: ``no_similar_span``, or as :meth:`operators.work.WorkBudget.spend`.
    """
    best: tuple[Span, str] | None = None
    for search, replace in pairs:
        span = best_approximate_span(text, search, max_distance=int((1 - MIN_SIMILARITY) * len(search)), work=work)
        if span is None or not _is_meant(text, span, search, first):
            continue
        if best is None or span.distance < best[0].distance:
            best = span, replace
        if span.distance == 0:
            break
    if best is None:
        raise RefusedChangeError("no_similar_span")
    return best


def _is_meant(text: str, span: Span, search: str, first: Nearness | None) -> bool:
    """Whether a patch may edit the nearest span: similar text may be another fact.

    Args:
        text: The text.
        span: The part of it that is nearest.
        search: The searched text.
        first: The distance of the patch's SEARCH when it was first applied.
    """
    found = _nearness(text, span)
    if first is not None and (found.distance > first.distance or found.cuts > first.cuts):
        return False
    if first == UNKNOWN or not found.distance:
        return True
    return not found.cuts and _NUMBER.findall(text[span.start : span.end]) == _NUMBER.findall(search)


def _only_place(text: str, span: Span, work: WorkBudget) -> Span:
    """The place that a SEARCH means: of several, the one that is a whole line, or else the one that cuts no word.

    Raises:
        RefusedChangeError: ``ambiguous_search``, if different lines remain.
    """
    found = text[span.start : span.end]
    work.spend(_PLACE_UNITS * text.count(found))
    places = [Span(each.start(), each.end(), span.distance) for each in re.finditer(re.escape(found), text)]
    whole_lines = [each for each in places if _lines_around(text, each) == found]
    whole_words = [each for each in places if not _nearness(text, each).cuts]
    meant = whole_lines or whole_words or places
    if len({_lines_around(text, each) for each in meant}) > 1:
        raise RefusedChangeError("ambiguous_search")
    return meant[0]


def _lines_around(text: str, span: Span) -> str:
    """The whole lines that a span is in."""
    end = text.find("\n", span.end)
    return text[text.rfind("\n", 0, span.start) + 1 : len(text) if end < 0 else end]


def _nearness(text: str, span: Span) -> Nearness:
    return Nearness(span.distance, sum(_INSIDE_WORD.match(text, at - 1) is not None for at in (span.start, span.end) if at))


def text_of_value(value: JsonValue | None, value_type: ValueType) -> str:
    """The text of a value in the prompt, so that a SEARCH copied from there is found: ``true`` for a ``yes``, no blank lines in a list."""
    texts = [coerce_value(each, "string") for each in (value if isinstance(value, list) else [value])]
    if not all(isinstance(each, str) for each in texts):
        raise RefusedChangeError(f"not_{value_type}")
    return "\n".join(map(str, texts))
