"""Which lines of a long field a prompt shows: whole ones, those nearest to the window first, so that patches can edit or remove them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import chain, pairwise

from extraction.one_pass.prompt.entity_view import BREAK, SINCE_TOKENS
from extraction.one_pass.prompt.limits import truncate
from memory.texts.terms import terms_of
from memory.texts.text import estimate_tokens


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """The terms of what texts are about."""
    return frozenset(chain.from_iterable(map(terms_of, texts)))


def shown_lines(flat: str, tokens: int, *, near: frozenset[str], since: Mapping[str, date] | None = None) -> str:
    """A field's text in at most so many estimated tokens.

    Lines stay in their order, each whole; a last line says how many are left out. The nearest are those that share most terms with the
    window, and of equal ones the later. A text of one line is cut as other texts are.

    Args:
        flat: Its lines, as :func:`extraction.one_pass.prompt.entity_view.flat_text` makes them.
        tokens: The cap, dates included.
        near: The terms of the window.
        since: The days of lines, if they are written before them.
    """
    if size_of(flat, since=since) <= tokens:
        return flat
    lines = flat.split(BREAK)
    days = [(since or {}).get(line) for line in lines]
    ranked = sorted(range(len(lines)), key=lambda index: (-len(near & words_of([lines[index]])), -index))
    room = tokens - estimate_tokens(_left_out(len(lines)))
    shown: list[int] = []
    for index in ranked:
        cost = estimate_tokens(lines[index]) + 1
        if cost + _tokens_of_dates([days[each] for each in sorted([*shown, index])]) <= room:
            shown.append(index)
            room -= cost
    if not shown:
        return truncate(lines[ranked[0]], tokens)
    return BREAK.join([*(lines[index] for index in sorted(shown)), _left_out(len(lines) - len(shown))])


def size_of(flat: str, *, since: Mapping[str, date] | None = None) -> int:
    """The estimated tokens of a field's whole text, with its dates.

    Args:
        flat: Its lines.
        since: The days of lines, if they are written before them.
    """
    return estimate_tokens(flat) + _tokens_of_dates([(since or {}).get(line) for line in flat.split(BREAK)])


def _tokens_of_dates(days: Sequence[date | None]) -> int:
    """A date precedes each line whose date differs from that of the previous line."""
    known = [day for day in days if day is not None]
    return SINCE_TOKENS * sum(day != before for before, day in pairwise([None, *known]))


def _left_out(count: int) -> str:
    return f"[…] {count} more not shown"
