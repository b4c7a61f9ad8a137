"""The server of the process that owns an Edge shard. It serves clients over a Unix socket, one engine call at a time.

The engine holds the GIL in every call, so threads would not help. Calls run in the event loop. Writes and recalls are split into small
pieces, so that other requests can run in between. Recalls do not run in the order of their arrival: tenants share the engine's time
(:mod:`stores.edge.engine_scheduler`).
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from runtime.background import BackgroundWorks
from runtime.logs import logger
from runtime.pieces import yield_to_event_loop
from stores.edge.engine_scheduler import EngineScheduler
from stores.edge.folder import bind_socket
from stores.edge.protocol import BodyReader, Frame, error_header, read_filter, read_frame
from stores.edge.search import ScoredRecord, best
from stores.edge.shard import EncodedPoint, Shard
from stores.errors import StoreRejectedError
from stores.filters import TombstoneFilter
from stores.lexical_analysis import Terms
from stores.position import FeedPosition
from stores.query_plan import QueryPlan
from stores.time_order import TimeOrder

INTERVAL_S: Final = 24 * 3600.0
"""Time between two compactions. A deleted text may stay in the files for this time plus the duration of a compaction."""
_CHECK_INTERVAL_S: Final = 60.0
_RETRY_AFTER_S: Final = 3600.0
REST_RATIO: Final = 19.0
"""Ratio of pauses to work: a compaction takes a twentieth of the owner's time, and about five minutes for 20,000 memories."""

_log = logger(__name__)

POINTS_IN_CALL: Final = 16
"""Most points that one engine call writes. A recall that arrives meanwhile waits about ten milliseconds."""
FLUSH_INTERVAL_S: Final = 5.0
"""Time between two flushes of written points to disk. It bounds what a restart replays, and what a power failure could lose."""

Handler = Callable[[dict[str, Any], bytes], Awaitable[dict[str, Any]]]


class Compactor:
    """Compacts a shard when its files contain deleted or replaced points.

    Args:
        interval_s: Minimum time between two compactions.
    """

    def __init__(self, shard: Shard, *, interval_s: float = INTERVAL_S, rest_ratio: float = REST_RATIO) -> None:
        self._shard = shard
        self._interval_s = interval_s
        self._rest_ratio = rest_ratio

    async def run(self) -> None:
        """Runs until it is cancelled."""
        while True:
            await asyncio.sleep(min(self._interval_s, _CHECK_INTERVAL_S))
            waste = self._shard.waste
            if not waste.is_there or (waste.age_s is not None and waste.age_s < self._interval_s):
                continue
            try:
                await self._compact()
            except Exception as error:
                # The engine raises bare Exceptions. The shard is unchanged.
                _log.error("shard_not_compacted", error=str(error), retry_in_s=_RETRY_AFTER_S)
                await asyncio.sleep(_RETRY_AFTER_S)

    async def _compact(self) -> None:
        started_at, bytes_before, worked_s = time.perf_counter(), self._shard.on_disk_bytes, 0.0
        with closing(self._shard.compaction()) as steps:
            step_started_at = time.perf_counter()
            for _ in steps:
                step_s = time.perf_counter() - step_started_at
                worked_s += step_s
                await asyncio.sleep(self._rest_ratio * step_s)
                step_started_at = time.perf_counter()
        _log.info(
            "shard_rewritten",
            points=self._shard.points,
            bytes_before=bytes_before,
            bytes_now=self._shard.on_disk_bytes,
            worked_s=round(worked_s, 1),
            took_s=round(time.perf_counter() - started_at, 1),
        )


class Owner:
    """Serves one shard over one Unix socket, which :meth:`serve` binds.

    Args:
        compactor: Compacts the shard in the background. Default: one with default intervals.
    """

    def __init__(self, *, shard: Shard, path: Path, compactor: Compactor | None = None) -> None:
        self._shard = shard
        self._compactor = compactor or Compactor(shard)
        self._path = path
        self._dirty = False
        self._connections: set[asyncio.Task[None]] = set()
        self._scheduler = EngineScheduler()
        self._handlers: dict[str, Handler] = {
            "ping": self._ping,
            "prepare": self._prepare,
            "upsert": self._upsert,
            "put_steps": self._put_steps,
            "delete": self._delete,
            "purge": self._purge,
            "set_checkpoint": self._set_checkpoint,
            "checkpoint_of": self._checkpoint_of,
            "recall": self._recall,
            "scroll": self._scroll,
            "by_time": self._by_time,
            "count": self._count,
            "size": self._size,
            "drop": self._drop,
        }

    async def serve(self, stopping: asyncio.Event) -> None:
        """Serves until ``stopping`` is set. Acknowledged requests are durable by then. Clients retry the others.

        Raises:
            OwnershipError: If the socket cannot be bound.
            BackgroundWorkError: If flushes of written points fail repeatedly.
        """
        server = await asyncio.start_unix_server(self._accept, sock=bind_socket(self._path))
        background = BackgroundWorks()
        background.add("flush", self._flush_periodically)
        background.add("compaction", self._compactor.run)
        background.on_given_up = stopping.set
        async with background.running():
            try:
                await stopping.wait()
            finally:
                server.close()
                self._path.unlink(missing_ok=True)
                for connection in self._connections:
                    connection.cancel()
                await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        recalls: dict[asyncio.Task[None], Any] = {}
        try:
            while (frame := await read_frame(reader)) is not None:
                op, number = frame.header.get("op"), frame.header.get("id")
                if op == "recall":
                    recall = asyncio.create_task(self._serve_recall(frame, writer))
                    recalls[recall] = number
                    recall.add_done_callback(recalls.pop)
                    continue
                if op == "abandon":
                    # Recalls without a caller would delay the others.
                    for recall in (each for each, its_number in recalls.items() if its_number == number):
                        recall.cancel()
                    continue
                writer.write(await self._respond(frame))
                await writer.drain()
        except (ValueError, OSError, asyncio.IncompleteReadError):
            pass  # The client closed the connection, or uses another protocol: no response is possible.
        except asyncio.CancelledError:
            pass  # The owner stops. asyncio's own callback would log a cancelled connection as an error.
        finally:
            self._connections.discard(task)
            for recall in recalls:
                recall.cancel()
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _serve_recall(self, frame: Frame, writer: asyncio.StreamWriter) -> None:
        response = await self._respond(frame)
        with contextlib.suppress(OSError):  # the client closed the connection
            writer.write(response)
            await writer.drain()
        self._shard.read_on()

    async def _respond(self, frame: Frame) -> bytes:
        request_id = frame.header.get("id")
        try:
            handler = self._handlers.get(frame.header.get("op", ""))
            if handler is None:
                raise StoreRejectedError(f"the Edge owner knows no operation {frame.header.get('op')!r}: run the same version of both")
            return Frame({"id": request_id, **await handler(frame.header, frame.body)}).encoded()
        except (ValueError, KeyError, TypeError) as error:
            return Frame({"id": request_id, **error_header(StoreRejectedError(f"the request is malformed: {error!r}"))}).encoded()
        except Exception as error:
            # The engine raises bare Exceptions, for a full disk as well as for a query that it cannot plan.
            return Frame({"id": request_id, **error_header(error)}).encoded()

    async def _ping(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        return {"process": os.getpid()}

    async def _prepare(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        late_dimension = header["late_dimension"]
        late = None if late_dimension is None else int(late_dimension)
        self._shard.prepare(str(header["model"]), int(header["dimension"]), late)
        return {}

    async def _upsert(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        numbers = BodyReader(body)
        points = [_encoded_point(each, numbers) for each in header["points"]]
        numbers.finish()
        for start in range(0, len(points), POINTS_IN_CALL):
            self._dirty = True
            self._shard.upsert(points[start : start + POINTS_IN_CALL])
            await yield_to_event_loop()
        return {}

    async def _put_steps(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        payloads = [*dict(header["payloads"]).items()]
        for start in range(0, len(payloads), POINTS_IN_CALL):
            self._dirty = True
            self._shard.put_steps(dict(payloads[start : start + POINTS_IN_CALL]))
            await yield_to_event_loop()
        return {}

    async def _delete(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        self._dirty = True
        self._shard.delete(read_filter(header["filter"]), dict(header["tombstones"]))
        return {}

    async def _purge(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        self._dirty = True
        self._shard.purge(TombstoneFilter(datetime.fromisoformat(header["before"])))
        return {}

    async def _set_checkpoint(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        position = FeedPosition.from_payload(header["position"])
        if position is None:
            raise ValueError("a checkpoint needs a position")
        self._dirty = True
        self._shard.set_checkpoint(position)
        return {}

    async def _checkpoint_of(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        checkpoint = self._shard.checkpoint_of(int(header["partition"]))
        return {"position": None if checkpoint is None else checkpoint.payload()}

    async def _recall(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        plan = _query_plan(header, BodyReader(body))
        calls = self._shard.recall(plan, explain=bool(header["explain"]))
        recall = self._scheduler.recall(plan.filter.scope.tenant, plan.prefetch)
        found: list[ScoredRecord] = []
        # The last piece has the matches. Another turn would only show that the iterator is exhausted.
        while not found and (piece := await self._scheduler.run(recall, lambda: next(calls, None))) is not None:
            found = piece
        return {"found": [[each.record, each.score, each.parts] for each in best((found,), plan.limit)]}

    async def _scroll(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        return {"records": self._shard.scroll(read_filter(header["filter"]), start=header["start"], limit=int(header["limit"]))}

    async def _by_time(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        order: TimeOrder = "newest" if header["order"] == "newest" else "oldest"
        wanted = read_filter(header["filter"])
        return {"records": self._shard.by_time(wanted, order, start=header["start"], limit=int(header["limit"]))}

    async def _count(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        return {"count": self._shard.count(read_filter(header["filter"]))}

    async def _size(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        return {"points": self._shard.points, "bytes": self._shard.on_disk_bytes}

    async def _drop(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        self._shard.drop()
        return {}

    async def _flush_periodically(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_INTERVAL_S)
            if self._dirty:
                self._shard.flush()
                self._dirty = False


def _encoded_point(fields: dict[str, Any], numbers: BodyReader) -> EncodedPoint:
    return EncodedPoint(
        id=fields["id"],
        payload=fields["payload"],
        dense=numbers.floats(fields["dense"]),
        late=numbers.rows(*fields["late"]),
        terms=Terms(numbers.numbers(fields["terms"]), list(numbers.floats(fields["terms"]))),
    )


def _query_plan(header: dict[str, Any], numbers: BodyReader) -> QueryPlan:
    plan = QueryPlan(
        filter=read_filter(header["filter"]),
        dense=numbers.floats(header["dense"]),
        late=numbers.rows(*header["late"]),
        terms=Terms(numbers.numbers(header["terms"]), list(numbers.floats(header["terms"]))),
        limit=int(header["limit"]),
        prefetch=int(header["prefetch"]),
    )
    numbers.finish()
    return plan
