"""Which lines of a long field a prompt shows: whole ones, those nearest to the window first, so that patches can edit or remove them."""

import re
from collections.abc import Iterable
from typing import Final

from extraction.one_pass.prompt.entity_view import BREAK
from extraction.one_pass.prompt.limits import truncate
from memory.text import estimate_tokens
from memory.words import STOP_WORDS, stem

_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """The stems of what texts are about."""
    words = {word for text in texts for word in _WORD.findall(text.lower())}
    return frozenset(stem(word) for word in words if word not in STOP_WORDS)


def shown_lines(flat: str, tokens: int, *, near: frozenset[str]) -> str:
    """A field's text in at most so many estimated tokens.

    Lines stay in their order, each whole; a last line says how many are left out. The nearest are those that share most stems with the
    window, and of equal ones the later. A text of one line is cut as other texts are.

    Args:
        flat: Its lines, as :func:`extraction.one_pass.prompt.entity_view.flat_text` makes them.
        tokens: The cap.
        near: The stems of the window.
    """
    if estimate_tokens(flat) <= tokens:
        return flat
    lines = flat.split(BREAK)
    ranked = sorted(range(len(lines)), key=lambda index: (-len(near & words_of([lines[index]])), -index))
    room = tokens - estimate_tokens(_left_out(len(lines)))
    shown: list[int] = []
    for index in ranked:
        cost = estimate_tokens(lines[index]) + 1
        if cost <= room:
            shown.append(index)
            room -= cost
    if not shown:
        return truncate(lines[ranked[0]], tokens)
    return BREAK.join([*(lines[index] for index in sorted(shown)), _left_out(len(lines) - len(shown))])


def _left_out(count: int) -> str:
    return f"[…] {count} more not shown"
