"""A progress bar on standard error."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from rich.console import Console
from rich.progress import track as _track

T = TypeVar("T")


def track(items: Sequence[T], text: str) -> Iterator[T]:
    """The items one after the other, with a progress bar. Nothing is shown if standard error is no terminal.

    Args:
        items: The items.
        text: What is done with them.
    """
    console = Console(stderr=True)
    yield from _track(items, description=text, console=console, disable=not console.is_terminal)
