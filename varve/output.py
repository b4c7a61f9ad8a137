"""Output for people. Stored text cannot control the terminal: nothing in it moves the cursor or changes the reading direction."""

import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Final

import orjson
import typer

_KEPT: Final = frozenset("\n\t\u200c\u200d")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories: controls, formats (such as direction overrides and zero-width characters), surrogates, line separators."""


def visible(text: str) -> str:
    r"""Escapes each character that a terminal would act on, in the form of JSON: ``\u001b``.

    Line breaks and tabs stay, and the joiners of scripts and emoji.
    """
    if text.isprintable():
        return text
    return "".join(each if each in _KEPT or unicodedata.category(each) not in _HIDDEN else _escaped(each) for each in text)


def as_markup(text: object) -> str:
    """Escapes stored text for rich, so that neither rich nor a terminal interprets it."""
    from rich.markup import escape

    return escape(visible(str(text)))


def say(text: object, *, err: bool = False) -> None:
    """Prints a line."""
    typer.echo(visible(str(text)), err=err)


def say_json(value: Any, *, indent: bool = False) -> None:
    """Prints a value as JSON. Characters that :func:`visible` escapes stay valid JSON with the same value.

    Args:
        value: The value.
        indent: Whether to print it over several lines.
    """
    typer.echo(visible(orjson.dumps(value, option=orjson.OPT_INDENT_2 if indent else None).decode()))


def say_rows(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints rows with a header: aligned columns on a terminal, otherwise cells separated by tabs."""
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
