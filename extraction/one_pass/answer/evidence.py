"""Validates the message numbers that items of an answer refer to."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from extraction.bounds import MAX_EVIDENCE, MAX_ITEMS
from extraction.drafts import DropCounter
from extraction.one_pass.answer import form
from extraction.one_pass.answer.coercion import as_ranges, as_references, as_text
from extraction.one_pass.answer.names import named_fields
from extraction.one_pass.answer.parsing import RawAnswer
from extraction.one_pass.extraction_input import ExtractionInput
from memory.records import Window
from memory.texts.terms import terms_of

_LEAST_SHARE: Final = 0.5
"""Share of an event's words that a message must have to be its evidence, if the event names none."""
_LONGEST_CONTENT: Final = 500
"""Characters of an event that are compared with messages."""


_REFERENCES: Final = {form.SEGMENTS: form.RANGES, form.EVENTS: form.MESSAGES, form.PATCHES: form.MESSAGES}


class InvalidItemError(Exception):
    """An item is dropped; ``reason`` is a stable word. It never leaves this package."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class MessageReferences:
    """Reads references to the messages of one window.

    Args:
        source: The window, and which of its messages are echoes.
        tally: Counts what points nowhere.
        first: The number of the first message: :func:`first_number`.
    """

    def __init__(self, source: ExtractionInput, tally: DropCounter, *, first: int = 0) -> None:
        self._window = source.window
        self._first = first
        self._last = len(source.window.messages) - 1
        self._echoes = source.echo_indices()
        self._tally = tally

    def ranges(self, value: Any) -> tuple[tuple[int, int], ...]:
        """The ranges within the window, without recalled messages, merged and ascending."""
        indices: set[int] = set()
        for number, found in enumerate(map(self._indices, as_ranges(value))):
            if found is None or not 0 <= found[0] <= self._last or number >= MAX_ITEMS:
                self._tally.drop("message", "bad_index")
                continue
            self._tally.drop("message", "bad_index", int(found[1] > self._last))
            indices.update(range(found[0], min(found[1], self._last) + 1))
        return tuple(_ranges_of(sorted(indices - self._echoes)))

    def evidence(self, value: Any, *, content: str = "") -> tuple[int, ...]:
        """The messages that an item is based on, in the order given; of an event that names none, the one with most of its words.

        Args:
            value: The references.
            content: The event's; empty: nothing stands in for missing references.

        Raises:
            InvalidItemError: If there is none, or if there are only echoes.
        """
        inside: list[int] = []
        for found in map(self._indices, islice(as_references(value), MAX_ITEMS)) if value is not None else ():
            if found is None or found[1] > self._last:
                self._tally.drop("message", "bad_index")
            if found is not None:
                inside += range(found[0], min(found[1], self._last) + 1)
        indices = tuple(dict.fromkeys(index for index in inside if index not in self._echoes))[:MAX_EVIDENCE]
        if not indices and not inside and (nearest := self._nearest(content)) is not None:
            return (nearest,)
        if not indices:
            raise InvalidItemError("recalled" if inside else "no_evidence")
        return indices

    def name_one(self, item: Any) -> bool:
        """Whether an item names a message of the window."""
        value = named_fields(item).get(form.MESSAGES, []) if isinstance(item, dict) else []
        return any(found is not None and 0 <= found[0] <= self._last for found in map(self._indices, as_references(value)))

    def _indices(self, found: tuple[int, int] | None) -> tuple[int, int] | None:
        return None if found is None else (found[0] - self._first, found[1] - self._first)

    def _nearest(self, content: str) -> int | None:
        """The message with most of a content's words, half of them at least; None if there is none, or if it is an echo."""
        words = _words_of(content)
        counts = [len(words.intersection(terms_of(each.text))) for each in self._window.messages]
        best = max(range(len(counts)), key=lambda index: counts[index])
        return best if words and counts[best] >= _LEAST_SHARE * len(words) and best not in self._echoes else None


def first_number(raw: RawAnswer, window: Window) -> int:
    """The number that an answer gives the window's first message: 0, as in the prompt, or 1, as some models count.

    It is 1 if the answer names the number after the last message, never 0, and if the messages before those that its events name have more
    of their words.
    """
    fields = [(name, named_fields(item)) for name in form.LISTS for item in raw.lists[name][:MAX_ITEMS] if isinstance(item, dict)]
    named = [
        (found, each)
        for name, each in fields
        for found in islice((as_ranges if name == form.SEGMENTS else as_references)(each.get(_REFERENCES[name], [])), MAX_EVIDENCE)
        if found is not None
    ]
    last = len(window.messages)
    if not named or min(found[0] for found, _ in named) < 1 or max(found[1] for found, _ in named) != last:
        return 0
    terms = [frozenset(terms_of(each.text)) for each in window.messages]
    gain = 0
    for (number, _), each in named:
        words = _words_of(as_text(each.get(form.CONTENT), longest=_LONGEST_CONTENT))
        gain += len(words & terms[number - 1]) - (len(words & terms[number]) if number < last else 0)
    return int(gain > 0)


def _words_of(content: str) -> frozenset[str]:
    return frozenset(terms_of(content[:_LONGEST_CONTENT]))


def _ranges_of(indices: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Ascending indices as inclusive ranges."""
    first = last = None
    for index in indices:
        if first is None or last is None:
            first = last = index
        elif index == last + 1:
            last = index
        else:
            yield first, last
            first = last = index
    if first is not None and last is not None:
        yield first, last
