"""Progress bars of long commands on a terminal; without a terminal, no output."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


@contextmanager
def progress_bar(title: str, total: int, *, console: Console | None = None) -> Iterator[Callable[[int], None]]:
    """Shows a progress bar during a block.

    Args:
        title: Title of the bar.
        total: Number of steps.
        console: The console. Default: standard error.

    Yields:
        A function; call it with the number of further completed steps.
    """
    with _bars(console) as progress:
        task = progress.add_task(title, total=total)
        yield lambda done: progress.advance(task, done)


@contextmanager
def lag_bars(*, console: Console | None = None) -> Iterator[Callable[[str, int], None]]:
    """Shows a progress bar for each stage with lag during a block.

    Args:
        console: The console. Default: standard error.

    Yields:
        A function; call it with a stage's name and lag in records. The largest lag is the length of the bar.
    """
    bars: dict[str, tuple[TaskID, int]] = {}
    with _bars(console) as progress:

        def update(stage: str, lag: int) -> None:
            if not lag and stage not in bars:
                return
            task, most = bars.get(stage) or (progress.add_task(stage, total=lag), lag)
            bars[stage] = task, max(most, lag)
            progress.update(task, total=max(most, lag), completed=max(most, lag) - lag)

        yield update


def _bars(console: Console | None) -> Progress:
    console = console or Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
