"""Pages of message ids of a partition: read, written, and deleted after a day (:mod:`streams.stages.sessions.known_ids`)."""

from collections.abc import Sequence
from typing import Any

from runtime.sized_cache import SizedCache
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import OBJECT_BYTES, PartitionState
from streams.stages.sessions.known_ids import MAX_FULL_PAGES, DedupPage, KnownIds, PageExpiry, page_key
from streams.stages.sessions.partition_rows import CLOCK_KEY
from streams.stages.sessions.windows import SessionState


class IdPages:
    """The pages of one partition, during a batch."""

    def __init__(self, *, cache_bytes: int) -> None:
        self._known: SizedCache[bytes, KnownIds] = SizedCache(max_bytes=cache_bytes)
        self._expiry = PageExpiry()
        self._expired_by_last_batch: list[bytes] = []
        self._minute = 0

    @property
    def minute(self) -> int:
        """The log's time in the current batch, in minutes."""
        return self._minute

    def recover(self, key: bytes, page: DedupPage) -> None:
        """Registers a page that was found in the partition's state."""
        self._expiry.add(key, page.minute)

    def begin(self, states: PartitionState[Any], *, has_failed: bool) -> None:
        """Begins a batch; ``has_failed``: the last batch did not count, so the pages that it deleted still exist."""
        if has_failed:
            for key in self._expired_by_last_batch:
                self._expiry.add(key, 0)
        log_time = states.get(CLOCK_KEY)
        self._minute = 0 if log_time is None else log_time.minute

    def advance(self, record: ConsumedRecord) -> None:
        """Moves the log's time forward to a record's time."""
        self._minute = max(self._minute, int(record.timestamp // 60))

    def knows(self, states: PartitionState[Any], key: bytes, session: SessionState, digest: bytes) -> bool:
        """Whether a message id (its digest) was in a closed window whose ids still count."""
        if session.newest_page < session.oldest_page:
            return False
        known = self._known.get(key)
        if known is None or known.sequence != session.sequence or known.until < self._minute:
            pages = (states.get(page_key(key, number)) for number in range(session.oldest_page, session.newest_page + 1))
            known = KnownIds.of((page for page in pages if page is not None), session.sequence, self._minute)
            self._known.put(key, known, size=OBJECT_BYTES + known.size)
        return known.contains(digest)

    def remember(self, states: PartitionState[Any], key: bytes, session: SessionState, digests: tuple[bytes, ...], offset: int) -> None:
        """Writes the ids of a closed window into the session's newest page or a new one, and drops pages beyond the limit.

        ``offset`` is the offset of the record that closed the window.
        """
        at = page_key(key, session.newest_page)
        page = states.get(at) if session.newest_page >= 0 else None
        if page is None or page.is_full or not page.counts(self._minute):
            session.newest_page += 1
            page, at = DedupPage(self._minute), page_key(key, session.newest_page)
            self._expiry.add(at, self._minute)
        states.put(at, page.with_ids(digests, self._minute), position=offset)
        self._known.drop(key)
        while session.oldest_page < session.newest_page:
            at = page_key(key, session.oldest_page)
            oldest = states.get(at)
            if oldest is not None and oldest.counts(self._minute):
                if session.newest_page - session.oldest_page <= MAX_FULL_PAGES:
                    break
                states.delete(at, position=offset)
            session.oldest_page += 1

    def drop_expired(self, states: PartitionState[Any], records: Sequence[ConsumedRecord]) -> None:
        """Deletes expired pages of any session, a few per batch."""
        self._expired_by_last_batch = self._expiry.take(self._minute, limit=64 + 2 * len(records))
        for key in self._expired_by_last_batch:
            page = states.get(key)
            if page is not None and page.counts(self._minute):
                self._expiry.add(key, page.minute)
            elif page is not None:
                states.delete(key, position=records[-1].offset)
