"""Connects aiokafka's clients so that who gives up meanwhile leaves no connection open."""

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient

_LET_GO_S: Final = 1.0
"""How long a cancelled caller waits for the broker's first answer: a broker that is there gives it in milliseconds."""


async def connect(client: AIOKafkaProducer | AIOKafkaConsumer | AIOKafkaAdminClient) -> None:
    """Starts a client; whoever calls this stops it, too, also after an error.

    aiokafka forgets its first connection where its caller is cancelled before the broker has told of the cluster: nobody can close it any
    more. So that one exchange runs to its end.
    """
    network = cast(Any, client.client if isinstance(client, AIOKafkaProducer) else client._client)  # noqa: SLF001 - shown by producers alone
    network.bootstrap = functools.partial(_to_its_end, network.bootstrap)
    await client.start()


async def _to_its_end(bootstrap: Callable[[], Awaitable[None]]) -> None:
    exchange = asyncio.ensure_future(bootstrap())
    try:
        await asyncio.shield(exchange)
    finally:
        try:
            await asyncio.wait([exchange], timeout=_LET_GO_S)
        finally:
            exchange.cancel()
