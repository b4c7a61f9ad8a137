"""How far a long command has come: a bar on a terminal, nothing elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def progress_bar(title: str, total: int, *, console: Console | None = None) -> Iterator[Callable[[int], None]]:
    """Draws a bar for the length of a block, and takes it away at the end.

    Args:
        title: What is done.
        total: How many there are.
        console: Where it is drawn; standard error unless given.

    Yields:
        What to call with how many more are done.
    """
    console = console or Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=total)
        yield lambda done: progress.advance(task, done)
