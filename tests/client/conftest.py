"""Both Python clients as coroutines, so that each test covers both."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from varve_client import AsyncVarveClient, VarveClient


class Blocking:
    """Calls the synchronous client in a thread, so that each test covers both clients."""

    def __init__(self, url: str, **options: Any) -> None:
        self._client = VarveClient(url, **options)

    async def __aenter__(self) -> "Blocking":
        return self

    async def __aexit__(self, *_: object) -> None:
        self._client.close()

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._client, name)
        return lambda *args, **options: asyncio.to_thread(method, *args, **options)


async def all_of(iterator: Any) -> list[Any]:
    """Everything that an iterator of one of the clients yields."""
    if isinstance(iterator, AsyncIterator):
        return [each async for each in iterator]
    return await asyncio.to_thread(list, await iterator)


@pytest.fixture(params=[AsyncVarveClient, Blocking], ids=["async", "sync"])
def client(request: pytest.FixtureRequest) -> Any:
    return request.param
