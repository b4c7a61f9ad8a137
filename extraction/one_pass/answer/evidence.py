"""Validates the message numbers that items of an answer refer to."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from extraction.bounds import MAX_EVIDENCE, MAX_ITEMS
from extraction.drafts import DropCounter
from extraction.one_pass.answer.coercion import as_ranges, as_references
from extraction.one_pass.extraction_input import ExtractionInput


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
    """

    def __init__(self, source: ExtractionInput, tally: DropCounter) -> None:
        self._last = len(source.window.messages) - 1
        self._echoes = source.echo_indices()
        self._tally = tally

    def ranges(self, value: Any) -> tuple[tuple[int, int], ...]:
        """The ranges within the window, without recalled messages, merged and ascending."""
        indices: set[int] = set()
        for number, found in enumerate(as_ranges(value)):
            if found is None or found[0] > self._last or number >= MAX_ITEMS:
                self._tally.drop("message", "bad_index")
                continue
            self._tally.drop("message", "bad_index", int(found[1] > self._last))
            indices.update(range(found[0], min(found[1], self._last) + 1))
        return tuple(_ranges_of(sorted(indices - self._echoes)))

    def evidence(self, value: Any) -> tuple[int, ...]:
        """The messages that an item is based on, in the order given.

        Raises:
            InvalidItemError: If there are only echoes.
        """
        inside: list[int] = []
        for found in islice(as_references(value), MAX_ITEMS) if value is not None else ():
            if found is None or found[1] > self._last:
                self._tally.drop("message", "bad_index")
            if found is not None:
                inside += range(found[0], min(found[1], self._last) + 1)
        indices = tuple(dict.fromkeys(index for index in inside if index not in self._echoes))[:MAX_EVIDENCE]
        if not indices:
            raise InvalidItemError("recalled" if inside else "no_evidence")
        return indices


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
