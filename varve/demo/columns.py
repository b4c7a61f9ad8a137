"""How wide a table's columns are, so that no word is broken over two lines."""

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len

READABLE: Final = 12
"""A column of longer texts has at least so many cells: narrower, it is a column of single words."""
_PADDING: Final = 3
"""Cells of a column besides its text: a blank on both sides, and a border."""


def column_widths(columns: Sequence[Sequence[str]], width: int, *, whole: Sequence[bool]) -> list[int] | None:
    """The widths of a bordered table's columns, without their padding; None where they do not fit.

    Args:
        columns: The plain texts of each column, its heading among them.
        width: Width of the whole table, in cells.
        whole: Whether no line of a column may be broken.
    """
    width -= _PADDING * len(columns) + 1
    wanted = [max(map(_line, column)) for column in columns]
    least = [
        width if is_whole else max(min(width, READABLE), *map(_word, column))
        for column, width, is_whole in zip(columns, wanted, whole, strict=True)
    ]
    spare = width - sum(least)
    if spare < 0:
        return None
    widths = list(least)
    while spare and (open_to_more := [each for each, width in enumerate(widths) if width < wanted[each]]):
        narrowest = min(open_to_more, key=widths.__getitem__)
        widths[narrowest] += 1
        spare -= 1
    return widths


def _line(text: str) -> int:
    return max(map(cell_len, text.splitlines()), default=0)


def _word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)
