"""Output for people. Stored text cannot control the terminal: nothing in it moves the cursor or changes the reading direction."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import orjson
import typer

from memory.texts.visible_text import visible
from varve.errors import OutputError


def as_markup(text: object) -> str:
    """Escapes stored text for rich, so that neither rich nor a terminal interprets it."""
    from rich.markup import escape

    return escape(visible(str(text)))


def say(text: object, *, err: bool = False) -> None:
    """Prints a line."""
    typer.echo(visible(str(text)), err=err)


def confirm(question: str) -> None:
    """Asks a question, and ends the command if the answer is no.

    Raises:
        OutputError: If the standard input is closed.
    """
    if sys.stdin is None:
        raise OutputError(f"{question} The standard input is closed, so nobody can answer: add --yes")
    typer.confirm(question, abort=True)


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
