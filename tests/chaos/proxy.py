"""A proxy between one worker and the broker that can delay requests. It changes none."""

import asyncio
import contextlib
import struct
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

from varve.embedded.kafka import EmbeddedKafka
from varve.embedded.ports import HOST, free_port

GROUP_REQUESTS: Final = frozenset({8, 9, 11, 12, 13, 14})
"""A consumer's requests to its group's coordinator: offset commit and fetch, join, heartbeat, leave, sync."""
ALL_REQUESTS: Final = frozenset(range(128))

_HEADER: Final = struct.Struct(">ih")
"""A request begins with its length, which does not count itself, and its API key."""
_LENGTH_BYTES: Final = 4
_CHUNK: Final = 65536


class KafkaProxy:
    """Forwards connections to the broker's port for it, request by request.

    Args:
        target_port: The broker's listener that advertises this proxy's port: clients that begin here stay here.
    """

    def __init__(self, target_port: int) -> None:
        self.port = free_port()
        self.held = 0
        """Requests held back so far."""
        self._target_port = target_port
        self._held_keys: frozenset[int] = frozenset()
        self._released = asyncio.Event()
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def bootstrap(self) -> str:
        """The address for clients."""
        return f"{HOST}:{self.port}"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Takes connections for the length of a block."""
        server = await asyncio.start_server(self._serve, HOST, self.port)
        try:
            yield
        finally:
            server.close()
            for connection in self._connections:
                connection.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)

    @contextmanager
    def holding(self, keys: Collection[int]) -> Iterator[None]:
        """Holds requests of some kinds back for the length of a block, and lets them go then: late, and in their order.

        Later data of its connection waits for it. A request also reaches the broker if its client has given it up in the meantime.
        """
        self._released.clear()
        self._held_keys = frozenset(keys)
        try:
            yield
        finally:
            self._held_keys = frozenset()
            self._released.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            from_broker, to_broker = await asyncio.open_connection(HOST, self._target_port)
            answers = asyncio.create_task(_pump(from_broker, writer))
            try:
                while True:
                    await self._forward(reader, to_broker)
            finally:
                answers.cancel()
                to_broker.close()
                writer.close()

    async def _forward(self, reader: asyncio.StreamReader, to_broker: asyncio.StreamWriter) -> None:
        header = await reader.readexactly(_HEADER.size)
        length, key = _HEADER.unpack(header)
        rest = await reader.readexactly(length + _LENGTH_BYTES - _HEADER.size)
        if key in self._held_keys:
            self.held += 1
            await self._released.wait()
        to_broker.write(header + rest)
        await to_broker.drain()


class ProxiedKafka(EmbeddedKafka):
    """A broker with a second listener, which sends its clients through a proxy.

    For a client of the proxy, the addresses of brokers and coordinators lead to the proxy again: the proxy need not rewrite any.

    Args:
        data: Its data folder.
        cache: The cache folder that holds the jars.
        log: Where its output goes.
        heap_mb: The JVM's heap in MiB.
    """

    def __init__(self, *, data: Path, cache: Path, log: Path, heap_mb: int = 384) -> None:
        super().__init__(data=data, cache=cache, log=log, heap_mb=heap_mb)
        self._proxied_port = free_port()
        self.proxy = KafkaProxy(self._proxied_port)

    def _properties(self) -> dict[str, str | int]:
        properties = super()._properties()
        return properties | {
            "listeners": f"{properties['listeners']},PROXIED://{HOST}:{self._proxied_port}",
            "advertised.listeners": f"{properties['advertised.listeners']},PROXIED://{self.proxy.bootstrap}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,PROXIED:PLAINTEXT",
            "inter.broker.listener.name": "PLAINTEXT",
            # Where a fault has topics compacted, it is to see it.
            "log.cleaner.backoff.ms": 500,
        }


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while chunk := await reader.read(_CHUNK):
            writer.write(chunk)
            await writer.drain()
    writer.close()
