"""Recognises the answer's form in parsed JSON: in wrappers, tool calls and texts, as a bare list, or as single items."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from extraction.one_pass.answer import form
from extraction.one_pass.answer.names import kind_of_item, list_name, named_fields, names_a_draft, plain_name
from memory.lenient_json import Partial, Repeated, answer_text, find_json, looks_like_json

_MAX_DEPTH: Final = 8
_BLANK_TEXTS: Final = frozenset({"", "none", "null", "nothing", "empty", "n/a", "na", "-"})
_TYPES_OF_THOUGHTS: Final = frozenset({"thinking", "reasoning", "redactedthinking"})
_TEXTS_OF_ERROR: Final = frozenset({"error", "errors"})


def _no_lists() -> dict[str, list[Any]]:
    return {name: [] for name in form.LISTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """An answer, or a piece of one."""

    lists: dict[str, list[Any]] = field(default_factory=_no_lists)
    names: frozenset[str] = frozenset()
    """The lists that it gives, also empty ones."""
    is_bare: bool = False
    """Whether it consists of items without the object that holds the lists."""
    is_cut: bool = False
    has_unread: bool = False
    """Whether it has content that is not in the form."""
    is_ambiguous: bool = False
    """Whether it gives a list more than once, with different items."""

    @property
    def is_whole(self) -> bool:
        """Whether it is an object of the form, rather than a piece of one."""
        return not self.is_bare and len(self.names) > 1

    def memories(self) -> list[Any]:
        """Its events and patches."""
        return [*self.lists[form.EVENTS], *self.lists[form.PATCHES]]

    def followed_by(self, later: "Part") -> "Part":
        """One part of two."""
        return Part(
            lists={name: self.lists[name] + later.lists[name] for name in form.LISTS},
            names=self.names | later.names,
            is_bare=self.is_bare and later.is_bare,
            is_cut=self.is_cut or later.is_cut,
            has_unread=self.has_unread or later.has_unread,
            is_ambiguous=self.is_ambiguous or later.is_ambiguous,
        )


def part_of(value: Any, *, depth: int = 0) -> Part | None:
    """The part of an answer in a JSON value; None if nothing in it has the form."""
    if depth > _MAX_DEPTH:
        return None
    is_cut = isinstance(value, Partial)
    inner = value.value if isinstance(value, Partial) else value
    if isinstance(inner, str):
        return _part_of_text(inner, depth=depth)
    if isinstance(inner, list):
        return _part_of_list(inner, is_cut=is_cut, depth=depth)
    return _part_of_object(inner, is_cut=is_cut, depth=depth) if isinstance(inner, dict) else None


def has_form(value: Any) -> bool:
    """Whether a value has the form itself, outside of any wrapper."""
    inner = value.value if isinstance(value, Partial) else value
    if isinstance(inner, list):
        return any(isinstance(each, dict) and has_form(each) for each in inner)
    return isinstance(inner, dict) and (kind_of_item(inner) is not None or any(map(list_name, inner)))


def combined(parts: Sequence[Part]) -> Part | None:
    """Parts that stand together as one. Of parts that give the same list, the last one counts, and the result is ambiguous."""
    result: Part | None = None
    for part in reversed(parts):
        if result is None:
            result = part
        elif part.names.isdisjoint(result.names) or (part.is_bare and result.is_bare):
            result = part.followed_by(result)
        elif part.lists != result.lists:
            result = replace(result, is_ambiguous=True)
    return result


def _part_of_text(text: str, *, depth: int) -> Part | None:
    if not looks_like_json(text):
        return None
    values = [each.value for each in find_json(answer_text(text))]
    return combined([part for each in values if (part := part_of(each, depth=depth + 1)) is not None])


def _part_of_list(items: Iterable[Any], *, is_cut: bool, depth: int) -> Part | None:
    found: list[Part] = []
    others: list[Any] = []
    for item in items:
        part = part_of(item, depth=depth + 1)
        if part is not None:
            found.append(part)
        elif isinstance(item, dict) and item:
            others.append(item)
    result = combined(found)
    if result is None:
        return None
    if result.is_bare and others:
        # They are counted as invalid, rather than ignored.
        result = result.followed_by(Part(lists=_no_lists() | {form.EVENTS: others}, names=frozenset({form.EVENTS}), is_bare=True))
    return replace(result, is_cut=is_cut or result.is_cut)


def _part_of_object(members: dict[str, Any], *, is_cut: bool, depth: int) -> Part | None:
    if _is_thought(members):
        return None
    for name in ("content", "text"):
        inner = members.get(name)
        if inner is not None and (part := part_of(inner, depth=depth + 1)) is not None:
            return part
    kind = kind_of_item(members)
    # An item may have a property with the name of a list.
    if any(list_name(name) and (kind is None or _holds_items(value)) for name, value in members.items()):
        return _part_of_answer(members, is_cut=is_cut, depth=depth)
    if kind is not None:
        return None if is_cut else Part(lists=_no_lists() | {kind: [members]}, names=frozenset({kind}), is_bare=True)
    return combined(
        [
            part
            for name, value in members.items()
            if not names_a_draft(name)
            for each in (value.values if isinstance(value, Repeated) else (value,))
            if (part := part_of(each, depth=depth + 1)) is not None
        ]
    )


def _part_of_answer(members: Mapping[str, Any], *, is_cut: bool, depth: int) -> Part:
    given: dict[str, list[Any]] = {}
    rest: list[Any] = []
    has_unread = False
    for name, value in members.items():
        if known := list_name(name):
            given.setdefault(known, []).extend(value.values if isinstance(value, Repeated) else [value])
        elif plain_name(name) in _TEXTS_OF_ERROR:
            has_unread |= bool(value)
        elif not names_a_draft(name):
            rest.append(value)
    result = Part(names=frozenset(given), is_cut=is_cut)
    for name, values in given.items():
        readings = [_items_of(each) for each in values]
        filled = [items for items, _ in readings if items]
        result = replace(
            result,
            lists=result.lists | {name: filled[-1] if filled else []},
            has_unread=result.has_unread or any(unread for _, unread in readings),
            is_ambiguous=result.is_ambiguous or len(filled) > 1,
        )
    result = _with_nested_lists(result)
    for value in rest:
        part = part_of(value, depth=depth + 1)
        if part is not None and part.names.isdisjoint(result.names):
            result = result.followed_by(replace(part, is_bare=False))
        elif part is not None and any(part.lists.values()):
            has_unread = True
        elif part is None:
            has_unread |= _has_content(value)
    return replace(result, has_unread=result.has_unread or has_unread)


def _items_of(value: Any) -> tuple[list[Any], bool]:
    """The items of a list, and whether it has content that is not read."""
    inner = value.value if isinstance(value, Partial) else value
    if isinstance(inner, str):
        if inner.strip().casefold().rstrip(".") in _BLANK_TEXTS:
            return [], False
        values = [each.value for each in find_json(answer_text(inner))] if looks_like_json(inner) else []
        items = [item for each in values for item in _items_of(each)[0]]
        return items, not items and inner.strip() not in ("[]", "{}")
    if isinstance(inner, dict):
        return list(_grouped_items(inner)), False
    if isinstance(inner, list):
        return [item for each in inner for item in _item_or_items(each)], False
    return [], bool(inner)


def _item_or_items(value: Any) -> list[Any]:
    if isinstance(value, Partial):
        return []
    if isinstance(value, list) or (isinstance(value, str) and looks_like_json(value)):
        return _items_of(value)[0] or [value]
    return [value]


def _grouped_items(members: dict[str, Any]) -> Iterator[Any]:
    """The items of an object in the place of a list: the item itself, or items by number or by type."""
    groups = {name: value for name, value in members.items() if isinstance(value, dict | list | Partial)}
    if kind_of_item(members) is not None or len(groups) < len(members):
        yield from [members] if members else []
        return
    for name, value in groups.items():
        for item in _items_of(value)[0]:
            has_type = not isinstance(item, dict) or form.TYPE in named_fields(item) or name.isdigit() or list_name(name) is not None
            yield item if has_type else {form.TYPE: name, **item}


def _with_nested_lists(part: Part) -> Part:
    """Events and patches inside segments, as some models nest them, in the lists of the answer."""
    lists = {name: list(items) for name, items in part.lists.items()}
    names = set(part.names)
    for segment in part.lists[form.SEGMENTS]:
        for name, value in segment.items() if isinstance(segment, dict) else ():
            if (known := list_name(name)) in (form.EVENTS, form.PATCHES):
                lists[known] += _items_of(value)[0]
                names.add(known)
    return replace(part, lists=lists, names=frozenset(names))


def _holds_items(value: Any) -> bool:
    inner = value.value if isinstance(value, Partial) else value
    return isinstance(inner, list) and any(isinstance(each, dict | Partial) for each in inner)


def _is_thought(members: Mapping[str, Any]) -> bool:
    return isinstance(kind := members.get("type"), str) and plain_name(kind) in _TYPES_OF_THOUGHTS


def _has_content(value: Any) -> bool:
    """Whether a value may hold memories in an unknown form: a filled list, or an object with at least two texts."""
    inner = value.value if isinstance(value, Partial) else value
    if isinstance(inner, list):
        return any(each not in (None, "", [], {}) for each in inner)
    if isinstance(inner, dict):
        return any(map(_has_content, inner.values())) or sum(isinstance(each, str) and bool(each) for each in inner.values()) > 1
    return False
