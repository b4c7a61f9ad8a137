"""Prints for people. Text that was stored by others comes out as what it is: nothing in it moves the cursor or turns the reading order."""

import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Final

import orjson
import typer

_KEPT: Final = frozenset("\n\t\u200c\u200d")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Controls, formats (among them the overrides of direction, and what has no width), lone surrogates, and separators of lines."""


def visible(text: str) -> str:
    r"""The text with each character that a terminal would act on written out as JSON does: ``\u001b``.

    Line breaks and tabs stay, and the joiners that scripts and emoji are written with.
    """
    if text.isprintable():
        return text
    return "".join(each if each in _KEPT or unicodedata.category(each) not in _HIDDEN else _escaped(each) for each in text)


def as_markup(text: object) -> str:
    """Stored text as rich markup that is read as no markup, and by no terminal as an order."""
    from rich.markup import escape

    return escape(visible(str(text)))


def say(text: object, *, err: bool = False) -> None:
    """Prints a line.

    Args:
        text: What to print.
        err: To standard error.
    """
    typer.echo(visible(str(text)), err=err)


def say_json(value: Any, *, indent: bool = False) -> None:
    """Prints a value as JSON. What :func:`visible` writes out stays JSON, and the value the same.

    Args:
        value: Plain values.
        indent: Over several lines.
    """
    typer.echo(visible(orjson.dumps(value, option=orjson.OPT_INDENT_2 if indent else None).decode()))


def say_rows(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints rows below the names of their columns: on a terminal in columns, elsewhere with a tab between two cells.

    Args:
        header: The columns' names.
        rows: As many cells each.
    """
    lines = [[visible(cell) for cell in row] for row in (header, *rows)]
    if not sys.stdout.isatty():
        for line in lines:
            say("\t".join(line))
        return
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        say("  ".join(cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True)).rstrip())


def _escaped(character: str) -> str:
    encoded = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{int.from_bytes(encoded[at : at + 2], 'big'):04x}" for at in range(0, len(encoded), 2))
