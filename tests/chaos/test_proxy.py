"""The proxy passes requests unchanged, and holds back the requests that a test names."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.chaos.proxy import GROUP_REQUESTS, KafkaProxy
from tests.streams.harness import until
from varve.embedded.ports import HOST

HEARTBEAT = 12
PRODUCE = 0


def request(key: int, body: bytes = b"body") -> bytes:
    return struct.pack(">ih", len(body) + 2, key) + body


@pytest.fixture
async def broker() -> AsyncIterator[tuple[KafkaProxy, bytearray]]:
    """A proxy, and the bytes that have reached the server."""
    received = bytearray()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            received.extend(data)
            writer.write(b"answer")
        writer.close()

    server = await asyncio.start_server(serve, HOST, 0)
    proxy = KafkaProxy(server.sockets[0].getsockname()[1])
    async with proxy.running():
        yield proxy, received
    server.close()


@asynccontextmanager
async def connected(proxy: KafkaProxy) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(HOST, proxy.port)
    yield reader, writer
    writer.close()


async def test_requests_and_answers_pass_unchanged(broker: tuple[KafkaProxy, bytearray]) -> None:
    proxy, received = broker
    sent = request(PRODUCE, b"x" * 200_000) + request(HEARTBEAT)
    async with connected(proxy) as (reader, writer):
        writer.write(sent)
        await until(lambda: bytes(received) == sent)
        assert (await reader.readexactly(6)) == b"answer"
    assert proxy.held == 0


async def test_only_chosen_requests_are_held_back(broker: tuple[KafkaProxy, bytearray]) -> None:
    proxy, received = broker
    async with connected(proxy) as (_, group), connected(proxy) as (_, data):
        with proxy.holding(GROUP_REQUESTS):
            group.write(request(HEARTBEAT))
            await until(lambda: proxy.held == 1)
            data.write(request(PRODUCE))
            await until(lambda: bytes(received) == request(PRODUCE))
        await until(lambda: bytes(received) == request(PRODUCE) + request(HEARTBEAT))


async def test_a_held_request_is_delivered_after_release(broker: tuple[KafkaProxy, bytearray]) -> None:
    proxy, received = broker
    with proxy.holding(GROUP_REQUESTS):
        async with connected(proxy) as (_, writer):
            writer.write(request(HEARTBEAT))
            await until(lambda: proxy.held == 1)
    await until(lambda: bytes(received) == request(HEARTBEAT))
