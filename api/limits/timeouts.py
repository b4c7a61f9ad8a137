"""HTTP/1.1 protocol of uvicorn with time-outs for slow clients and a limit of connections.

uvicorn has no setting for this: ``timeout_keep_alive`` limits the silence between two requests, but neither a request that was begun and is
not finished, nor a response that is not read. A proxy can do it, but the service must not depend on one.
"""

import asyncio
import http
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, cast

import h11
from h11._connection import DEFAULT_MAX_INCOMPLETE_EVENT_SIZE
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from api.http.json_http import to_json
from api.http.one_write_transport import OneWriteTransport
from api.http.strict_parsing import StrictConnection
from api.limits.connection_table import ConnectionTable
from api.limits.slow_reader import ReaderWatch
from api.problems import MEDIA_TYPE, RETRY_AFTER_S, ProblemError
from runtime.metrics import Metrics
from runtime.settings import ServiceSettings

_HEAD_TOO_SLOW: Final = ProblemError(408, "too-slow", "the request head did not arrive in time")
_BODY_TOO_SLOW: Final = ProblemError(408, "too-slow", "the request body did not arrive in time; send smaller batches")
_TOO_MANY: Final = ProblemError(503, "unavailable", "too many connections; try again", headers={"Retry-After": str(RETRY_AFTER_S)})

Reason = Literal["head", "body", "answer", "room", "refused"]
"""Reason for closing a connection: a time-out of one of the three, a newer connection (``room``), or too many connections (``refused``)."""


@dataclass(frozen=True, slots=True)
class _Shared:
    """Parts that all connections share."""

    settings: ServiceSettings
    table: "ConnectionTable[BoundedProtocol]"
    count: Callable[[Reason], None]


class BoundedProtocol(H11Protocol):
    """One connection.

    Args:
        config: uvicorn's configuration, as the further arguments.
    """

    def __init__(
        self,
        shared: _Shared,
        *,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        limit = config.h11_max_incomplete_event_size
        self.conn = StrictConnection(DEFAULT_MAX_INCOMPLETE_EVENT_SIZE if limit is None else limit)
        self._shared = shared
        self._reading: Literal["head", "body"] | None = None
        self._read_timer: asyncio.TimerHandle | None = None
        self._reader = ReaderWatch(
            unread=lambda: self.transport.get_write_buffer_size(), timeout_s=shared.settings.write_timeout_s, cut_off=self._cut_off
        )

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Adds the connection, and starts the time-out of the first request."""
        super().connection_made(transport)
        self.transport = cast("asyncio.Transport", OneWriteTransport(transport, self.loop, on_write=self._reader.note_written))
        victim = self._shared.table.add(self)
        if victim is self:
            self._refuse(_TOO_MANY, "refused")
            return
        if victim is not None:
            victim.give_up()
        self._expect("head")

    def connection_lost(self, exc: Exception | None) -> None:
        """Removes the connection, which either side has closed."""
        self._expect(None)
        self._reader.stop()
        self._shared.table.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Starts the time-out of the next request."""
        if self._reading is None and self.conn.their_state is h11.IDLE:
            self._expect("head")
        super().data_received(data)

    def handle_events(self) -> None:
        """Handles received events, and starts or ends their time-outs."""
        super().handle_events()
        state = self.conn.their_state
        if state is h11.IDLE:
            return
        if self.cycle is not None and not self.cycle.response_complete:
            table = self._shared.table
            (table.body_began if state is h11.SEND_BODY else table.request_began)(self)
        if state is not h11.SEND_BODY:
            self._expect(None)
        elif self._reading != "body":
            self._expect("body")

    def on_response_complete(self) -> None:
        """Records the end of a response."""
        self._shared.table.request_ended(self)
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Begins to watch a client that reads slowly. A little reading resumes the writing, but does not end the watch."""
        super().pause_writing()
        self._reader.start()

    def give_up(self) -> None:
        """Closes the connection in favour of a newer one: it has no complete request."""
        if self.transport.get_write_buffer_size():
            # `close` would wait for a client that does not read, and the table no longer counts the connection.
            self._shared.count("room")
            self.transport.abort()
        elif self._reading == "body":
            self._refuse(_TOO_MANY, "room")
        else:
            self._shared.count("room")
            self.transport.close()

    def _expect(self, part: Literal["head", "body"] | None) -> None:
        """Starts the time-out for a part of a request. None: only ends the current one."""
        if self._read_timer is not None:
            self._read_timer.cancel()
        self._reading, self._read_timer = part, None
        if part is not None:
            settings = self._shared.settings
            seconds = settings.head_timeout_s if part == "head" else settings.body_timeout_s
            self._read_timer = self.loop.call_later(seconds, partial(self._expire, part))

    def _expire(self, part: Literal["head", "body"]) -> None:
        if self.transport.is_closing():
            return
        if part == "body":
            self._refuse(_BODY_TOO_SLOW, "body")
        elif self.conn.trailing_data[0]:
            self._refuse(_HEAD_TOO_SLOW, "head")
        else:
            # The client has sent nothing yet. It would take a response for that of its next request.
            self._shared.count("head")
            self.transport.close()

    def _refuse(self, problem: ProblemError, reason: Reason) -> None:
        """Sends a problem, unless a response has begun, and closes the connection. For the app the client has disconnected."""
        self._shared.count(reason)
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = to_json(problem.body())
            headers = {"Content-Type": MEDIA_TYPE, "Content-Length": str(len(body)), "Connection": "close", **(problem.headers or {})}
            reason_phrase = http.HTTPStatus(problem.status_code).phrase.encode()
            response = h11.Response(status_code=problem.status_code, headers=[*headers.items()], reason=reason_phrase)
            for event in (response, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _cut_off(self) -> None:
        self._shared.count("answer")
        # `close` would wait until the client has read everything.
        self.transport.abort()


def bounded_protocol(settings: ServiceSettings, metrics: Metrics) -> type[asyncio.Protocol]:
    """Creates the protocol class for :class:`uvicorn.Config`."""
    table = ConnectionTable[BoundedProtocol](limit=settings.max_connections)
    shared = _Shared(settings, table, lambda reason: metrics.connections_closed.labels(reason=reason).inc())
    metrics.connections.set_function(lambda: len(table))
    return cast("type[asyncio.Protocol]", partial(BoundedProtocol, shared))
