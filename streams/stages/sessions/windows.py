"""Rules that close windows (VikingMem 3.1). Pure: time is an argument.

==================  ====================================================================  ===================================
``closed_by``       When                                                                  Where
==================  ====================================================================  ===================================
``message_count``   A message fills the window to the message cap.                        :meth:`WindowBuilder.add`
``token_count``     A message fills the window to the token cap, or would exceed it.      :meth:`WindowBuilder.add`
``size``            The next message would make the window too large for a record.        :meth:`WindowBuilder.add`
``user``            The next message has the id of a message of the window.               :meth:`WindowBuilder.add`
``idle``            The session was silent for the idle time.                             ``add``, or a timer
``pause``           The window has enough messages, and the session paused.               ``add``, or a timer
``flush``           A flush command.                                                      :mod:`streams.stages.sessions.handler`
==================  ====================================================================  ===================================

A timer becomes a command in the log (:meth:`WindowBuilder.due_ms`, :meth:`WindowBuilder.timer_reason`).

The contents of a window depend only on the session's own messages and commands in log order, not on their arrival. So a replay closes the
same windows.
"""

from dataclasses import dataclass, field
from datetime import datetime

import orjson

from memory.records.message import ClosedBy
from memory.texts.text import estimate_tokens
from runtime.settings import SessionSettings
from streams.stages.sessions.closed_windows import ClosedWindow


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
    raw_messages: list[bytes] = field(default_factory=list)
    """The messages of the open window as in the log; empty bytes for a deleted one."""
    ids: list[str] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)
    """The user of each message."""
    hidden: set[int] = field(default_factory=set)
    """Indices of the messages that the session's newest messages do not show."""
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

    @property
    def shown(self) -> tuple[bytes, ...]:
        """The messages of the open window that the session's newest messages show."""
        return tuple(raw for index, raw in enumerate(self.raw_messages) if raw and index not in self.hidden)

    def index_of(self, user: str, message_id: str) -> int | None:
        """The index of a message in the open window, also of a deleted one."""
        if message_id not in self.ids:
            return None
        pairs = zip(self.ids, self.authors, strict=True)
        return next((index for index, pair in enumerate(pairs) if pair == (message_id, user)), None)

    def replace(self, index: int, raw: bytes) -> None:
        """Replaces a message of the open window; empty bytes delete it."""
        before = self.raw_messages[index]
        self.tokens += tokens_of(raw) - tokens_of(before)
        self.size += len(raw) - len(before)
        self.raw_messages[index] = raw

    def drop_user(self, user: str) -> None:
        """Removes the messages of an erased user from the open window."""
        kept = [index for index, author in enumerate(self.authors) if author != user]
        self.hidden = {place for place, index in enumerate(kept) if index in self.hidden}
        self.raw_messages = [self.raw_messages[index] for index in kept]
        self.ids = [self.ids[index] for index in kept]
        self.authors = [self.authors[index] for index in kept]
        self.tokens = sum(map(tokens_of, self.raw_messages))
        self.size = sum(len(raw) + 1 for raw in self.raw_messages)


class WindowBuilder:
    """Adds messages to a session's window, and closes it by the rules.

    Args:
        max_window_bytes: Size limit of a window's messages, so that the window fits into a record.
    """

    def __init__(self, *, limits: SessionSettings, max_window_bytes: int) -> None:
        self._limits = limits
        self._max_bytes = max_window_bytes
        self._pause_ms = int(limits.pause_s * 1000)
        self._idle_ms = int(limits.wait_timeout_s * 1000)

    def add(self, state: SessionState, message: SessionMessage) -> list[ClosedWindow]:
        """Adds a message to the session's state. The window may close before it, after it, or not at all.

        Returns:
            The closed windows, in order.
        """
        closed = []
        if state.is_open and (reason := self._closes_before(state, message)) is not None:
            closed.append(self.close(state, reason))
        if not state.is_open:
            state.first_offset = message.offset
            state.last_event_ms = message.event_ms
        state.tokens += message.tokens
        state.size += len(message.raw) + 1 + _bytes_of_new_user(state, message)
        state.raw_messages.append(message.raw)
        state.ids.append(message.id)
        state.authors.append(message.user)
        if message.traceparent:
            state.traces.append(message.traceparent)
        state.last_event_ms = max(state.last_event_ms, message.event_ms)
        state.last_offset = message.offset
        if len(state.raw_messages) >= self._limits.message_cap:
            closed.append(self.close(state, "message_count"))
        elif state.tokens >= self._limits.token_count:
            closed.append(self.close(state, "token_count"))
        return closed

    def close(self, state: SessionState, reason: ClosedBy) -> ClosedWindow:
        """Closes the open window."""
        users = tuple(dict.fromkeys(state.authors))
        closed = ClosedWindow(
            tenant=state.tenant,
            session=state.session,
            sequence=state.sequence,
            closed_by=reason,
            tokens=state.tokens,
            first_offset=state.first_offset,
            last_offset=state.last_offset,
            last_event_ms=state.last_event_ms,
            messages=tuple(state.raw_messages),
            ids=tuple(state.ids),
            authors=tuple(state.authors),
            users=users,
            is_shared=len(users) > 1,
            hidden=frozenset(state.hidden),
            traces=tuple(state.traces),
        )
        state.sequence += 1
        self.discard_window(state)
        return closed

    @staticmethod
    def discard_window(state: SessionState) -> None:
        """Discards the open window; the session continues with the next window."""
        state.raw_messages, state.ids, state.authors, state.traces, state.hidden = [], [], [], [], set()
        state.tokens = state.size = 0

    def due_ms(self, state: SessionState) -> int:
        """The event time at which silence closes the open window, in milliseconds."""
        return state.last_event_ms + (self._pause_ms if self._closes_at_pause(state) else self._idle_ms)

    def timer_reason(self, state: SessionState) -> ClosedBy:
        """Why a timer closes the open window."""
        return "pause" if self._closes_at_pause(state) else "idle"

    def _closes_at_pause(self, state: SessionState) -> bool:
        return len(state.raw_messages) >= self._limits.message_count

    def _closes_before(self, state: SessionState, message: SessionMessage) -> ClosedBy | None:
        gap = message.event_ms - state.last_event_ms
        if message.id in state.ids:
            return "user"
        if gap >= self._idle_ms:
            return "idle"
        if gap >= self._pause_ms and self._closes_at_pause(state):
            return "pause"
        if state.tokens + message.tokens > self._limits.token_count:
            return "token_count"
        if state.size + len(message.raw) + _bytes_of_new_user(state, message) > self._max_bytes:
            return "size"
        return None


def _bytes_of_new_user(state: SessionState, message: SessionMessage) -> int:
    """Bytes by which a further user lengthens the window's list of users."""
    return len(orjson.dumps(message.user)) + 1 if state.authors and message.user not in state.authors else 0


def tokens_of(raw: bytes) -> int:
    """The estimated tokens of a message as in the log, as the rules count them; 0 for a deleted one."""
    return estimate_tokens(orjson.loads(raw).get("text") or "") if raw else 0


def milliseconds(time: datetime) -> int:
    """Milliseconds since the epoch."""
    return int(time.timestamp() * 1000)
