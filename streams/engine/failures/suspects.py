"""Records suspected of having killed the worker. Pure: works on the entries that a process left.

A process that dies leaves the entries of its running handlers. One of those records may have killed it, so all become suspects. Each
suspect counts how many processes in a row died while handling it. Near the limit, the worker handles a suspect alone, which separates the
guilty record from those that were handled at the same time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """Range of records of one partition: being handled, or suspects."""

    partition: int
    first: int
    last: int
    """The last offset, inclusive."""
    crashes: int = 0
    """Number of processes in a row that died at them; 0: a handler is processing them."""
    was_alone: bool = False
    """Whether the last of those processes handled only this one record."""

    @property
    def size(self) -> int:
        """Number of offsets."""
        return self.last - self.first + 1

    def covers(self, partition: int, offset: int) -> bool:
        """Whether the range contains a record."""
        return partition == self.partition and self.first <= offset <= self.last


def after_end(left: Sequence[JournalEntry]) -> list[JournalEntry]:
    """The suspects after a process has ended. A process without entries died at no record.

    Args:
        left: Entries and suspects that the process left; ranges may overlap.

    Returns:
        Suspects whose ranges do not overlap.
    """
    held = [entry for entry in left if not entry.crashes]
    was_alone = len(held) == 1 and held[0].size == 1
    suspects = []
    for partition in sorted({entry.partition for entry in left}):
        entries = [entry for entry in left if entry.partition == partition]
        cuts = sorted({entry.first for entry in entries} | {entry.last + 1 for entry in entries})
        for first, end in pairwise(cuts):
            covering = [entry for entry in entries if entry.covers(partition, first)]
            if not covering:
                continue
            before = max(covering, key=lambda entry: (entry.crashes, entry.was_alone))
            if all(entry.crashes for entry in covering):
                suspects.append(replace(before, first=first, last=end - 1))
            else:
                suspects.append(JournalEntry(partition, first, end - 1, before.crashes + 1, was_alone))
    return suspects


def without(suspects: Iterable[JournalEntry], cleared: JournalEntry) -> list[JournalEntry]:
    """Suspects without the records of ``cleared``, which are harmless or done."""
    left = []
    for suspect in suspects:
        if suspect.partition != cleared.partition or suspect.last < cleared.first or suspect.first > cleared.last:
            left.append(suspect)
            continue
        if suspect.first < cleared.first:
            left.append(replace(suspect, last=cleared.first - 1))
        if suspect.last > cleared.last:
            left.append(replace(suspect, first=cleared.last + 1))
    return left
