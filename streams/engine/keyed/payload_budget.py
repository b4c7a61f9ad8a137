"""Budget of payloads in memory. A flood must not fill the memory: beyond the budget, only a record's offset is kept."""

from collections.abc import Callable
from typing import Generic, TypeVar

from streams.engine.keyed.pending_record import PendingRecord

R = TypeVar("R")


class PayloadBudget(Generic[R]):
    """Counts the payloads in memory, and evicts those beyond the budget.

    Args:
        size: Number of records whose payload may be in memory.
        evict: Called with each record whose payload may leave memory: it is loaded again before the record runs.
    """

    def __init__(self, size: int, evict: Callable[[R], None]) -> None:
        self._size = size
        self._evict = evict
        self._loaded = 0

    @property
    def loaded(self) -> int:
        """Number of records whose payload is in memory."""
        return self._loaded

    def admit(self, entry: PendingRecord[R]) -> None:
        """Adds a delivered record; keeps its payload if the budget allows."""
        if self._loaded < self._size:
            self.load(entry)
        else:
            self._evict(entry.record)

    def load(self, entry: PendingRecord[R]) -> None:
        """Counts the payload of a record that starts, even beyond the budget."""
        self._loaded += not entry.is_loaded
        entry.is_loaded = True

    def release(self, entry: PendingRecord[R]) -> None:
        """Removes a record that is no longer tracked."""
        self._loaded -= entry.is_loaded
        entry.is_loaded = False

    def evict(self, entry: PendingRecord[R]) -> None:
        """Evicts a payload that is no longer needed."""
        self.release(entry)
        self._evict(entry.record)

    def evict_surplus(self, entry: PendingRecord[R]) -> None:
        """Evicts the payload of a record that waits again, if the budget is exceeded."""
        if self._loaded > self._size:
            self.evict(entry)
