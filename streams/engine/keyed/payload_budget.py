"""Of which records the payload is in memory. A flood must not fill it: of what is beyond the room, only the offset is kept."""

from collections.abc import Callable
from typing import Generic, TypeVar

from streams.engine.keyed.pending_record import PendingRecord

R = TypeVar("R")


class PayloadBudget(Generic[R]):
    """Counts the payloads in memory, and evicts what is beyond the room.

    Args:
        size: Of how many records the payload may be in memory.
        evict: Called with each record whose payload need not be there: whoever runs it loads it again.
    """

    def __init__(self, size: int, evict: Callable[[R], None]) -> None:
        self._size = size
        self._evict = evict
        self._loaded = 0

    @property
    def loaded(self) -> int:
        """Of how many records the payload is in memory."""
        return self._loaded

    def admit(self, entry: PendingRecord[R]) -> None:
        """Takes in a record that was delivered, with its payload if there is room."""
        if self._loaded < self._size:
            self.load(entry)
        else:
            self._evict(entry.record)

    def load(self, entry: PendingRecord[R]) -> None:
        """The record starts, and has its payload, whether or not there is room."""
        self._loaded += not entry.is_loaded
        entry.is_loaded = True

    def release(self, entry: PendingRecord[R]) -> None:
        """The record is tracked no more."""
        self._loaded -= entry.is_loaded
        entry.is_loaded = False

    def evict(self, entry: PendingRecord[R]) -> None:
        """The record's payload is not needed any more."""
        self.release(entry)
        self._evict(entry.record)

    def evict_surplus(self, entry: PendingRecord[R]) -> None:
        """The record waits again: its payload goes where there are more than there is room for."""
        if self._loaded > self._size:
            self.evict(entry)
