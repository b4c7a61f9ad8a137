"""The :class:`~retrieval.stores.port.MemoryStore` that talks to the process which owns an Edge shard."""

import asyncio
import contextlib
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memory.records import Memory
from models.embedding.port import Embedding
from retrieval.errors import StoreUnavailableError
from retrieval.stores.edge.wire import POINTS_IN_FRAME, Frame, error_of, read_frame
from retrieval.stores.fusion import clamped
from retrieval.stores.lexical import Terms
from retrieval.stores.points import check_points, memory_of, payload_of, point_ids, prepared, terms_of_memory
from retrieval.stores.port import Point, RecallQuery, Scored
from retrieval.stores.queries import check_query, floats, plan_of
from retrieval.stores.scope import TenantFilter, TenantScope

MAX_PIPELINED = 64
"""Requests of one client that may wait for their answers at once; further ones wait their turn."""


class EdgeStore:
    """A client of the Edge owner. Connects when first used, and again after the owner was away."""

    def __init__(self, *, path: Path, timeout_s: float = 10.0) -> None:
        """Opens nothing yet.

        Args:
            path: The owner's Unix socket.
            timeout_s: Longest wait for one answer, in seconds.
        """
        if timeout_s <= 0:
            raise ValueError(f"timeout_s must be above 0, got {timeout_s}")
        self._path = path
        self._timeout_s = timeout_s
        self._connection: _Connection | None = None
        self._connecting = asyncio.Lock()
        self._slots = asyncio.Semaphore(MAX_PIPELINED)
        self._model: tuple[str, int] | None = None

    async def ping(self) -> None:
        """Returns when the owner answers.

        Raises:
            StoreUnavailableError: If it does not.
        """
        await self._request({"op": "ping"})

    async def prepare(self, *, model: str, dimension: int) -> None:
        """Creates the shard where missing; refuses one of another model or dimension."""
        await self._request({"op": "prepare", "model": model, "dimension": dimension})
        self._model = (model, dimension)

    async def upsert(self, points: Sequence[Point]) -> None:
        """Writes points; on return they are in the owner's write-ahead log."""
        model, dimension = prepared(self._model)
        check_points(points, dimension=dimension)
        batches = [points[start : start + POINTS_IN_FRAME] for start in range(0, len(points), POINTS_IN_FRAME)]
        for batch in batches:
            await self._request(*_upsert_request(batch, model, dimension))

    async def delete(self, scope: TenantScope, ids: Sequence[str]) -> None:
        """Removes points of one scope; an unknown id is no error."""
        if known := point_ids(ids):
            await self._request({"op": "delete", "filter": TenantFilter(scope=scope, ids=tuple(known)).to_wire()})

    async def get(self, scope: TenantScope, ids: Sequence[str]) -> list[Memory]:
        """The memories of those ids, in the order asked, without those that are not the scope's."""
        known = point_ids(ids)
        if not known:
            return []
        records = await self._scroll(TenantFilter(scope=scope, ids=tuple(known)), start=None, limit=len(known))
        return [memory_of(records[each]) for each in known if each in records]

    async def recall(self, query: RecallQuery) -> list[Scored]:
        """The best matches, best first."""
        check_query(query)
        answer = await self._request(*_recall_request(query))
        return [Scored(memory_of(record), clamped(score), parts) for record, score, parts in answer["found"]]

    async def scroll(self, scope: TenantScope, *, after: str | None = None, limit: int = 100) -> list[Memory]:
        """A scope's memories in the order of their ids, behind ``after``."""
        records = await self._scroll(TenantFilter(scope=scope), start=after, limit=limit + 1 if after else limit)
        return [memory_of(record) for each, record in records.items() if each != after][:limit]

    async def count(self, scope: TenantScope) -> int:
        """How many memories the scope has, exactly."""
        answer = await self._request({"op": "count", "filter": TenantFilter(scope=scope).to_wire()})
        return int(answer["count"])

    async def drop(self) -> None:
        """Removes the shard's data; :meth:`prepare` makes it anew."""
        await self._request({"op": "drop"})

    async def close(self) -> None:
        """Hangs up."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _scroll(self, tenant_filter: TenantFilter, *, start: str | None, limit: int) -> dict[str, str]:
        answer = await self._request({"op": "scroll", "filter": tenant_filter.to_wire(), "start": start, "limit": limit})
        records: dict[str, str] = answer["records"]
        return records

    async def _request(self, header: dict[str, Any], body: bytes = b"") -> dict[str, Any]:
        async with self._slots:
            try:
                async with asyncio.timeout(self._timeout_s):
                    answer = await self._ask(header, body)
            except TimeoutError as error:
                raise StoreUnavailableError(f"the Edge owner on {self._path} did not answer within {self._timeout_s:g} s") from error
            except OSError as error:
                raise StoreUnavailableError(f"the Edge owner on {self._path} is away: {error.strerror or error}") from error
        if "error" in answer:
            raise error_of(answer)
        return answer

    async def _ask(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        known = self._connection
        connection = await self._connected()
        try:
            return await connection.ask(header, body)
        except OSError:
            if connection is not known:
                raise
            # The owner may have been restarted since the last request; every operation may be repeated.
            return await (await self._connected()).ask(header, body)

    async def _connected(self) -> "_Connection":
        async with self._connecting:
            if self._connection is None or self._connection.broken:
                await self.close()
                self._connection = await _Connection.open(self._path)
            return self._connection


class _Connection:
    """One connection: sends requests as they come, gives each its answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._numbers = itertools.count()
        self._failed = False
        self._receiver = asyncio.create_task(self._receive())

    @classmethod
    async def open(cls, path: Path) -> "_Connection":
        return cls(*await asyncio.open_unix_connection(str(path)))

    @property
    def broken(self) -> bool:
        return self._failed or self._receiver.done()

    async def ask(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        number = next(self._numbers)
        data = Frame({"id": number, **header}, body).encoded()
        if self.broken:
            raise ConnectionResetError("it hung up")
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            self._writer.write(data)
            await self._writer.drain()
            result: dict[str, Any] = await answer
            return result
        except OSError:
            self._failed = True
            raise
        finally:
            self._waiting.pop(number, None)
            if not answer.cancel() and not answer.cancelled():
                answer.exception()  # Seen: asyncio would warn of one that drain() hid.

    async def close(self) -> None:
        self._receiver.cancel()
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
        await asyncio.gather(self._receiver, return_exceptions=True)

    async def _receive(self) -> None:
        try:
            while (frame := await read_frame(self._reader)) is not None:
                waiting = self._waiting.get(frame.header["id"])
                if waiting is not None and not waiting.done():
                    waiting.set_result(frame.header)
        except (ValueError, OSError, asyncio.IncompleteReadError):
            pass  # Told below to everyone who waits.
        finally:
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(ConnectionResetError("it hung up before it answered"))


def _upsert_request(points: Sequence[Point], model: str, dimension: int) -> tuple[dict[str, Any], bytes]:
    fields: list[dict[str, Any]] = []
    body: list[bytes | memoryview] = []
    for point in points:
        terms, late = terms_of_memory(point.memory), point.embedding.late
        rows = 0 if late is None else len(late)
        fields.append({"id": point.memory.id, "payload": payload_of(point.memory, model=model), "late": rows, "terms": len(terms.indices)})
        body += (*_vector_bytes(point.embedding), *_term_bytes(terms))
    return {"op": "upsert", "dimension": dimension, "points": fields}, b"".join(body)


def _recall_request(query: RecallQuery) -> tuple[dict[str, Any], bytes]:
    plan = plan_of(query)
    header = {
        "op": "recall",
        "filter": plan.filter.to_wire(),
        "dimension": len(plan.dense),
        "late": len(plan.late),
        "terms": len(plan.terms.indices),
        "limit": plan.limit,
        "prefetch": plan.prefetch,
        "explain": query.explain,
    }
    return header, b"".join((*_vector_bytes(query.embedding), *_term_bytes(plan.terms)))


def _vector_bytes(embedding: Embedding) -> tuple[memoryview, ...]:
    return (floats(embedding.dense),) if embedding.late is None else (floats(embedding.dense), floats(embedding.late))


def _term_bytes(terms: Terms) -> tuple[bytes, bytes]:
    return np.asarray(terms.indices, dtype="<u4").tobytes(), np.asarray(terms.values, dtype="<f4").tobytes()
