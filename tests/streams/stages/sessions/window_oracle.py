"""An independent oracle of the rules of windows, in plain Python: slow, and without the stage's own code."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Limits:
    message_count: int
    message_cap: int
    token_count: int
    pause_ms: int
    idle_ms: int
    max_bytes: int


@dataclass(frozen=True)
class OracleMessage:
    """One message in the log."""

    id: str
    user: str
    event_ms: int
    tokens: int
    size: int
    offset: int


@dataclass(frozen=True)
class ExpectedWindow:
    sequence: int
    ids: tuple[str, ...]
    users: tuple[str, ...]
    """The user of each message."""
    closed_by: str
    tokens: int
    first_offset: int


@dataclass
class ExpectedSession:
    """The expected windows of one session; ``open`` is the window that is not closed yet."""

    limits: Limits
    closed: list[ExpectedWindow] = field(default_factory=list)
    open: list[OracleMessage] = field(default_factory=list)
    newest_offset: int = -1

    def add(self, message: OracleMessage) -> None:
        self.newest_offset = message.offset
        if (message.user, message.id) in self.sent():
            return
        reason = self._before(message)
        if reason:
            self._close(reason)
        self.open.append(message)
        if len(self.open) == self.limits.message_cap:
            self._close("message_count")
        elif self.tokens() >= self.limits.token_count:
            self._close("token_count")

    def flush(self, offset: int) -> None:
        if self.newest_offset >= 0:
            if self.open:
                self._close("flush")
            self.newest_offset = offset

    def timer(self, offset: int, *, sequence: int, last_offset: int) -> None:
        if self.newest_offset < 0:
            return
        if self.open and (sequence, last_offset) == (len(self.closed), self.newest_offset):
            self._close("pause" if len(self.open) >= self.limits.message_count else "idle")
        self.newest_offset = offset

    def sent(self) -> list[tuple[str, str]]:
        """The user and the id of each message that entered a window."""
        closed = [pair for window in self.closed for pair in zip(window.users, window.ids, strict=True)]
        return closed + [(message.user, message.id) for message in self.open]

    def tokens(self) -> int:
        return sum(message.tokens for message in self.open)

    def _before(self, message: OracleMessage) -> str | None:
        if not self.open:
            return None
        silence = message.event_ms - max(each.event_ms for each in self.open)
        if message.id in [each.id for each in self.open]:
            return "user"
        if silence >= self.limits.idle_ms:
            return "idle"
        if silence >= self.limits.pause_ms and len(self.open) >= self.limits.message_count:
            return "pause"
        if self.tokens() + message.tokens > self.limits.token_count:
            return "token_count"
        others = dict.fromkeys(each.user for each in [*self.open, message] if each.user != self.open[0].user)
        names = sum(len(user) + 3 for user in others)
        if sum(each.size + 1 for each in self.open) + message.size + names > self.limits.max_bytes:
            return "size"
        return None

    def _close(self, reason: str) -> None:
        ids = tuple(message.id for message in self.open)
        first = self.open[0]
        users = tuple(message.user for message in self.open)
        self.closed.append(ExpectedWindow(len(self.closed), ids, users, reason, self.tokens(), first.offset))
        self.open = []
