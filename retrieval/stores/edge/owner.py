"""The process that owns an Edge shard: answers its clients over a Unix socket, one engine call at a time.

The engine holds Python's lock in every call, so threads would gain nothing: calls run in the event loop, writes in small pieces
between which other clients' recalls get their turn.
"""

import asyncio
import contextlib
import fcntl
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from retrieval.errors import RetrievalError, StoreRejectedError
from retrieval.stores.edge.shard import Shard, StoredPoint
from retrieval.stores.edge.wire import BodyReader, Frame, error_header, read_frame
from retrieval.stores.fusion import HybridPlan
from retrieval.stores.lexical import Terms
from retrieval.stores.scope import TenantFilter

POINTS_IN_CALL: Final = 16
"""How many points one engine call writes: a recall that arrives meanwhile waits about ten milliseconds."""
FLUSH_INTERVAL_S: Final = 5.0
"""How often what was written is flushed to the files proper: bounds what a restart replays, and what a power cut could take."""
MAX_SOCKET_PATH: Final = 107
"""Linux's limit for the path of a Unix socket, in bytes."""

Handler = Callable[[dict[str, Any], bytes], Awaitable[dict[str, Any]]]


class OwnershipError(RetrievalError):
    """The folder or the socket belongs to another process, or cannot be had at all."""


class Ownership:
    """The lock on a data folder: the operating system frees it however its holder ends."""

    def __init__(self, folder: Path) -> None:
        """Takes the lock.

        Raises:
            OwnershipError: If another process has it.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / "owner.lock").open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.seek(0)
            holder = self._file.read().strip() or "unknown"
            self._file.close()
            raise OwnershipError(
                f"{folder} already has an owner (process {holder}): an Edge shard is opened once, stop that one first"
            ) from None
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def release(self) -> None:
        """Gives the folder back."""
        self._file.close()


class Owner:
    """Serves one shard over one Unix socket."""

    def __init__(self, *, shard: Shard, path: Path) -> None:
        """Binds nothing yet.

        Args:
            shard: The shard; the caller closes it.
            path: Where the socket shall lie.
        """
        self._shard = shard
        self._path = path
        self._dirty = False
        self._connections: set[asyncio.Task[None]] = set()
        self._handlers: dict[str, Handler] = {
            "ping": self._ping,
            "prepare": self._prepare,
            "upsert": self._upsert,
            "delete": self._delete,
            "recall": self._recall,
            "scroll": self._scroll,
            "count": self._count,
            "drop": self._drop,
        }

    async def serve(self, stopping: asyncio.Event) -> None:
        """Answers until told to stop. What was acknowledged by then is done; the rest its client sends again.

        Raises:
            OwnershipError: If the socket cannot be had.
        """
        server = await asyncio.start_unix_server(self._accept, sock=_bound(self._path))
        flusher = asyncio.create_task(self._flush_at_times())
        try:
            await stopping.wait()
        finally:
            server.close()
            self._path.unlink(missing_ok=True)
            for task in (flusher, *self._connections):
                task.cancel()
            await asyncio.gather(flusher, *self._connections, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while (frame := await read_frame(reader)) is not None:
                writer.write(await self._answer(frame))
                await writer.drain()
        except (ValueError, OSError, asyncio.IncompleteReadError):
            pass  # The client went away or speaks another language: nobody is left to be told.
        except asyncio.CancelledError:
            pass  # The owner stops; asyncio's own callback would log a cancelled connection as an error.
        finally:
            self._connections.discard(task)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, frame: Frame) -> bytes:
        request = frame.header.get("id")
        try:
            handler = self._handlers.get(frame.header.get("op", ""))
            if handler is None:
                raise StoreRejectedError(f"the Edge owner knows no operation {frame.header.get('op')!r}")
            return Frame({"id": request, **await handler(frame.header, frame.body)}).encoded()
        except (ValueError, KeyError, TypeError) as error:
            return Frame({"id": request, **error_header(StoreRejectedError(f"the request is not as it must be: {error!r}"))}).encoded()
        except Exception as error:
            # The engine raises bare Exceptions: for a full disk as for a query it cannot plan.
            return Frame({"id": request, **error_header(error)}).encoded()

    async def _ping(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        return {"process": os.getpid()}

    async def _prepare(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        self._shard.prepare(str(header["model"]), int(header["dimension"]))
        return {}

    async def _upsert(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        numbers = BodyReader(body)
        points = [_stored_point(each, numbers, int(header["dimension"])) for each in header["points"]]
        numbers.finish()
        for start in range(0, len(points), POINTS_IN_CALL):
            self._dirty = True
            self._shard.upsert(points[start : start + POINTS_IN_CALL])
            await asyncio.sleep(0)
        return {}

    async def _delete(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        self._dirty = True
        self._shard.delete(TenantFilter.from_wire(header["filter"]))
        return {}

    async def _recall(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        found = self._shard.recall(_plan(header, BodyReader(body)), explain=bool(header["explain"]))
        return {"found": [[each.record, each.score, each.parts] for each in found]}

    async def _scroll(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        return {"records": self._shard.scroll(TenantFilter.from_wire(header["filter"]), start=header["start"], limit=int(header["limit"]))}

    async def _count(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        return {"count": self._shard.count(TenantFilter.from_wire(header["filter"]))}

    async def _drop(self, header: dict[str, Any], body: bytes) -> dict[str, Any]:
        self._shard.drop()
        return {}

    async def _flush_at_times(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_INTERVAL_S)
            if self._dirty:
                self._dirty = False
                self._shard.flush()


def _stored_point(fields: dict[str, Any], numbers: BodyReader, dimension: int) -> StoredPoint:
    return StoredPoint(
        id=fields["id"],
        payload=fields["payload"],
        dense=numbers.floats(dimension),
        late=numbers.rows(fields["late"], dimension),
        terms=Terms(numbers.numbers(fields["terms"]), list(numbers.floats(fields["terms"]))),
    )


def _plan(header: dict[str, Any], numbers: BodyReader) -> HybridPlan:
    dimension = int(header["dimension"])
    plan = HybridPlan(
        filter=TenantFilter.from_wire(header["filter"]),
        dense=numbers.floats(dimension),
        late=numbers.rows(header["late"], dimension),
        terms=Terms(numbers.numbers(header["terms"]), list(numbers.floats(header["terms"]))),
        limit=int(header["limit"]),
        prefetch=int(header["prefetch"]),
    )
    numbers.finish()
    return plan


def _bound(path: Path) -> socket.socket:
    """A socket bound to the path; one that a killed owner left there is removed."""
    if len(os.fsencode(path)) > MAX_SOCKET_PATH:
        raise OwnershipError(
            f"{path} is longer than the {MAX_SOCKET_PATH} bytes of a Unix socket's path: choose a shorter one (VARVE_STORE__SOCKET)"
        )
    if is_served(path):
        raise OwnershipError(f"another process already answers on {path}: stop it first, or choose another socket")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    previous = os.umask(0o177)
    try:
        listening.bind(str(path))
    except OSError as error:
        listening.close()
        raise OwnershipError(f"the socket {path} cannot be made: {error.strerror}") from error
    finally:
        os.umask(previous)
    return listening


def is_served(path: Path) -> bool:
    """Whether a process listens on the socket: an owner does so only once its shard is open."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True
