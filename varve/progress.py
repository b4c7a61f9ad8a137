"""How far a long command has come: a bar on a terminal, nothing elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


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
    with _bars(console) as progress:
        task = progress.add_task(title, total=total)
        yield lambda done: progress.advance(task, done)


@contextmanager
def lag_bars(*, console: Console | None = None) -> Iterator[Callable[[str, int], None]]:
    """Draws a bar for each stage that is behind, for the length of a block, and takes them away at the end.

    Args:
        console: Where they are drawn; standard error unless given.

    Yields:
        What to call with a stage's name and how many records it is behind. The most that it was ever behind is the whole of its bar.
    """
    bars: dict[str, tuple[TaskID, int]] = {}
    with _bars(console) as progress:

        def tell(stage: str, lag: int) -> None:
            if not lag and stage not in bars:
                return
            task, most = bars.get(stage) or (progress.add_task(stage, total=lag), lag)
            bars[stage] = task, max(most, lag)
            progress.update(task, total=max(most, lag), completed=max(most, lag) - lag)

        yield tell


def _bars(console: Console | None) -> Progress:
    console = console or Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
