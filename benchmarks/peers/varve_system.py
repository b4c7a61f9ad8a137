"""Varve's embedded stack, as ``varve dev`` starts it: Kafka, Redis, the store, all stages and the query service; no language model."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Final

from varve_client import AsyncVarveClient

from benchmarks.ingest import TENANT, until_quiet, until_recalled
from benchmarks.peers.interface import LIMIT, Found, Query, Turn
from stores.edge.client import EdgeStore
from varve.embedded.lifecycle import temporary_stack
from varve.service_client import service_client

PACKAGES = ("varve-server", "qdrant-edge-py")
_BATCH: Final = 256
_STORE_TIMEOUT_S: Final = 60.0


class Varve:
    """A running stack.

    Args:
        service: A client of its query service.
        store: Its store, which says how many memories there are.
    """

    def __init__(self, service: AsyncVarveClient, store: EdgeStore) -> None:
        self._service = service
        self._store = store

    async def add(self, turns: Sequence[Turn]) -> float:
        """Sends messages, closes their windows, and waits until the index has not grown for some seconds, which do not count."""
        messages = [asdict(each) for each in turns]
        started = time.monotonic()
        for start in range(0, len(messages), _BATCH):
            await self._service.send(messages[start : start + _BATCH])
        await self._service.flush()
        recalled = asyncio.create_task(until_recalled(self._service, messages, started))
        searchable_s, _ = await until_quiet(self._store, started, recalled)
        return searchable_s

    async def search(self, query: Query) -> list[Found]:
        """The results of a recall with its default settings."""
        answer = await self._service.recall(query.text, user=query.user, limit=LIMIT)
        return [Found(tuple(each.evidence), each.content) for each in answer.results]


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Varve]:
    """A stack with its data in a folder."""
    async with temporary_stack(folder, tenant=TENANT) as running, service_client(running.settings) as service:
        store = EdgeStore(path=running.settings.edge_socket, timeout_s=_STORE_TIMEOUT_S)
        try:
            yield Varve(service, store)
        finally:
            await store.close()
