"""Parses a model's answer into its three lists of items, not yet validated."""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from extraction.one_pass.answer import form
from memory.lenient_json import Partial, read_json
from memory.reasoning import strip_reasoning

_MAX_WRAPPER_DEPTH: Final = 3
_NOTHING: Final = re.compile(r"\s*(?:```\w*\s*)?(?:\{\s*\}|\[\s*\])\s*(?:```\s*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswer:
    """The items of an answer, by list, as parsed JSON; those that the text's end cut off are left out."""

    lists: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in form.LISTS})
    found: bool = False
    """Whether there was an answer at all; it may be empty."""
    cut: bool = False
    """Whether the text ended before the answer did."""

    @property
    def has_items(self) -> bool:
        """Whether there is anything to keep."""
        return any(self.lists.values())

    def continued_by(self, continuation: "RawAnswer") -> "RawAnswer":
        """This answer and its continuation."""
        lists = {name: self.lists[name] + continuation.lists[name] for name in form.LISTS}
        return RawAnswer(lists=lists, found=self.found or continuation.found, cut=continuation.cut or not continuation.found)


def parse_answer(text: str) -> RawAnswer:
    """Finds the answer in a text: also wrapped in another object, as a bare list of events, or as one item a line. Never raises.

    An empty list or object is an answer where nothing else is said; among other words it is only mentioned.
    """
    lists: dict[str, list[Any]] = {name: [] for name in form.LISTS}
    values = read_json(text)
    found = [_collect(value, lists, depth=0) for value in values]
    has_answer = any(found) or _NOTHING.fullmatch(strip_reasoning(text)) is not None
    return RawAnswer(lists=lists, found=has_answer, cut=any(isinstance(value, Partial) for value in values))


def _collect(value: Any, lists: dict[str, list[Any]], *, depth: int) -> bool:
    """Adds a value's items to the lists; whether it was an answer or an item of one."""
    is_cut = isinstance(value, Partial)
    inner = value.value if isinstance(value, Partial) else value
    if not isinstance(inner, dict | list) or depth > _MAX_WRAPPER_DEPTH:
        return False
    if isinstance(inner, dict):
        own = _list_of_item(inner)
        # An item may have a property named like one of the lists.
        if any(name in inner and (own is None or _holds_items(inner[name])) for name in form.LISTS):
            for name in form.LISTS:
                lists[name] += _items_of(inner.get(name))
            return True
        if own and not is_cut:
            lists[own].append(inner)
            return True
    found = False
    for each in inner.values() if isinstance(inner, dict) else inner:
        found |= _collect(each, lists, depth=depth + 1)
    return found


def _holds_items(value: Any) -> bool:
    inner = value.value if isinstance(value, Partial) else value
    return isinstance(inner, list) and any(isinstance(each, dict | Partial) for each in inner)


def _items_of(value: Any) -> list[Any]:
    if isinstance(value, Partial):
        value = value.value
    if isinstance(value, dict):
        return [value]
    return [each for each in value if not isinstance(each, Partial)] if isinstance(value, list) else []


def _list_of_item(item: dict[str, Any]) -> str | None:
    """Which list an item on its own belongs to."""
    if form.CONTENT in item and (form.TYPE in item or form.MESSAGES in item):
        return form.EVENTS
    if form.FIELD in item and form.REPLACE in item:
        return form.PATCHES
    if form.TOPIC in item and form.RANGES in item:
        return form.SEGMENTS
    return None
