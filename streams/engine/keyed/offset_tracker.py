"""Offsets of an assigned partition: delivered records, and the gapless prefix of finished ones."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import Generic, TypeVar

from streams.engine.keyed.pending_record import PendingRecord, Status

R = TypeVar("R")


class OffsetTracker(Generic[R]):
    """One assignment of a partition. The offset to commit moves only over a gapless prefix of finished records (ADR 4, A).

    Args:
        generation: The assignment's number.
        carried_over: Offsets of records whose attempt began under an earlier assignment, ascending.
    """

    def __init__(self, generation: int, carried_over: Iterable[int]) -> None:
        self.generation = generation
        self._carried_over = deque(carried_over)
        self._uncommitted: deque[PendingRecord[R]] = deque()
        """Delivered records after the gapless prefix, by offset."""

    @property
    def uncommitted(self) -> int:
        """Number of delivered records after the gapless prefix."""
        return len(self._uncommitted)

    @property
    def oldest(self) -> PendingRecord[R] | None:
        """The first unfinished record; None if there is none."""
        return self._uncommitted[0] if self._uncommitted else None

    def add(self, entry: PendingRecord[R]) -> None:
        """Adds the record that was delivered next."""
        self._uncommitted.append(entry)

    def passed_over(self, offset: int) -> Iterator[int]:
        """Removes the carried-over offsets up to a newly delivered one.

        Args:
            offset: The delivered offset. Another worker has committed those below it, so they are never delivered again.
        """
        while self._carried_over and self._carried_over[0] <= offset:
            yield self._carried_over.popleft()

    def pop_done(self) -> Iterator[PendingRecord[R]]:
        """Removes the finished records of the gapless prefix."""
        while self._uncommitted and self._uncommitted[0].status is Status.DONE:
            yield self._uncommitted.popleft()

    def next_offset(self, written: Collection[PendingRecord[R]]) -> int | None:
        """The end of the gapless prefix once some entries are written.

        Args:
            written: Entries whose outputs are about to be committed.

        Returns:
            The offset after the last of them; None if an earlier record is unfinished.
        """
        offset: int | None = None
        ids = {id(entry) for entry in written}
        for entry in self._uncommitted:
            if entry.status is not Status.DONE and id(entry) not in ids:
                break
            offset = entry.offset + 1
        return offset
