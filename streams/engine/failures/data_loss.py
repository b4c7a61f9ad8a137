"""A gap in the log: records that a group had before it, or behind it, and that the log no longer has."""

from dataclasses import dataclass
from typing import Self

from aiokafka import TopicPartition

from streams.errors import StreamError


@dataclass(frozen=True, slots=True, kw_only=True)
class DataLoss:
    """What one group lost of one partition."""

    source: TopicPartition
    committed: int
    """The offset of the next record that the group has to see; 0 where it has committed nothing."""
    begin: int
    """The offset of the oldest record that the log still has."""
    end: int
    """The offset that the log ended before, at the most, when the gap was found."""

    @classmethod
    def between(cls, source: TopicPartition, committed: int | None, *, begin: int, end: int, cut_at: int | None = None) -> Self | None:
        """The gap between what a group has committed and what the log has, if there is one.

        Args:
            source: The partition.
            committed: What the group has committed; None: nothing yet.
            begin: The log's beginning.
            end: Its end.
            cut_at: The offset that the log is known to have been cut at, or before; it may have grown since.
        """
        reached = 0 if committed is None else committed
        if cut_at is not None:
            end = min(end, cut_at)
        if begin <= reached <= end:
            return None
        return cls(source=source, committed=reached, begin=begin, end=end)

    @property
    def is_cut(self) -> bool:
        """Whether the log's end was lost, and not its beginning."""
        return self.committed > self.end

    @property
    def first(self) -> int:
        """The first offset that is lost."""
        return self.end if self.is_cut else self.committed

    @property
    def next(self) -> int:
        """The offset behind the last that is lost."""
        return self.committed if self.is_cut else self.begin

    def __str__(self) -> str:
        name = f"{self.source.topic}/{self.source.partition}"
        lost = f"offsets {self.first} to {self.next - 1} of {name} are lost"
        if self.is_cut:
            return f"{lost}: the log was cut at {self.end} or before, and the group had handled it up to {self.committed}"
        return f"{lost}: the log begins at {self.begin}, and the group has handled it up to {self.committed} only"


class LogGapError(StreamError):
    """The log has lost records that a group has still to see, or has seen: the partition stops until the loss is accepted by name.

    Args:
        gap: What is lost.
    """

    def __init__(self, gap: DataLoss) -> None:
        super().__init__(f"{gap}; see `varve accept-loss`")
        self.gap = gap
