"""The message ids of a session's closed windows: what recognises a producer's repetition.

They lie in pages beside the session's row, which is written with every message: a page is written only when a window closes, and holds
digests. What is known depends on the log alone: a page counts for a day of the log's own time, and a session's newest 50 full pages count.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from streams.stages.sessions.marks import PAGES

DIGEST_BYTES: Final = 12
"""Of a message id: among 20,000 ids, two are mistaken for one with a chance of 10^-21."""

FULL_PAGE: Final = 400
"""From so many ids on, a session's next window begins another page."""

MAX_FULL_PAGES: Final = 50
"""Full pages that a session keeps: the newest 20,000 ids."""

KNOWN_MINUTES: Final = 24 * 60
"""How long a page counts, from when it was last written, by the log's own time."""


def digest_of(user: str, life: str, message_id: str) -> bytes:
    """The digest of a message id that a page keeps.

    The user is part of it: a key that is bound to one user cannot use up the ids of another user's messages in a shared session.

    Args:
        user: Who sent the message.
        life: The user's life since the last erasure: a message that is sent again after an erasure is no repetition.
        message_id: The message's id.
    """
    # The lengths keep the parts apart: names may contain any character.
    named = f"{len(user)} {len(life)} {user}{life}{message_id}"
    return blake2b(named.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()


def page_key(session_key: bytes, number: int) -> bytes:
    """The key of a session's page."""
    return b"%s%s#%d" % (PAGES, session_key, number)


@dataclass(frozen=True, slots=True)
class DedupPage:
    """Message ids of closed windows, in the order of the log."""

    minute: int
    """The log's time when it was last written."""
    digests: bytes = b""

    @property
    def is_full(self) -> bool:
        """Whether the next window begins another page."""
        return len(self.digests) >= FULL_PAGE * DIGEST_BYTES

    def counts(self, now: int) -> bool:
        """Whether its ids are still known at a minute of the log's time."""
        return self.minute + KNOWN_MINUTES >= now

    def with_ids(self, digests: Iterable[bytes], now: int) -> "DedupPage":
        """The page with further ids, written at a minute of the log's time."""
        return DedupPage(now, self.digests + b"".join(digests))


@dataclass(frozen=True, slots=True)
class KnownIds:
    """What a session's pages say together, for as long as none of it changes."""

    sequence: int
    """The session's open window: whenever one closes, its pages change."""
    until: int
    """The last minute of the log's time at which all of the pages count."""
    digests: bytes

    @classmethod
    def of(cls, pages: Iterable[DedupPage], sequence: int, now: int) -> "KnownIds":
        """The ids of the pages that count.

        Args:
            pages: The session's pages.
            sequence: Its open window.
            now: The minute of the log's time.
        """
        counting = [page for page in pages if page.counts(now)]
        until = min((page.minute + KNOWN_MINUTES for page in counting), default=now)
        return cls(sequence, until, b"".join(page.digests for page in counting))

    def contains(self, digest: bytes) -> bool:
        """Whether the id of that digest is known."""
        at = self.digests.find(digest)
        while at > 0 and at % DIGEST_BYTES:
            at = self.digests.find(digest, at + 1)
        return at >= 0


class PageExpiry:
    """Which pages to look at once their time is over: one entry a page, by the hour and packed, for there are many."""

    def __init__(self) -> None:
        self._keys_by_hour: dict[int, bytearray] = {}

    def add(self, key: bytes, minute: int) -> None:
        """Lets a page be looked at when what was written at that minute counts no longer.

        Args:
            key: The page's key.
            minute: When it was written, by the log's time.
        """
        self._keys_by_hour.setdefault(minute // 60, bytearray()).extend(key + b"\n")

    def take(self, now: int, limit: int) -> list[bytes]:
        """Takes out pages whose time may be over.

        Args:
            now: The minute of the log's time.
            limit: How many at most.
        """
        keys: list[bytes] = []
        while self._keys_by_hour and len(keys) < limit:
            hour = min(self._keys_by_hour)
            if hour * 60 + 59 + KNOWN_MINUTES >= now:
                break
            packed = self._keys_by_hour[hour]
            while packed and len(keys) < limit:
                end = packed.index(b"\n")
                keys.append(bytes(packed[:end]))
                del packed[: end + 1]
            if not packed:
                del self._keys_by_hour[hour]
        return keys
