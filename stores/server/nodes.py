"""The nodes of a Qdrant cluster. Each node answers requests for all points, so any of them will do.

gRPC's own choice between addresses needs their IP numbers, or one name for all nodes, and does not leave a node that hangs.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from qdrant_client import AsyncQdrantClient

from runtime.logs import logger
from stores.errors import CollectionMissingError, StoreTooOldError, StoreUnavailableError
from stores.server.connection import qdrant_errors

T = TypeVar("T")

_log = logger(__name__)


class QdrantNodes:
    """Sends requests to one node. If the node fails, it sends them to the next one, and stays there.

    Every request may be repeated: a write replaces no newer point.

    Args:
        clients: A client of each node, at least one. :meth:`close` closes them.
        collection: The collection, for error messages.
    """

    def __init__(self, clients: Sequence[AsyncQdrantClient], *, collection: str) -> None:
        if not clients:
            raise ValueError("a store needs the client of at least one node")
        self._clients = tuple(clients)
        self._collection = collection
        self._current = 0
        self._answered = 0
        """The node that has answered last."""

    async def ask(self, request: Callable[[AsyncQdrantClient], Awaitable[T]]) -> T:
        """Sends a request to the current node; if it fails, to each other node once.

        Raises:
            StoreUnavailableError: The last node's error, if no node answered.
            StoreError: A node's answer, as :func:`~stores.server.connection.qdrant_errors` translates it.
        """
        for _ in self._clients[1:]:
            try:
                return await self._ask_current(request)
            except (CollectionMissingError, StoreTooOldError):
                raise
            except StoreUnavailableError:
                continue
        return await self._ask_current(request)

    async def answering(self) -> AsyncQdrantClient:
        """A client of a node that answers, for a series of requests to one node.

        Raises:
            StoreUnavailableError: If no node answers.
        """

        async def request(client: AsyncQdrantClient) -> AsyncQdrantClient:
            await client.info()
            return client

        return await self.ask(request)

    async def close(self) -> None:
        """Closes the connections."""
        for client in self._clients:
            await client.close()

    async def _ask_current(self, request: Callable[[AsyncQdrantClient], Awaitable[T]]) -> T:
        node = self._current
        try:
            with qdrant_errors(self._collection):
                result = await request(self._clients[node])
        except (CollectionMissingError, StoreTooOldError):
            raise
        except (StoreUnavailableError, asyncio.CancelledError):
            # A caller that waits no longer cancels: the node may hang.
            if self._current == node:
                self._current = (node + 1) % len(self._clients)
            raise
        if self._answered != node == self._current:
            _log.warning("store_node_changed", node=node + 1, former_node=self._answered + 1, nodes=len(self._clients))
            self._answered = node
        return result
