"""SIGINT and SIGTERM as the cancellation of a task."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def run_until_signal(main: Coroutine[Any, Any, _Result], *, first: Callable[[], None], again: Callable[[], None]) -> _Result | None:
    """Runs a coroutine in a loop of its own; the first SIGINT or SIGTERM cancels it, so that what it holds is given back in order.

    Args:
        main: What to run.
        first: Called for that signal.
        again: Called for every further signal, while the cancelled coroutine still cleans up.

    Returns:
        What the coroutine returns; None when a signal ended it.
    """
    return asyncio.run(_until_signal(main, first, again))


async def _until_signal(main: Coroutine[Any, Any, _Result], first: Callable[[], None], again: Callable[[], None]) -> _Result | None:
    task = asyncio.ensure_future(main)
    told = False

    def on_signal() -> None:
        nonlocal told
        if told:
            again()
        else:
            told = True
            first()
            task.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    try:
        return await task
    except asyncio.CancelledError:
        if not told:
            raise
        return None
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
