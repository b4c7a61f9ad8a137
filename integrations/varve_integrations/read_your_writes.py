"""The newest writes of one process to a store, which the service may not show yet. Without I/O."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from varve_integrations.store_items import Address, StoredItem

_MOST: Final = 10_000
_SHOWN_S: Final = 600.0
"""Longest time for which a write is added to what the service shows: another process may have deleted the item."""


@dataclass(frozen=True, slots=True)
class Write:
    """A put or a deletion."""

    address: Address
    version: str
    """It replaces this version and earlier ones."""
    item: StoredItem | None
    """None: the item was deleted."""


@dataclass(slots=True)
class _OwnWrite:
    write: Write
    written_s: float
    is_shown: bool = False
    """Whether the service has shown the put item, or a later version of it."""


class OwnWrites:
    """Writes of this process. Threads may share it.

    Args:
        clock_s: A clock in seconds that is never set back.
    """

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._writes: OrderedDict[Address, _OwnWrite] = OrderedDict()
        self._lock = threading.Lock()
        self._clock_s = clock_s

    def add(self, write: Write) -> None:
        """Adds a durable write. It is forgotten after ten minutes, or after 10,000 writes of other items."""
        with self._lock:
            self._writes[write.address] = _OwnWrite(write, self._clock_s())
            self._writes.move_to_end(write.address)
            self._forget()

    def indexed(self, items: Sequence[StoredItem]) -> None:
        """Forgets the puts among the items that the service lists: from now on, its list is right."""
        with self._lock:
            for item in items:
                own = self._writes.get(item.address)
                if own is not None and own.write.item is not None and item.version >= own.write.version:
                    del self._writes[item.address]

    def shown(self, items: Sequence[StoredItem], address: Address) -> None:
        """Forgets the put of an item that the service has shown and shows no longer: another process has deleted it.

        Args:
            items: All versions of the item that the service shows, in its list or in the item's session.
            address: The item.
        """
        with self._lock:
            own = self._writes.get(address)
            if own is None or own.write.item is None:
                return
            if any(each.version >= own.write.version for each in items):
                own.is_shown = True
            elif own.is_shown:
                del self._writes[address]

    def merged(self, shown: Sequence[StoredItem], address: Address | None = None) -> list[StoredItem]:
        """The items that the service shows, without replaced and deleted ones, and the own ones.

        Args:
            shown: The items that the service shows.
            address: The only item whose writes count. Default: all.
        """
        with self._lock:
            self._forget()
            known = self._writes.values() if address is None else [own for own in [self._writes.get(address)] if own is not None]
            writes = {own.write.address: own.write for own in known}
        current = [each for each in shown if (own := writes.get(each.address)) is None or each.version > own.version]
        return [*current, *(each.item for each in writes.values() if each.item is not None)]

    def items(self, address: Address) -> list[StoredItem]:
        """The item that was put last; none if it was deleted, or if the service lists it."""
        with self._lock:
            own = self._writes.get(address)
        return [] if own is None or own.write.item is None else [own.write.item]

    def versions(self, shown: Sequence[StoredItem], address: Address) -> list[str]:
        """The versions of an item that the service shows, and that of the own write."""
        with self._lock:
            own = self._writes.get(address)
        return [*(each.version for each in shown), *([] if own is None else [own.write.version])]

    def _forget(self) -> None:
        oldest = self._clock_s() - _SHOWN_S
        while self._writes and (len(self._writes) > _MOST or next(iter(self._writes.values())).written_s < oldest):
            self._writes.popitem(last=False)
