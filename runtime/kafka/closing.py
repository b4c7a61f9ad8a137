"""How a producer is ended: all it holds is sent in time, or never."""

import asyncio
import contextlib
import inspect
from typing import Any, Final, cast

from aiokafka.errors import KafkaError, ProducerClosed

_CANCEL_AGAIN_S: Final = 0.1


async def close_producer(producer: Any, *, within_s: float) -> bool:
    """Lets a producer send what it holds and closes it; ends it by force where that takes too long, fails, or is cancelled.

    Args:
        producer: An ``AIOKafkaProducer``.
        within_s: How long it may take to send, and then to close its connections, in seconds.

    Returns:
        Whether all that it held was acknowledged. If not, none of it is sent from now on, and nobody waits for it any longer.
    """
    stopped = False
    try:
        with contextlib.suppress(KafkaError, TimeoutError):
            async with asyncio.timeout(within_s):
                await producer.stop()
            stopped = True
    finally:
        if not stopped:
            await _end(producer, within_s)
    return stopped


async def _end(producer: Any, within_s: float) -> None:
    """Ends the sender first: one that is left alive connects again behind a client that is closed."""
    tasks = _tasks_of(producer._sender)  # noqa: SLF001 - aiokafka ends it only after all is sent
    while tasks:
        for task in tasks:
            task.cancel()
        _, tasks = await asyncio.wait(tasks, timeout=_CANCEL_AGAIN_S)
    producer._message_accumulator.fail_all(ProducerClosed())  # noqa: SLF001 - as aiokafka does when its sender breaks
    with contextlib.suppress(KafkaError, TimeoutError):
        async with asyncio.timeout(within_s):
            await producer.client.close()


def _tasks_of(sender: Any) -> set[asyncio.Task[Any]]:
    """The sender's own task and those of its requests, which it shows to nobody."""
    return {task for task in asyncio.all_tasks() if inspect.getcoroutinelocals(cast(Any, task.get_coro())).get("self") is sender}
