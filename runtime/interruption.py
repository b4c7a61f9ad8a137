"""Waiting in a loop that goes on until it is cancelled."""

import asyncio


async def pause(seconds: float) -> None:
    """Sleeps, unless the task was cancelled before: `asyncio.wait_for`, which aiokafka waits by, can swallow that in Python 3.11.

    Raises:
        asyncio.CancelledError: If the task was, or is, cancelled.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
    await asyncio.sleep(seconds)
