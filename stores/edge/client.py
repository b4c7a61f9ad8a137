"""The :class:`~stores.port.MemoryStore` on Qdrant Edge: a client of the process that owns the shard."""

import asyncio
import contextlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from models.embedding.port import Embedding
from runtime.pieces import map_in_pieces
from stores.base import StoreBase
from stores.edge.protocol import POINTS_IN_FRAME, Frame, error_from_header, read_frame
from stores.errors import StoreUnavailableError
from stores.filters import MemoryFilter, iso_time
from stores.lexical_analysis import Terms, query_terms
from stores.points import (
    canonical_positions,
    memory_of,
    newest_steps,
    payload_of,
    step_payload,
    terms_of_memory,
    tombstone_payload,
)
from stores.port import Point, RecallQuery, ScoredMemory, StepPoint, StoreSize, TenantScope
from stores.position import FeedPosition
from stores.query_plan import check_query, clamp_score, float32_view
from stores.time_order import TimeOrder

MAX_PIPELINED = 64
"""Most requests of one client without a response. Further ones wait."""


class EdgeStore(StoreBase):
    """A client of the Edge owner. It connects with its first request, and reconnects after it loses the connection."""

    def __init__(self, *, path: Path, timeout_s: float = 10.0) -> None:
        if timeout_s <= 0:
            raise ValueError(f"timeout_s must be above 0, got {timeout_s}")
        self._path = path
        self._timeout_s = timeout_s
        self._connection: _Connection | None = None
        self._connecting = asyncio.Lock()
        self._closed = False
        self._slots = asyncio.Semaphore(MAX_PIPELINED)

    async def ping(self) -> None:
        """Checks that the owner responds.

        Raises:
            StoreUnavailableError: If it does not.
        """
        await self._request({"op": "ping"})

    async def prepare(self, *, model: str, dimension: int, late_dimension: int | None) -> None:
        """See :meth:`MemoryStore.prepare`."""
        await self._request({"op": "prepare", "model": model, "dimension": dimension, "late_dimension": late_dimension})
        self._dimensions = (dimension, late_dimension)

    async def upsert(self, points: Sequence[Point]) -> None:
        """See :meth:`MemoryStore.upsert`. On return the points are in the owner's write-ahead log."""
        checked = self._checked_points(points)
        batches = [checked[start : start + POINTS_IN_FRAME] for start in range(0, len(checked), POINTS_IN_FRAME)]
        for batch in batches:
            await self._request(*_upsert_request(batch))

    async def put_steps(self, points: Sequence[StepPoint]) -> None:
        """See :meth:`MemoryStore.put_steps`. On return they are in the owner's write-ahead log."""
        payloads = [(each, step_payload(point)) for each, point in newest_steps(points).items()]
        for start in range(0, len(payloads), POINTS_IN_FRAME):
            await self._request({"op": "put_steps", "payloads": dict(payloads[start : start + POINTS_IN_FRAME])})

    async def delete(self, scope: TenantScope, positions: Mapping[str, FeedPosition]) -> None:
        """See :meth:`MemoryStore.delete`."""
        now = datetime.now(UTC)
        tombstones = [(each, tombstone_payload(position, now)) for each, position in canonical_positions(positions).items()]
        for start in range(0, len(tombstones), POINTS_IN_FRAME):
            batch = dict(tombstones[start : start + POINTS_IN_FRAME])
            await self._request({"op": "delete", "filter": replace(MemoryFilter.everything(scope), has_steps=True), "tombstones": batch})

    async def purge_tombstones(self, *, before: datetime) -> None:
        """See :meth:`MemoryStore.purge_tombstones`."""
        await self._request({"op": "purge", "before": iso_time(before)})

    async def set_checkpoint(self, position: FeedPosition) -> None:
        """See :meth:`MemoryStore.set_checkpoint`."""
        await self._request({"op": "set_checkpoint", "position": position.payload()})

    async def checkpoint_of(self, partition: int) -> FeedPosition | None:
        """See :meth:`MemoryStore.checkpoint_of`."""
        return FeedPosition.from_payload((await self._request({"op": "checkpoint_of", "partition": partition}))["position"])

    async def recall(self, query: RecallQuery) -> list[ScoredMemory]:
        """See :meth:`MemoryStore.recall`."""
        response = await self._request(*_recall_request(query))
        return await map_in_pieces(_scored_memory, response["found"])

    async def count(self, scope: TenantScope, *, generation: str | None = None, at: Sequence[FeedPosition] = ()) -> int:
        """See :meth:`MemoryStore.count`."""
        counted = MemoryFilter(scope=scope, generation=generation, at=tuple(at))
        response = await self._request({"op": "count", "filter": counted})
        return int(response["count"])

    async def size(self) -> StoreSize:
        """See :meth:`MemoryStore.size`."""
        response = await self._request({"op": "size"})
        return StoreSize(int(response["points"]), int(response["bytes"]))

    async def drop(self) -> None:
        """See :meth:`MemoryStore.drop`. :meth:`prepare` creates the shard again."""
        await self._request({"op": "drop"})

    async def close(self) -> None:
        """See :meth:`MemoryStore.close`. Pending and later requests fail."""
        self._closed = True
        async with self._connecting:
            await self._disconnect()

    async def _scroll_records(self, memory_filter: MemoryFilter, *, start: str | None, limit: int) -> dict[str, str]:
        response = await self._request({"op": "scroll", "filter": memory_filter, "start": start, "limit": limit})
        records: dict[str, str] = response["records"]
        return records

    async def _records_by_time(
        self, memory_filter: MemoryFilter, order: TimeOrder, *, start: datetime | None, limit: int
    ) -> list[tuple[str, str]]:
        header = {"op": "by_time", "filter": memory_filter, "order": order, "start": start and iso_time(start), "limit": limit}
        response = await self._request(header)
        return [(name, record) for name, record in response["records"]]

    async def _request(self, header: dict[str, Any], body: bytes = b"") -> dict[str, Any]:
        async with self._slots:
            try:
                async with asyncio.timeout(self._timeout_s):
                    response = await self._send(header, body)
            except TimeoutError as error:
                raise StoreUnavailableError(f"the Edge owner on {self._path} did not respond within {self._timeout_s:g} s") from error
            except OSError as error:
                raise StoreUnavailableError(f"the Edge owner on {self._path} is unavailable: {error.strerror or error}") from error
        if "error" in response:
            raise error_from_header(response)
        return response

    async def _send(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        previous = self._connection
        connection = await self._connected()
        try:
            return await connection.request(header, body)
        except OSError:
            if connection is not previous:
                raise
            # The owner may have restarted since the last request. Every operation is idempotent.
            return await (await self._connected()).request(header, body)

    async def _connected(self) -> "_Connection":
        async with self._connecting:
            if self._closed:
                # A request that was pending at the close is retried: its connection would stay open.
                raise ConnectionResetError("its client was closed")
            if self._connection is None or self._connection.broken:
                await self._disconnect()
                self._connection = await _Connection.open(self._path)
            return self._connection

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()


class _Connection:
    """One connection. Requests are pipelined. Each response has the number of its request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._pending: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._request_numbers = itertools.count()
        self._failed = False
        self._receiver = asyncio.create_task(self._receive())

    @classmethod
    async def open(cls, path: Path) -> "_Connection":
        return cls(*await asyncio.open_unix_connection(str(path)))

    @property
    def broken(self) -> bool:
        return self._failed or self._receiver.done()

    async def request(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        number = next(self._request_numbers)
        data = Frame({"id": number, **header}, body).encoded()
        if self.broken:
            raise ConnectionResetError("the owner closed the connection")
        response = self._pending[number] = asyncio.get_running_loop().create_future()
        try:
            self._writer.write(data)
            await self._writer.drain()
            result: dict[str, Any] = await response
            return result
        except OSError:
            self._failed = True
            raise
        except asyncio.CancelledError:
            if header["op"] == "recall" and not (self.broken or self._writer.is_closing()):
                # The caller's deadline has expired. Without this, the owner would finish the recall and delay others.
                self._writer.write(Frame({"id": number, "op": "abandon"}).encoded())
            raise
        finally:
            self._pending.pop(number, None)
            if not response.cancel() and not response.cancelled():
                response.exception()  # Marks the exception as retrieved; else asyncio warns about one that drain() hid.

    async def close(self) -> None:
        self._receiver.cancel()
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
        await asyncio.gather(self._receiver, return_exceptions=True)

    async def _receive(self) -> None:
        try:
            while (frame := await read_frame(self._reader)) is not None:
                response = self._pending.get(frame.header["id"])
                if response is not None and not response.done():
                    response.set_result(frame.header)
        except (ValueError, OSError, asyncio.IncompleteReadError):
            pass  # Every pending request fails below.
        finally:
            for response in self._pending.values():
                if not response.done():
                    response.set_exception(ConnectionResetError("the owner closed the connection before it responded"))


def _scored_memory(found: tuple[str, float, dict[str, float]]) -> ScoredMemory:
    record, score, parts = found
    return ScoredMemory(memory_of(record), score if 0.0 <= score <= 1.0 else clamp_score(score), parts)


def _upsert_request(points: Sequence[Point]) -> tuple[dict[str, Any], bytes]:
    fields: list[dict[str, Any]] = []
    body: list[bytes | memoryview] = []
    for point in points:
        terms = terms_of_memory(point.memory)
        shapes = _shapes(point.embedding)
        fields.append({"id": point.memory.id, "payload": payload_of(point), "terms": len(terms.indices), **shapes})
        body += (*_vector_bytes(point.embedding), *_term_bytes(terms))
    return {"op": "upsert", "points": fields}, b"".join(body)


def _recall_request(query: RecallQuery) -> tuple[dict[str, Any], bytes]:
    check_query(query)
    terms = query_terms(query.text)
    header = {
        "op": "recall",
        "filter": query.filter,
        "terms": len(terms.indices),
        **_shapes(query.embedding),
        "limit": query.limit,
        "prefetch": max(query.prefetch, query.limit),
        "explain": query.explain,
    }
    return header, b"".join((*_vector_bytes(query.embedding), *_term_bytes(terms)))


def _shapes(embedding: Embedding) -> dict[str, Any]:
    """The shapes in a header: the size of the dense vector, and the rows and columns of the late vectors."""
    return {"dense": embedding.dense.size, "late": (0, 0) if embedding.late is None else embedding.late.shape}


def _vector_bytes(embedding: Embedding) -> tuple[memoryview, ...]:
    return (float32_view(embedding.dense),) if embedding.late is None else (float32_view(embedding.dense), float32_view(embedding.late))


def _term_bytes(terms: Terms) -> tuple[bytes, bytes]:
    return np.asarray(terms.indices, dtype="<u4").tobytes(), np.asarray(terms.values, dtype="<f4").tobytes()
