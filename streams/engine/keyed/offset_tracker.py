"""A partition that is a worker's own: what was delivered of it, and how far that is done without a gap."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import Generic, TypeVar

from streams.engine.keyed.pending_record import PendingRecord, Status

R = TypeVar("R")


class OffsetTracker(Generic[R]):
    """One assignment of a partition. Its offset to commit moves only over what is done without a gap (ADR 4, A).

    Args:
        generation: The assignment's number.
        carried_over: Offsets of the records whose attempt began under an earlier assignment, ascending.
    """

    def __init__(self, generation: int, carried_over: Iterable[int]) -> None:
        self.generation = generation
        self._carried_over = deque(carried_over)
        self._uncommitted: deque[PendingRecord[R]] = deque()
        """What was delivered and is not done without a gap, in the order of offsets."""

    @property
    def uncommitted(self) -> int:
        """How many records were delivered and are not done without a gap."""
        return len(self._uncommitted)

    @property
    def oldest(self) -> PendingRecord[R] | None:
        """The first record that is not done without a gap; None where there is none."""
        return self._uncommitted[0] if self._uncommitted else None

    def add(self, entry: PendingRecord[R]) -> None:
        """Takes in the record that was delivered next."""
        self._uncommitted.append(entry)

    def passed_over(self, offset: int) -> Iterator[int]:
        """Takes out the offsets that were carried over from below one that is delivered now, and that one.

        Args:
            offset: What is delivered now. What lay below it was committed by another worker, and never comes again.
        """
        while self._carried_over and self._carried_over[0] <= offset:
            yield self._carried_over.popleft()

    def take_done(self) -> Iterator[PendingRecord[R]]:
        """Takes out what is done without a gap."""
        while self._uncommitted and self._uncommitted[0].status is Status.DONE:
            yield self._uncommitted.popleft()

    def next_offset(self, written: Collection[PendingRecord[R]]) -> int | None:
        """The offset up to which the partition is done without a gap once some entries are written.

        Args:
            written: Entries of it whose outputs are about to be committed.

        Returns:
            The offset behind the last of them; None where an earlier record is not done.
        """
        offset: int | None = None
        ids = {id(entry) for entry in written}
        for entry in self._uncommitted:
            if entry.status is not Status.DONE and id(entry) not in ids:
                break
            offset = entry.offset + 1
        return offset
