"""Which records are suspected of having killed the worker: pure, by what a process left behind.

A process that dies leaves the claims on what its handlers were at. One of those records may have killed it, so all of them are suspects,
and each counts how often in a row a process died that was at it. A suspect that has come far enough is handled alone: so the guilty one
is told from those that were handled beside it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Claim:
    """Records of one partition, by their offsets: a handler is at them, or they are suspects."""

    partition: int
    first: int
    last: int
    """The last offset, itself included."""
    crashes: int = 0
    """How many processes in a row died at them; 0: a handler is at them."""
    was_alone: bool = False
    """Whether it was one record, and nothing else was handled, when the last of them died."""

    @property
    def size(self) -> int:
        """How many offsets it covers."""
        return self.last - self.first + 1

    def covers(self, partition: int, offset: int) -> bool:
        """Whether a record is one of them."""
        return partition == self.partition and self.first <= offset <= self.last


def after_end(left: Sequence[Claim]) -> list[Claim]:
    """The suspects once a process has ended, by the claims and suspects that it left behind. One that left no claim died of no record.

    Args:
        left: What it left; ranges may overlap.

    Returns:
        Suspects whose ranges do not overlap.
    """
    held = [claim for claim in left if not claim.crashes]
    was_alone = len(held) == 1 and held[0].size == 1
    suspects = []
    for partition in sorted({claim.partition for claim in left}):
        claims = [claim for claim in left if claim.partition == partition]
        cuts = sorted({claim.first for claim in claims} | {claim.last + 1 for claim in claims})
        for first, behind in pairwise(cuts):
            covering = [claim for claim in claims if claim.covers(partition, first)]
            if not covering:
                continue
            before = max(covering, key=lambda claim: (claim.crashes, claim.was_alone))
            if all(claim.crashes for claim in covering):
                suspects.append(replace(before, first=first, last=behind - 1))
            else:
                suspects.append(Claim(partition, first, behind - 1, before.crashes + 1, was_alone))
    return suspects


def without(suspects: Iterable[Claim], cleared: Claim) -> list[Claim]:
    """Suspects without the records of a claim, which have turned out harmless, or are done.

    Args:
        suspects: All of them.
        cleared: Its partition and offsets count.
    """
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
