"""HTTP/1.1 as uvicorn speaks it, with bounds on how long, and by how many, a connection is held without being used.

uvicorn has a time-out for the silence between two requests, and none for a request that is begun and not finished.
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

from api.connections import ConnectionTable
from api.json_http import to_json
from api.problems import MEDIA_TYPE, RETRY_AFTER_S, ProblemError
from api.strict_http import StrictConnection
from runtime.metrics import Metrics
from runtime.settings import ServiceSettings

_HEAD_TOO_SLOW: Final = ProblemError(408, "too-slow", "the head of the request did not come in time")
_BODY_TOO_SLOW: Final = ProblemError(408, "too-slow", "the body of the request did not come in time; send smaller batches")
_TOO_MANY: Final = ProblemError(503, "unavailable", "too many connections; try again", headers={"Retry-After": str(RETRY_AFTER_S)})

Reason = Literal["head", "body", "answer", "room", "refused"]
"""Why the service closed a connection: a time-out of one of the three, to make room for a new one, or as the one too many."""


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What all connections share."""

    settings: ServiceSettings
    table: "ConnectionTable[BoundedProtocol]"
    count: Callable[[Reason], None]


class BoundedProtocol(H11Protocol):
    """One connection.

    Args:
        bounds: Shared by all connections.
        config: uvicorn's, as the further arguments.
        server_state: Of the server.
        app_state: Of the app.
        _loop: The event loop.
    """

    def __init__(
        self,
        bounds: _Bounds,
        *,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        limit = config.h11_max_incomplete_event_size
        self.conn = StrictConnection(DEFAULT_MAX_INCOMPLETE_EVENT_SIZE if limit is None else limit)
        self._bounds = bounds
        self._reading: Literal["head", "body"] | None = None
        self._read_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected."""
        super().connection_made(transport)
        victim = self._bounds.table.add(self)
        if victim is self:
            self._refuse(_TOO_MANY, "refused")
            return
        if victim is not None:
            victim.make_room()
        self._expect("head")

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed, by either side."""
        self._expect(None)
        self._cancel_write_timer()
        self._bounds.table.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """The client has sent something."""
        if self._reading is None and self.conn.their_state is h11.IDLE:
            self._expect("head")
        super().data_received(data)

    def handle_events(self) -> None:
        """Goes through what was received."""
        super().handle_events()
        state = self.conn.their_state
        if state is h11.IDLE:
            return
        if self.cycle is not None and not self.cycle.response_complete:
            self._bounds.table.request_began(self)
        if state is not h11.SEND_BODY:
            self._expect(None)
        elif self._reading != "body":
            self._expect("body")

    def on_response_complete(self) -> None:
        """A response is out."""
        self._bounds.table.request_ended(self)
        super().on_response_complete()

    def pause_writing(self) -> None:
        """The client is slow to read: it must have caught up in time."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(self._bounds.settings.write_timeout_s, self._abort)

    def resume_writing(self) -> None:
        """It has."""
        super().resume_writing()
        self._cancel_write_timer()

    def make_room(self) -> None:
        """Closes the connection for a new one: it has no request in work."""
        self._bounds.count("room")
        self.transport.close()

    def _expect(self, part: Literal["head", "body"] | None) -> None:
        """From now on the client has its time for a part of a request; None: for nothing."""
        if self._read_timer is not None:
            self._read_timer.cancel()
        self._reading, self._read_timer = part, None
        if part is not None:
            settings = self._bounds.settings
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
            # It has never said anything: an answer would be taken for that of the next request.
            self._bounds.count("head")
            self.transport.close()

    def _refuse(self, problem: ProblemError, reason: Reason) -> None:
        """Answers, unless an answer is under way or out, and closes the connection. To the app the client has hung up."""
        self._bounds.count(reason)
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

    def _abort(self) -> None:
        self._bounds.count("answer")
        # Closing would wait until the client has read everything.
        self.transport.abort()

    def _cancel_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None


def bounded_protocol(settings: ServiceSettings, metrics: Metrics) -> type[asyncio.Protocol]:
    """The protocol for :class:`uvicorn.Config`.

    Args:
        settings: The times, and how many connections.
        metrics: Where closed connections are counted.
    """
    table = ConnectionTable[BoundedProtocol](bound=settings.max_connections)
    bounds = _Bounds(settings, table, lambda reason: metrics.connections_closed.labels(reason=reason).inc())
    metrics.connections.set_function(lambda: len(table))
    return cast(type[asyncio.Protocol], partial(BoundedProtocol, bounds))
