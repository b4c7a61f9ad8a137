"""The newest messages of every session in Redis: short-term memory, readable before any window closes (read your writes).

Two sorted sets a session. ``tail``: the messages, scored by offset; each member carries its offset and the window it fell into.
``closed``: one member, scored by the highest window that has closed. Messages of later windows are the open window. Every write is
harmless when repeated, and late ones cannot open a closed window again.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from redis.asyncio import Redis

from memory.keys import encode_key
from runtime.redis import redis_faults

_CLOSED = b"window"


@dataclass(frozen=True, slots=True)
class TailMessage:
    """One message of a tail."""

    offset: int
    """Where it lies in its partition of ``messages``."""
    window_sequence: int
    message_json: bytes
    """The message as it is in the log."""


@dataclass(frozen=True, slots=True)
class SessionView:
    """What a session's tail shows."""

    messages: tuple[TailMessage, ...]
    """Oldest first, open window and before it; bounded."""
    open_sequence: int | None
    """The number of the open window; None where none is open."""

    @property
    def open_messages(self) -> tuple[TailMessage, ...]:
        """The messages of the open window, oldest first, as far as the tail reaches back."""
        if self.open_sequence is None:
            return ()
        return tuple(message for message in self.messages if message.window_sequence >= self.open_sequence)


class SessionTail:
    """Writes and reads session tails. Every method raises RedisUnavailableError while Redis is away; nothing is lost by it but the view.

    Args:
        client: As :func:`runtime.redis.connect_redis` makes it.
        prefix: Put before every key.
        max_messages: Newest messages kept per session; the window's cap or more, or an open window shows only its end.
        ttl_s: A tail is dropped after so many seconds without a write.
    """

    def __init__(self, *, client: Redis, prefix: str, max_messages: int = 200, ttl_s: float = 7 * 86400.0) -> None:
        if max_messages < 1 or ttl_s < 1:
            raise ValueError(f"a tail needs max_messages >= 1 and ttl_s >= 1, got {max_messages} and {ttl_s}")
        self._client = client
        self._prefix = prefix
        self._max_messages = max_messages
        self._ttl_ms = int(ttl_s * 1000)

    async def append(self, tenant: str, session: str, window_sequence: int, messages: Iterable[tuple[int, bytes]]) -> None:
        """Adds messages of one window; one whose offset is there already replaces it.

        Args:
            tenant: The session's tenant.
            session: The session's id.
            window_sequence: The window they fell into, from 0.
            messages: Each message's offset and JSON.
        """
        tail, closed = self._keys(tenant, session)
        with redis_faults("writing a session tail"):
            async with self._client.pipeline(transaction=True) as pipe:
                for offset, message_json in messages:
                    pipe.zremrangebyscore(tail, offset, offset)
                    pipe.zadd(tail, {b"%d:%d:%s" % (offset, window_sequence, message_json): offset})
                pipe.zremrangebyrank(tail, 0, -self._max_messages - 1)
                pipe.pexpire(tail, self._ttl_ms)
                pipe.pexpire(closed, self._ttl_ms)
                await pipe.execute()

    async def close_window(self, tenant: str, session: str, window_sequence: int) -> None:
        """Notes that a window, and all before it, have closed; its messages stay in the tail."""
        tail, closed = self._keys(tenant, session)
        with redis_faults("closing a window in a session tail"):
            async with self._client.pipeline(transaction=True) as pipe:
                pipe.zadd(closed, {_CLOSED: window_sequence}, gt=True)
                pipe.pexpire(closed, self._ttl_ms)
                pipe.pexpire(tail, self._ttl_ms)
                await pipe.execute()

    async def read(self, tenant: str, session: str) -> SessionView:
        """The tail of a session; empty for one that is unknown or long silent."""
        tail, closed = self._keys(tenant, session)
        with redis_faults("reading a session tail"):
            async with self._client.pipeline(transaction=True) as pipe:
                pipe.zrange(tail, 0, -1)
                pipe.zscore(closed, _CLOSED)
                members, last_closed = await pipe.execute()
        messages = tuple(_parse(member) for member in members)
        first_open = 0 if last_closed is None else int(last_closed) + 1
        open_sequences = [message.window_sequence for message in messages if message.window_sequence >= first_open]
        return SessionView(messages=messages, open_sequence=max(open_sequences, default=None))

    def _keys(self, tenant: str, session: str) -> tuple[str, str]:
        # The braces put both keys into one slot of a Redis cluster.
        name = f"{{{encode_key(tenant, session).decode('ascii')}}}"
        return f"{self._prefix}tail:{name}", f"{self._prefix}closed:{name}"


def _parse(member: bytes) -> TailMessage:
    offset, window_sequence, message_json = member.split(b":", 2)
    return TailMessage(int(offset), int(window_sequence), message_json)
