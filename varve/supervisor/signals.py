"""SIGINT and SIGTERM as the cancellation of a task."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def run_until_signal(main: Coroutine[Any, Any, _Result], *, on_first: Callable[[], None], on_repeat: Callable[[], None]) -> _Result | None:
    """Runs a coroutine in an event loop of its own. The first SIGINT or SIGTERM cancels it, so that it can clean up.

    Args:
        main: What to run.
        on_first: Called for that first signal.
        on_repeat: Called for every further signal, while the cancelled coroutine still cleans up.

    Returns:
        What the coroutine returns; None when a signal ended it.
    """
    return asyncio.run(_until_signal(main, on_first, on_repeat))


async def _until_signal(main: Coroutine[Any, Any, _Result], on_first: Callable[[], None], on_repeat: Callable[[], None]) -> _Result | None:
    task = asyncio.ensure_future(main)
    received = False

    def on_signal() -> None:
        nonlocal received
        if received:
            on_repeat()
        else:
            received = True
            on_first()
            task.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    try:
        return await task
    except asyncio.CancelledError:
        if not received:
            raise
        return None
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
