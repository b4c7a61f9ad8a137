"""Lost records: records before or after a group's offset that the log no longer has."""

from dataclasses import dataclass
from typing import Self

from aiokafka import TopicPartition

from streams.errors import StreamError


@dataclass(frozen=True, slots=True, kw_only=True)
class DataLoss:
    """Records of one partition that one group has lost."""

    source: TopicPartition
    committed: int
    """The next offset that the group has to read; 0 if it has committed nothing."""
    begin: int
    """The offset of the oldest record that the log still has."""
    end: int
    """Upper bound of the offset at which the log ended when the loss was found."""

    @classmethod
    def between(cls, source: TopicPartition, committed: int | None, *, begin: int, end: int, cut_at: int | None = None) -> Self | None:
        """The records between a group's committed offset and the log. None: none are lost.

        Args:
            source: The partition.
            committed: The group's offset. None: it has committed nothing.
            begin: The log's first offset.
            end: The log's end offset.
            cut_at: Upper bound of the offset at which the log was truncated. The log may have grown since.
        """
        reached = 0 if committed is None else committed
        if cut_at is not None:
            end = min(end, cut_at)
        if begin <= reached <= end:
            return None
        return cls(source=source, committed=reached, begin=begin, end=end)

    @property
    def is_cut(self) -> bool:
        """Whether the log lost its end, and not its beginning."""
        return self.committed > self.end

    @property
    def first(self) -> int:
        """The first offset that is lost."""
        return self.end if self.is_cut else self.committed

    @property
    def next(self) -> int:
        """The first offset after the lost ones."""
        return self.committed if self.is_cut else self.begin

    def __str__(self) -> str:
        name = f"{self.source.topic}/{self.source.partition}"
        lost = f"offsets {self.first} to {self.next - 1} of {name} are lost"
        if self.is_cut:
            return f"{lost}: the log was cut at {self.end} or before, and the group had handled it up to {self.committed}"
        return f"{lost}: the log begins at {self.begin}, and the group has handled it up to {self.committed} only"


class DataLossError(StreamError):
    """The log has lost records that the group has not read, or has read already. The partition stops until an operator accepts the loss.

    Args:
        loss: The lost records.
    """

    def __init__(self, loss: DataLoss) -> None:
        super().__init__(f"{loss}; see `varve accept-loss`")
        self.loss = loss
