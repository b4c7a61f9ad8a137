"""Message ids of closed windows, which detect messages that are sent again.

They are stored in pages apart from the session's row, which is written with every message: a page is written only when a window closes, and
contains digests. The known ids depend only on the log: a page counts for a day of the log's own time, and a session keeps its newest 50
full pages.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

PAGES: Final = b"#page/"
"""Prefix of the keys of pages; see :mod:`streams.stages.sessions.partition_rows`."""

DIGEST_BYTES: Final = 12
"""Bytes per message id: among 20,000 ids, two collide with a probability of 10^-21."""

FULL_PAGE: Final = 400
"""Number of ids at which a session's next window begins a new page."""

MAX_FULL_PAGES: Final = 50
"""Full pages that a session keeps: the newest 20,000 ids."""

KNOWN_MINUTES: Final = 24 * 60
"""Lifetime of a page after its last write, by the log's own time."""


def digest_of(user: str, epoch: str, message_id: str) -> bytes:
    """The digest of a message id in a page.

    The user is part of it: a key that is bound to one user cannot use up the ids of another user's messages in a shared session. So is the
    user's erasure epoch: a message sent again after an erasure is no repetition.
    """
    # The lengths keep the parts apart: names may contain any character.
    named = f"{len(user)} {len(epoch)} {user}{epoch}{message_id}"
    return blake2b(named.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()


def page_key(session_key: bytes, number: int) -> bytes:
    """The key of a session's page."""
    return b"%s%s#%d" % (PAGES, session_key, number)


@dataclass(frozen=True, slots=True)
class DedupPage:
    """Message ids of closed windows, in log order."""

    minute: int
    """The log's time at its last write."""
    digests: bytes = b""

    @property
    def is_full(self) -> bool:
        """Whether the next window begins a new page."""
        return len(self.digests) >= FULL_PAGE * DIGEST_BYTES

    def counts(self, now: int) -> bool:
        """Whether its ids still count at a minute of the log's time."""
        return self.minute + KNOWN_MINUTES >= now

    def with_ids(self, digests: Iterable[bytes], now: int) -> "DedupPage":
        """The page with further ids, written at a minute of the log's time."""
        return DedupPage(now, self.digests + b"".join(digests))


@dataclass(frozen=True, slots=True, eq=False)
class KnownIds:
    """Contents of a session's pages, cached until one of them changes."""

    sequence: int
    """The session's open window: whenever a window closes, the pages change."""
    until: int
    """The last minute of the log's time at which all pages count."""
    digests: bytes
    beginnings: NDArray[np.uint32]
    """The first four bytes of each digest: a search of 20,000 takes some microseconds, one of the digests themselves a hundred."""

    @classmethod
    def of(cls, pages: Iterable[DedupPage], sequence: int, now: int) -> "KnownIds":
        """The ids of the pages that count at the minute ``now``, while window ``sequence`` is open."""
        counting = [page for page in pages if page.counts(now)]
        until = min((page.minute + KNOWN_MINUTES for page in counting), default=now)
        digests = b"".join(page.digests for page in counting)
        return cls(sequence, until, digests, np.frombuffer(digests, np.uint32)[:: DIGEST_BYTES // 4].copy())

    @property
    def size(self) -> int:
        """Its bytes in memory."""
        return len(self.digests) + self.beginnings.nbytes

    def contains(self, digest: bytes) -> bool:
        """Whether a digest is known."""
        if not (self.beginnings == np.frombuffer(digest, np.uint32, count=1)[0]).any():
            return False
        at = self.digests.find(digest)
        while at > 0 and at % DIGEST_BYTES:
            at = self.digests.find(digest, at + 1)
        return at >= 0


class PageExpiry:
    """Expiry times of pages: one packed entry per page, grouped by hour, because there are many pages."""

    def __init__(self) -> None:
        self._keys_by_hour: dict[int, bytearray] = {}

    def add(self, key: bytes, minute: int) -> None:
        """Schedules a check of a page that was written at a minute of the log's time."""
        self._keys_by_hour.setdefault(minute // 60, bytearray()).extend(key + b"\n")

    def take(self, now: int, limit: int) -> list[bytes]:
        """Removes and returns up to ``limit`` pages that may have expired at the minute ``now``."""
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
