"""A loop ends where its cancellation was swallowed."""

import asyncio
from contextlib import suppress

from runtime.interruption import pause


async def test_a_swallowed_cancellation_ends_the_loop() -> None:
    rounds, waits = 0, asyncio.Event()

    async def swallowing() -> None:
        nonlocal rounds
        while True:
            rounds += 1
            if rounds == 3:
                waits.set()
                with suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()
            await pause(0)

    task = asyncio.create_task(swallowing())
    await waits.wait()
    task.cancel()
    async with asyncio.timeout(30):
        await asyncio.wait([task])
    assert task.cancelled()
    assert rounds == 3
