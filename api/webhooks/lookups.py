"""Looks the hosts of receivers up. Their name servers are not Varve's, and may be slow."""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from aiohttp.abc import AbstractResolver, ResolveResult

_THREADS: Final = 32
_NUMERIC: Final = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV

_Host = tuple[str, int, int]


class HostLookups(AbstractResolver):
    """Looks hosts up in separate threads, each host in one thread at a time.

    Event loops have a few threads for the lookups of the whole process: a single slow name server would occupy them all.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="webhook-hosts")
        self._running: dict[_Host, asyncio.Future[list[Any]]] = {}

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[ResolveResult]:
        """The addresses of a host.

        Raises:
            OSError: If it cannot be resolved.
        """
        key = host, port, int(family)
        lookup = self._running.get(key)
        if lookup is None:
            ask = partial(socket.getaddrinfo, host, port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
            lookup = self._running[key] = asyncio.get_running_loop().run_in_executor(self._threads, ask)
            lookup.add_done_callback(partial(self._on_done, key))
        return [
            ResolveResult(hostname=host, host=str(address[0]), port=port, family=found, proto=protocol, flags=_NUMERIC)
            for found, _, protocol, _, address in await asyncio.shield(lookup)
        ]

    async def close(self) -> None:
        """Ends the threads that are idle."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _on_done(self, key: _Host, lookup: "asyncio.Future[list[Any]]") -> None:
        del self._running[key]
        if not lookup.cancelled():
            lookup.exception()  # all callers may have given up
