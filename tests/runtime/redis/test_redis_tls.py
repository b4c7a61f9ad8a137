"""Redis with TLS: a real server and a TLS proxy, because the server of the tests is built without TLS."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runtime.errors import RedisUnavailableError
from runtime.redis.client import open_redis
from runtime.redis.keys import KeyFamily
from runtime.settings import RedisSettings
from tests.redis_server import RedisServer

pytestmark = pytest.mark.integration

OTHER_HOST = "127.0.0.2"
"""The certificate does not name it."""
TLS = Path(__file__).parents[2] / "tls"


@pytest.fixture
async def port(mortal_redis: RedisServer) -> AsyncIterator[int]:
    """Where TLS is spoken with a real Redis."""
    mortal_redis.start()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other_reader, other_writer = await asyncio.open_unix_connection(mortal_redis.socket)
        await asyncio.gather(_pump(reader, other_writer), _pump(other_reader, writer))

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "server.pem")
    async with await asyncio.start_server(forward, "127.0.0.1", 0, ssl=context) as server:
        port = int(server.sockets[0].getsockname()[1])
        async with await asyncio.start_server(forward, OTHER_HOST, port, ssl=context):
            yield port


async def test_redis_is_reached_by_tls(port: int) -> None:
    url = f"rediss://127.0.0.1:{port}/0?ssl_ca_certs={TLS / 'authority.pem'}"
    async with open_redis(RedisSettings(url=url, timeout_s=30)) as redis:
        await redis.run("setting", lambda client: client.set(redis.key(KeyFamily.QUOTA, "k"), b"v"))
        assert await redis.run("getting", lambda client: client.get(redis.key(KeyFamily.QUOTA, "k"))) == b"v"


async def test_another_authoritys_server_is_refused(port: int) -> None:
    async with open_redis(RedisSettings(url=f"rediss://127.0.0.1:{port}/0", timeout_s=30)) as redis:
        with pytest.raises(RedisUnavailableError, match="certificate verify failed"):
            await redis.ping()


async def test_another_hosts_certificate_is_refused(port: int) -> None:
    url = f"rediss://{OTHER_HOST}:{port}/0?ssl_ca_certs={TLS / 'authority.pem'}"
    async with open_redis(RedisSettings(url=url, timeout_s=30)) as redis:
        with pytest.raises(RedisUnavailableError, match="certificate verify failed: IP address mismatch"):
            await redis.ping()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while some := await reader.read(65536):
            writer.write(some)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()
