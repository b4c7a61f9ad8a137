"""PATCH: a text that SEARCH/REPLACE patches edit, without an LLM (VikingMem 3.1, Algorithm 1).

A state is a base text and the newest patches, which are replayed over the base in the order of their event times. So a late patch is
applied at its own time, and a retracted one leaves no trace. The oldest patches settle: they are merged into the base and cannot be
retracted any more. A patch whose SEARCH is not found, because the text it edited was retracted, has no effect until that text returns.

The algorithm differs from the paper's in three ways. An empty SEARCH appends a line, or creates the text; the paper skips it. A patch
whose best span is less similar than :data:`MIN_SIMILARITY` is refused; the paper would overwrite unrelated text. Marks of JSON that a
model puts around SEARCH and REPLACE are taken off (:mod:`operators.json_artifacts`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from memory.schema.coerce import coerce_value
from memory.schema.model import ValueType
from operators.approximate_span import Span, best_approximate_span
from operators.errors import RefusedChangeError
from operators.json_artifacts import clean_replacement, variants

MIN_SIMILARITY: Final = 0.75
"""The least ``1 - distance / len(search)`` at which a patch is applied."""
MAX_TEXT: Final = 4000
"""The longest text, SEARCH or REPLACE, in characters."""
MAX_RECENT: Final = 16
"""Patches that can be retracted."""
MAX_RECENT_TEXT: Final = 16_000
"""Their characters in all."""

State = dict[str, Any]
"""``base``, ``recent`` patches as ``[time, id, search, replace]``, the resulting ``text``, and ``settled``: the newest time in the base."""


@dataclass(frozen=True, slots=True)
class Patch:
    """One patch; ``time`` is its event time in microseconds. Patches of equal times keep the order in which they came."""

    time: int
    id: str
    search: str | None
    """None: the whole text is replaced, whatever it is: so people correct."""
    replace: str


def patch_of(value: object, *, time: int, source_id: str) -> Patch:
    """The patch that a change carries.

    Args:
        value: ``{"search": ..., "replace": ...}``; without ``search`` it is appended, with null it replaces the whole text.
        time: The change's event time in microseconds.
        source_id: Names the patch.

    Raises:
        RefusedChangeError: ``not_a_patch``, ``empty_patch`` or ``patch_too_long``.
    """
    search, replace = (value.get("search", ""), value.get("replace")) if isinstance(value, Mapping) else (None, None)
    if not isinstance(value, Mapping) or not isinstance(search, str | None) or not isinstance(replace, str):
        raise RefusedChangeError("not_a_patch")
    if search == "" and not replace.strip():
        raise RefusedChangeError("empty_patch")
    if max(len(search or ""), len(replace)) > MAX_TEXT:
        raise RefusedChangeError("patch_too_long")
    return Patch(time, source_id, search, replace)


def apply(state: State | None, patch: Patch, value_type: ValueType) -> State:
    """Applies a patch at its own time.

    Args:
        state: The state so far; None if there is none.
        patch: What to apply.
        value_type: Of the property.

    Raises:
        RefusedChangeError: ``no_similar_span``, ``text_too_long``, ``not_int64`` or its like if the text would not be of the type, or
            ``patch_known`` if the patch was applied already.
    """
    base, recent, settled = _unpack(state)
    if any(each.id == patch.id for each in recent):
        raise RefusedChangeError("patch_known")
    before = [each for each in recent if each.time <= patch.time]
    after = recent[len(before) :]
    text_before = _replayed(base, before, value_type) if after or state is None else text_of(state)
    text = edited(text_before, patch, value_type)
    return _settled(base, [*before, patch, *after], settled, _replayed(text, after, value_type), value_type)


def retract(state: State | None, patch: Patch, value_type: ValueType) -> State | None:
    """Retracts a patch.

    Args:
        state: The state so far; None if there is none.
        patch: What to retract.
        value_type: Of the property.

    Returns:
        The state as if the patch had never been applied; None once nothing is left.

    Raises:
        RefusedChangeError: ``patch_settled`` if it can no longer be retracted, ``patch_unknown`` if it was never applied.
    """
    base, recent, settled = _unpack(state)
    kept = [each for each in recent if each.id != patch.id]
    if len(kept) == len(recent):
        raise RefusedChangeError("patch_settled" if settled is not None and patch.time <= settled else "patch_unknown")
    if not kept and not base and settled is None:
        return None
    return _state(base, kept, settled, _replayed(base, kept, value_type))


def text_of(state: State) -> str:
    """The text with all patches applied."""
    return str(state["text"])


def value_of(text: str, value_type: ValueType) -> JsonValue | None:
    """A text as a value: each line of a list is an item; None if the text is not of the type, or empty."""
    if not text.strip():
        return None
    if value_type.startswith("list"):
        return coerce_value([line.strip() for line in text.splitlines() if line.strip()], value_type)
    return coerce_value(text, value_type)


def edited(text: str, patch: Patch, value_type: ValueType = "string") -> str:
    """A text with one patch applied (VikingMem 3.1, Algorithm 1, lines 3 to 7).

    Args:
        text: The text before.
        patch: What to apply.
        value_type: Of the property.

    Raises:
        RefusedChangeError: See :func:`apply`.
    """
    replace = patch.replace
    if patch.search is None:
        new = replace
    elif patch.search:
        span, replace = _locate(text, patch, value_type)
        replace = clean_replacement(replace, search=text[span.start : span.end], text=text, value_type=value_type)
        new = f"{text[: span.start]}{replace}{text[span.end :]}" if replace else _without_span(text, span)
    else:
        replace = clean_replacement(replace, search="", text=text, value_type=value_type)
        if not text or not (value_type == "string" or value_type.startswith("list")):
            new = replace
        else:
            new = text if f"\n{replace}\n" in f"\n{text}\n" else f"{text}\n{replace}"
    if value_type != "string":
        new = text_of_value(value_of(new, value_type), value_type) if new.strip() else ""
    if len(new) > MAX_TEXT:
        raise RefusedChangeError("text_too_long")
    if new.strip() and value_of(new, value_type) is None:
        raise RefusedChangeError(f"not_{value_type}")
    return new


def _without_span(text: str, span: Span) -> str:
    """A text without a piece of it; where the piece is a whole line, that leaves no blank line."""
    before, after = text[: span.start], text[span.end :]
    if after.startswith("\n") and (not before or before.endswith("\n")):
        return before + after[1:]
    return before.removesuffix("\n") if not after else before + after


def _locate(text: str, patch: Patch, value_type: ValueType) -> tuple[Span, str]:
    """Where a patch's SEARCH stands in a text, and its REPLACE: as given, or without marks of JSON where that is nearer."""
    best: tuple[Span, str] | None = None
    for search, replace in variants(patch.search or "", patch.replace, value_type):
        span = best_approximate_span(text, search, max_distance=int((1 - MIN_SIMILARITY) * len(search)))
        if span is not None and (best is None or span.distance < best[0].distance):
            best = span, replace
        if span is not None and span.distance == 0:
            break
    if best is None:
        raise RefusedChangeError("no_similar_span")
    return best


def text_of_value(value: JsonValue | None, value_type: ValueType) -> str:
    """The text of a value in the prompt, so that a SEARCH copied from there is found: ``true`` for a ``yes``, no blank lines in a list."""
    texts = [coerce_value(each, "string") for each in (value if isinstance(value, list) else [value])]
    if not all(isinstance(each, str) for each in texts):
        raise RefusedChangeError(f"not_{value_type}")
    return "\n".join(map(str, texts))


def _replayed(text: str, patches: Sequence[Patch], value_type: ValueType) -> str:
    for each in patches:
        try:
            text = edited(text, each, value_type)
        except RefusedChangeError:
            continue
    return text


def _settled(base: str, recent: list[Patch], settled: int | None, text: str, value_type: ValueType) -> State:
    """The state, with its oldest patches settled while there are too many."""
    size = sum(_length(each) for each in recent)
    while len(recent) > MAX_RECENT or size > MAX_RECENT_TEXT:
        oldest, *recent = recent
        size -= _length(oldest)
        base = _replayed(base, [oldest], value_type)
        settled = oldest.time if settled is None else max(settled, oldest.time)
    return _state(base, recent, settled, text)


def _length(patch: Patch) -> int:
    return len(patch.search or "") + len(patch.replace)


def _unpack(state: State | None) -> tuple[str, list[Patch], int | None]:
    if state is None:
        return "", [], None
    return state["base"], [Patch(*each) for each in state["recent"]], state.get("settled")


def _state(base: str, recent: Sequence[Patch], settled: int | None, text: str) -> State:
    state: State = {"base": base, "recent": [[each.time, each.id, each.search, each.replace] for each in recent], "text": text}
    return state if settled is None else {**state, "settled": settled}
