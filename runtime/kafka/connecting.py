"""Connects aiokafka's clients without leaking a connection when the caller is cancelled."""

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient

_LET_GO_S: Final = 1.0
"""How long a cancelled caller waits for the broker's first answer, which usually takes milliseconds."""


async def connect(client: AIOKafkaProducer | AIOKafkaConsumer | AIOKafkaAdminClient) -> None:
    """Starts a client. The caller has to stop it, even after an error.

    aiokafka leaks its first connection if the caller is cancelled before the broker has sent the cluster's metadata. Therefore this
    exchange is not cancelled.
    """
    network = cast(Any, client.client if isinstance(client, AIOKafkaProducer) else client._client)  # noqa: SLF001 - only producers have a public attribute
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
