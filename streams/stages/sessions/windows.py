"""Rules that close windows (VikingMem 3.1). Pure: time is an argument.

The contents of a window depend only on the session's own messages and commands in log order, not on their arrival. So a replay closes the
same windows.
"""

from dataclasses import dataclass, field
from datetime import datetime

import orjson

from memory.ids import window_id
from memory.records.message import ClosedBy
from runtime.settings import SessionSettings


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """A message that may enter a window."""

    id: str
    user: str
    event_ms: int
    """Event time, in milliseconds since the epoch."""
    tokens: int
    raw: bytes
    """The message's bytes in the log."""
    offset: int
    traceparent: str = ""
    """Its trace; empty if it has none."""


@dataclass(slots=True)
class SessionState:
    """One session's open window, and data of its closed ones."""

    tenant: str
    session: str
    sequence: int = 0
    user: str = ""
    raw_messages: list[bytes] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    tokens: int = 0
    size: int = 0
    first_offset: int = -1
    last_offset: int = -1
    """The newest source record that this state has seen; -1: none."""
    last_event_ms: int = 0
    oldest_page: int = 0
    """The first of the session's pages that may count (:mod:`streams.stages.sessions.known_ids`)."""
    newest_page: int = -1
    """The page for the ids of the next closed window; -1: none yet."""
    redriven_origins: list[str] = field(default_factory=list)
    """Origins of the redriven records that entered a window: a second redrive of one changes nothing."""
    traces: list[str] = field(default_factory=list)
    """The ``traceparent`` of each message of the open window that has one, in order."""

    @property
    def is_open(self) -> bool:
        """Whether a window is open."""
        return bool(self.raw_messages)

    def has_seen(self, user: str, message_id: str) -> bool:
        """Whether the open window holds that message of that user."""
        return user == self.user and message_id in self.ids


@dataclass(frozen=True, slots=True)
class ClosedWindow:
    """A closed window."""

    sequence: int
    user: str
    messages: tuple[bytes, ...]
    ids: tuple[str, ...]
    value: bytes
    """The bytes of its record."""
    traces: tuple[str, ...] = ()
    """The ``traceparent`` of each of its messages that has one."""


class WindowBuilder:
    """Adds messages to a session's window, and closes it by the rules.

    Args:
        limits: The limits in the rules.
        max_window_bytes: Size limit of a window's messages, so that the window fits into a record.
    """

    def __init__(self, *, limits: SessionSettings, max_window_bytes: int) -> None:
        self._limits = limits
        self._max_bytes = max_window_bytes
        self._pause_ms = int(limits.pause_s * 1000)
        self._idle_ms = int(limits.wait_timeout_s * 1000)

    def add(self, state: SessionState, message: SessionMessage, *, partition: int) -> list[ClosedWindow]:
        """Adds a message to the session's state. The window may close before it, after it, or not at all.

        Args:
            state: The session; it is changed.
            message: The message.
            partition: The source partition, for the window's record.

        Returns:
            The closed windows, in order.
        """
        closed = []
        if state.is_open and (reason := self._closes_before(state, message)) is not None:
            closed.append(self.close(state, reason, partition=partition))
        if not state.is_open:
            state.user = message.user
            state.first_offset = message.offset
            state.last_event_ms = message.event_ms
        state.raw_messages.append(message.raw)
        state.ids.append(message.id)
        if message.traceparent:
            state.traces.append(message.traceparent)
        state.tokens += message.tokens
        state.size += len(message.raw) + 1
        state.last_event_ms = max(state.last_event_ms, message.event_ms)
        state.last_offset = message.offset
        if len(state.raw_messages) >= self._limits.message_cap:
            closed.append(self.close(state, "message_count", partition=partition))
        elif state.tokens >= self._limits.token_count:
            closed.append(self.close(state, "token_count", partition=partition))
        return closed

    def close(self, state: SessionState, reason: ClosedBy, *, partition: int) -> ClosedWindow:
        """Closes the open window.

        Args:
            state: The session; it is changed.
            reason: The reason of the closing.
            partition: The source partition, for the window's record.
        """
        record = self._record(state, reason, partition)
        closed = ClosedWindow(state.sequence, state.user, tuple(state.raw_messages), tuple(state.ids), record, tuple(state.traces))
        state.sequence += 1
        self.give_up(state)
        return closed

    @staticmethod
    def give_up(state: SessionState) -> None:
        """Discards the open window and its user; the session continues with the next window."""
        state.raw_messages, state.ids, state.traces = [], [], []
        state.tokens = state.size = 0
        state.user = ""

    def due_ms(self, state: SessionState) -> int:
        """The event time at which silence closes the open window, in milliseconds."""
        gap = self._pause_ms if len(state.raw_messages) >= self._limits.message_count else self._idle_ms
        return state.last_event_ms + gap

    def timer_reason(self, state: SessionState) -> ClosedBy:
        """Why a timer closes the open window."""
        return "pause" if len(state.raw_messages) >= self._limits.message_count else "idle"

    def _closes_before(self, state: SessionState, message: SessionMessage) -> ClosedBy | None:
        gap = message.event_ms - state.last_event_ms
        if message.user != state.user:
            return "user"
        if gap >= self._idle_ms:
            return "idle"
        if gap >= self._pause_ms and len(state.raw_messages) >= self._limits.message_count:
            return "pause"
        if state.tokens + message.tokens > self._limits.token_count:
            return "token_count"
        if state.size + len(message.raw) > self._max_bytes:
            return "size"
        return None

    def _record(self, state: SessionState, reason: ClosedBy, partition: int) -> bytes:
        head = orjson.dumps(
            {
                "schema_version": "1.0",
                "id": window_id(state.tenant, state.session, state.sequence),
                "tenant": state.tenant,
                "user": state.user,
                "session": state.session,
                "sequence": state.sequence,
                "token_count": state.tokens,
                "closed_by": reason,
                "source_partition": partition,
                "first_offset": state.first_offset,
                "last_offset": state.last_offset,
            }
        )
        # The messages are valid JSON already: parsing and writing them again would double the stage's work.
        return head[:-1] + b',"messages":[' + b",".join(state.raw_messages) + b"]}"


def milliseconds(time: datetime) -> int:
    """Milliseconds since the epoch."""
    return int(time.timestamp() * 1000)
