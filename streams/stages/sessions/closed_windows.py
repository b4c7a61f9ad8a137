"""Closed windows of a partition, kept so that a later change of a message can publish its window again.

A session's window is one row, compressed. Pages of digests find the window of a message, and one row per window and user finds the windows
of a user for an erasure. The rows are kept as long as the windows themselves: a message can be changed at any age.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from memory.ids import window_id, window_part_id
from memory.keys import encode_key, marked_key
from memory.records.message import ClosedBy
from streams.engine.state.partition_state import PartitionState
from streams.stages.sessions.known_ids import DIGEST_BYTES

_WINDOWS: Final = b"#window/"
_PLACES: Final = b"#places/"
_OF_USER: Final = b"#of/"
_WINDOWS_PER_PAGE: Final = 32
_SEQUENCE_BYTES: Final = 4
_ENTRY_BYTES: Final = _SEQUENCE_BYTES + DIGEST_BYTES
_LEVEL: Final = 1

DELETED: Final = b""
"""Takes the place of a deleted message, so that its id stays known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedWindow:
    """A closed window with its messages."""

    tenant: str
    session: str
    sequence: int
    closed_by: ClosedBy
    tokens: int
    first_offset: int
    last_offset: int
    last_event_ms: int
    messages: tuple[bytes, ...]
    """Each message as in the log; :data:`DELETED` for a deleted one."""
    ids: tuple[str, ...]
    authors: tuple[str, ...]
    """The user of each message."""
    users: tuple[str, ...]
    """Its users in order, without erased ones. Deleting all messages of a user does not remove the user."""
    is_shared: bool
    """Whether it closed with messages of several users."""
    revision: int = 0
    hidden: frozenset[int] = frozenset()
    """Indices of the messages that the session's newest messages do not show."""
    traces: tuple[str, ...] = field(default=(), compare=False)
    """The ``traceparent`` of each message that has one; not stored."""

    @property
    def id(self) -> str:
        """The window's id."""
        return window_id(self.tenant, self.session, self.sequence)

    @property
    def key(self) -> bytes:
        """The key of its record of ``windows``; each revision has the same, so that compaction removes the earlier ones.

        It is the user, so that one worker has all windows of a user in one order. Of a shared window it is the session.
        """
        parts = (self.tenant, self.session, "shared") if self.is_shared else (self.tenant, self.users[0])
        return marked_key(encode_key(*parts), self.id)

    @property
    def shown(self) -> tuple[bytes, ...]:
        """The messages that the session's newest messages show."""
        return tuple(raw for index, raw in enumerate(self.messages) if raw and index not in self.hidden)

    def part_id(self, user: str) -> str:
        """The id under which a user's results of this window are published."""
        return window_part_id(self.id, user) if self.is_shared else self.id

    def index_of(self, user: str, message_id: str) -> int | None:
        """The index of a message that is not deleted."""
        pairs = zip(self.ids, self.authors, self.messages, strict=True)
        return next((index for index, each in enumerate(pairs) if each[:2] == (message_id, user) and each[2]), None)

    def changed(self, replacements: Mapping[int, bytes], *, tokens: int) -> "ClosedWindow":
        """The next revision, with other messages at some indices; ``tokens`` is its estimate of all messages."""
        messages = tuple(replacements.get(index, raw) for index, raw in enumerate(self.messages))
        return replace(self, messages=messages, tokens=tokens, revision=self.revision + 1)

    def without_user(self, user: str, *, tokens: int) -> "ClosedWindow":
        """The next revision, without the messages and the name of an erased user; ``tokens`` is its estimate of the other messages."""
        kept = [index for index, author in enumerate(self.authors) if author != user]
        return replace(
            self,
            messages=tuple(self.messages[index] for index in kept),
            ids=tuple(self.ids[index] for index in kept),
            authors=tuple(self.authors[index] for index in kept),
            users=tuple(each for each in self.users if each != user),
            hidden=frozenset(place for place, index in enumerate(kept) if index in self.hidden),
            tokens=tokens,
            revision=self.revision + 1,
        )

    def record(self, *, partition: int) -> bytes:
        """The bytes of its record; ``partition`` is that of the session's messages."""
        head: dict[str, Any] = {"schema_version": "1.0", "id": self.id, "tenant": self.tenant}
        # A shared window has no single user: its dead letters are found under each of them.
        head |= {"users": self.users} if self.is_shared else {"user": self.users[0]}
        head |= {
            "session": self.session,
            "sequence": self.sequence,
            "token_count": self.tokens,
            "closed_by": self.closed_by,
            "source_partition": partition,
            "first_offset": self.first_offset,
            "last_offset": self.last_offset,
        }
        if self.revision:
            head |= {"revision": self.revision, "ended_at": datetime.fromtimestamp(self.last_event_ms / 1000, UTC).isoformat()}
        # The messages are valid JSON already: parsing and writing them again would double the stage's work.
        return orjson.dumps(head)[:-1] + b',"messages":[' + b",".join(filter(None, self.messages)) + b"]}"

    def encode(self) -> bytes:
        """The bytes of its row."""
        head = {
            "tenant": self.tenant,
            "session": self.session,
            "sequence": self.sequence,
            "closed_by": self.closed_by,
            "tokens": self.tokens,
            "first_offset": self.first_offset,
            "last_offset": self.last_offset,
            "last_event_ms": self.last_event_ms,
            "ids": self.ids,
            "authors": [self.users.index(each) for each in self.authors],
            "users": self.users,
            "is_shared": self.is_shared,
            "revision": self.revision,
            "hidden": sorted(self.hidden),
            "lengths": [len(each) for each in self.messages],
        }
        return zlib.compress(b"\0".join((orjson.dumps(head), b"".join(self.messages))), _LEVEL)

    @classmethod
    def decode(cls, raw: bytes) -> "ClosedWindow":
        """The window that :meth:`encode` wrote."""
        packed, _, text = zlib.decompress(raw).partition(b"\0")
        head = orjson.loads(packed)
        users = tuple(head["users"])
        return cls(
            **{name: head[name] for name in ("tenant", "session", "sequence", "closed_by", "tokens", "first_offset", "last_offset")},
            last_event_ms=head["last_event_ms"],
            messages=tuple(cut(text, head["lengths"])),
            ids=tuple(head["ids"]),
            authors=tuple(users[each] for each in head["authors"]),
            users=users,
            is_shared=head["is_shared"],
            revision=head["revision"],
            hidden=frozenset(head["hidden"]),
        )


@dataclass(frozen=True, slots=True)
class PlacesPage:
    """Digests of the message ids of some windows of a session, each with its window's sequence."""

    entries: bytes = b""

    def with_window(self, sequence: int, digests: Sequence[bytes]) -> "PlacesPage":
        """The page with another window."""
        number = sequence.to_bytes(_SEQUENCE_BYTES, "big")
        return PlacesPage(self.entries + b"".join(number + each for each in digests))

    def sequence_of(self, digest: bytes) -> int | None:
        """The newest window that has a message id."""
        at = self.entries.rfind(digest)
        while at >= 0 and at % _ENTRY_BYTES != _SEQUENCE_BYTES:
            at = self.entries.rfind(digest, 0, at + DIGEST_BYTES - 1)
        return int.from_bytes(self.entries[at - _SEQUENCE_BYTES : at], "big") if at >= 0 else None


@dataclass(frozen=True, slots=True)
class WindowOfUser:
    """Mark of a window that has messages of a user."""

    session_key: bytes
    sequence: int


class ClosedWindows:
    """The closed windows of one partition, during a batch."""

    def __init__(self) -> None:
        self._added: dict[bytes, WindowOfUser] = {}
        """Marks of the current batch: a scan finds only those of earlier ones."""

    def begin(self) -> None:
        """Begins a batch."""
        self._added.clear()

    def add(self, states: PartitionState[Any], key: bytes, window: ClosedWindow, digests: Sequence[bytes], *, offset: int) -> None:
        """Stores a window that has just closed."""
        self.put(states, key, window, offset=offset)
        at = _page_key(key, window.sequence // _WINDOWS_PER_PAGE)
        page = states.get(at) or PlacesPage()
        states.put(at, page.with_window(window.sequence, digests), position=offset)
        for user in window.users:
            mark, row = _mark_key(window, user), WindowOfUser(key, window.sequence)
            states.put(mark, row, position=offset)
            self._added[mark] = row

    @staticmethod
    def put(states: PartitionState[Any], key: bytes, window: ClosedWindow, *, offset: int) -> None:
        """Replaces a stored window."""
        states.put(_window_key(key, window.sequence), window, position=offset)

    @staticmethod
    def get(states: PartitionState[Any], key: bytes, sequence: int) -> ClosedWindow | None:
        """A session's window; None if it was erased."""
        found = states.get(_window_key(key, sequence))
        assert found is None or isinstance(found, ClosedWindow)
        return found

    def find(self, states: PartitionState[Any], key: bytes, digest: bytes, *, sequence: int) -> ClosedWindow | None:
        """The newest window of a session that has a message id; ``sequence`` is the session's open window."""
        for number in range((sequence - 1) // _WINDOWS_PER_PAGE, -1, -1):
            page = states.get(_page_key(key, number))
            found = None if page is None else page.sequence_of(digest)
            if found is not None:
                return self.get(states, key, found)
        return None

    def expire(self, states: PartitionState[Any], key: bytes, sequence: int, *, offset: int) -> bool:
        """Removes a window of a session with its marks, and its page of digests once no window of the page is left.

        Returns:
            Whether there was such a window.
        """
        window = self.get(states, key, sequence)
        if window is None:
            return False
        states.delete(_window_key(key, sequence), position=offset)
        for user in window.users:
            mark = _mark_key(window, user)
            states.delete(mark, position=offset)
            self._added.pop(mark, None)
        number = sequence // _WINDOWS_PER_PAGE
        first = number * _WINDOWS_PER_PAGE
        if all(self.get(states, key, each) is None for each in range(first, first + _WINDOWS_PER_PAGE)):
            states.delete(_page_key(key, number), position=offset)
        return True

    def take(self, states: PartitionState[Any], tenant: str, user: str, *, offset: int) -> Iterator[tuple[bytes, ClosedWindow]]:
        """Removes the marks of a user, and returns the windows with their sessions' keys. Windows of only this user are removed as well."""
        prefix = _OF_USER + encode_key(tenant, user) + b"/"
        marks = dict(states.scan_prefix(prefix)) | {mark: row for mark, row in self._added.items() if mark.startswith(prefix)}
        for mark, row in sorted(marks.items()):
            states.delete(mark, position=offset)
            self._added.pop(mark, None)
            window = self.get(states, row.session_key, row.sequence)
            if window is None:
                continue
            if set(window.users) <= {user}:
                states.delete(_window_key(row.session_key, row.sequence), position=offset)
            yield row.session_key, window


def cut(text: bytes, lengths: Sequence[int]) -> Iterator[bytes]:
    """Consecutive parts of a text."""
    start = 0
    for length in lengths:
        yield text[start : start + length]
        start += length


def _window_key(session_key: bytes, sequence: int) -> bytes:
    return b"%s%s#%d" % (_WINDOWS, session_key, sequence)


def _page_key(session_key: bytes, number: int) -> bytes:
    return b"%s%s#%d" % (_PLACES, session_key, number)


def _mark_key(window: ClosedWindow, user: str) -> bytes:
    return b"%s%s/%s#%d" % (_OF_USER, encode_key(window.tenant, user), encode_key(window.session), window.sequence)
