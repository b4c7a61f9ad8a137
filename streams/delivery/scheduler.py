"""Who works on what next, and what may be acknowledged: the delivery rules as a state machine without I/O.

Records of one key are worked on one after the other, in the order of their log; keys are independent, and share the slots of a worker
as :mod:`streams.delivery.fair_queue` says. Acknowledgements are released strictly in the order of offsets (ADR 4, A). After a rebalance,
a record that comes again joins the work that is already under way for it.

A flood must not keep other tenants' records, which lie behind it in the log, out of sight. So the view goes far beyond what is held: of
the records past ``max_in_flight`` only the place is kept, and their contents are let go until their turn comes.
"""

from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from streams.delivery.entry import Entry, Place, Status
from streams.delivery.fair_queue import FairQueue

R = TypeVar("R")


@dataclass(slots=True)
class _Partition(Generic[R]):
    generation: int
    held_over: deque[int]
    """Offsets of the records whose work an earlier assignment began, ascending."""
    order: deque[Entry[R]] = field(default_factory=deque)


class Scheduler(Generic[R]):
    """The records in work of one worker.

    Args:
        slots: How many records may be worked on at once.
        tenant_share: The part of the slots that one tenant may hold, in (0, 1]; at least one slot.
        max_in_flight: How many records may be held in all; of further ones, only the place.
        max_span: How many records of one partition should be held, or their places.
        weight_of: A tenant's weight in the fair sharing.
        evict: Told of each record whose contents need not be held: whoever works on it reads them again.
    """

    def __init__(
        self,
        *,
        slots: int,
        tenant_share: float,
        max_in_flight: int,
        max_span: int,
        weight_of: Callable[[str], float] = lambda tenant: 1.0,
        evict: Callable[[R], None] = lambda record: None,
    ) -> None:
        if max_in_flight < 1 or max_span < 1:
            raise ValueError("max_in_flight and max_span must be at least 1")
        self._line = FairQueue[R](slots=slots, tenant_share=tenant_share, weight_of=weight_of)
        self._max_in_flight = max_in_flight
        self._max_span = max_span
        self._evict = evict
        self._partitions: dict[Place, _Partition[R]] = {}
        self._entries: dict[tuple[Place, int], Entry[R]] = {}
        self._chains: dict[Hashable, deque[Entry[R]]] = {}
        self._in_hand = 0
        self._is_closed = False

    @property
    def in_flight(self) -> int:
        """How many records are held, or their places."""
        return len(self._entries)

    @property
    def in_hand(self) -> int:
        """Of how many records the contents are held: ``max_in_flight``, and at most one more for each slot."""
        return self._in_hand

    @property
    def slots(self) -> int:
        """How many records may be worked on at once."""
        return self._line.slots

    @property
    def running(self) -> int:
        """How many records are worked on."""
        return self._line.running

    def room(self, place: Place) -> float | None:
        """The part of ``max_span`` that is free in a partition, below 0 where more was delivered; None where it is not ours."""
        partition = self._partitions.get(place)
        return None if partition is None else 1 - len(partition.order) / self._max_span

    def assign(self, places: set[Place], generation: int) -> None:
        """The partitions that are ours from now on. What was held of others, and is not worked on, is dropped."""
        for entry in list(self._entries.values()):
            if entry.place not in places and entry.status is not Status.RUNNING:
                self._forget(entry)
        held_over: dict[Place, list[int]] = {place: [] for place in places}
        for place, offset in sorted(self._entries):
            held_over.get(place, []).append(offset)
        self._partitions = {place: _Partition(generation, deque(offsets)) for place, offsets in held_over.items()}

    def revoke(self) -> None:
        """No partition is ours until the next :meth:`assign`. Work under way goes on; what it gives may not be written meanwhile."""
        self._line.clear()
        for entry in list(self._entries.values()):
            entry.generation = None
            if entry.status in (Status.WAITING, Status.DONE):
                self._forget(entry)
        self._partitions.clear()

    def deliver(self, place: Place, offset: int, key: Hashable, tenant: str, record: R) -> Entry[R] | None:
        """Takes a record in, or joins it to the work under way for it.

        Returns:
            An entry whose result is already computed and may now be written; None in every other case.
        """
        partition = self._partitions.get(place)
        if partition is None:
            return None
        self._give_up_before(place, offset, partition)
        entry = self._entries.get((place, offset))
        if entry is not None and entry.generation == partition.generation:
            return None
        if entry is not None:
            entry.generation = partition.generation
            entry.record = record
            partition.order.append(entry)
            if entry.status is not Status.COMPUTED:
                return None
            entry.status = Status.WRITING
            return entry
        entry = Entry(place, offset, key, tenant, record, partition.generation)
        self._entries[place, offset] = entry
        if self._in_hand < self._max_in_flight:
            self._take_in_hand(entry)
        else:
            self._evict(record)
        partition.order.append(entry)
        chain = self._chains.setdefault(key, deque())
        chain.append(entry)
        if chain[0] is entry:
            self._line.join(entry)
        return None

    def start(self, now: float) -> Entry[R] | None:
        """The record to be worked on next, if a slot is free and one is ready."""
        entry = None if self._is_closed else self._line.start(now)
        if entry is not None:
            self._take_in_hand(entry)
        return entry

    def hold(self, tenant: str) -> None:
        """Starts none of a tenant's records until it is released; those under way go on."""
        self._line.hold(tenant)

    def release(self, tenant: str) -> None:
        """Starts a tenant's records again. It has no claim to what others got meanwhile."""
        self._line.release(tenant)

    def pause(self, entry: Entry[R], now: float) -> None:
        """Frees the slot of a record that has to be tried again later; it keeps its place before the other records of its key."""
        self._line.free_slot(entry, now)
        entry.status = Status.WAITING
        if entry.generation is None:
            self._forget(entry)
        elif self._in_hand > self._max_in_flight:
            self._put_down(entry)
            self._evict(entry.record)

    def resume(self, entry: Entry[R]) -> None:
        """Lets a paused record be started again; one that was taken away meanwhile stays away."""
        if self.holds(entry) and entry.status is Status.WAITING and not entry.is_ready:
            self._line.join(entry)

    def computed(self, entry: Entry[R], now: float) -> bool:
        """Frees the slot of a record whose outputs are known.

        Returns:
            Whether they may be written now. If not, the entry waits for its redelivery, or is dropped with its partition.
        """
        self._line.free_slot(entry, now)
        if self.may_write(entry):
            entry.status = Status.WRITING
            return True
        self.unwritten(entry)
        return False

    def unwritten(self, entry: Entry[R]) -> None:
        """The entry's outputs were not written, for its partition was taken away: it waits for its redelivery, or is dropped with it."""
        entry.status = Status.COMPUTED
        if self._partitions and entry.place not in self._partitions:
            self._forget(entry)

    def close(self) -> None:
        """No record is started any more."""
        self._is_closed = True

    def holds(self, entry: Entry[R]) -> bool:
        """Whether the entry is still among the records in work."""
        return self._entries.get((entry.place, entry.offset)) is entry

    def may_write(self, entry: Entry[R]) -> bool:
        """Whether the entry's partition is ours, under the assignment that delivered it."""
        partition = self._partitions.get(entry.place)
        return partition is not None and entry.generation == partition.generation

    def done(self, entry: Entry[R]) -> list[R]:
        """The entry's outputs are durable.

        Returns:
            The records that may now be acknowledged, in the order of their offsets.
        """
        entry.status = Status.DONE
        self._put_down(entry)
        self._evict(entry.record)
        self._leave_chain(entry)
        partition = self._partitions.get(entry.place)
        if partition is None or entry.generation != partition.generation:
            self._forget(entry)
            return []
        released: list[R] = []
        while partition.order and partition.order[0].status is Status.DONE:
            first = partition.order.popleft()
            self._entries.pop((first.place, first.offset), None)
            released.append(first.record)
        return released

    def _take_in_hand(self, entry: Entry[R]) -> None:
        self._in_hand += not entry.in_hand
        entry.in_hand = True

    def _put_down(self, entry: Entry[R]) -> None:
        self._in_hand -= entry.in_hand
        entry.in_hand = False

    def _give_up_before(self, place: Place, offset: int, partition: _Partition[R]) -> None:
        """Forgets what was held over from below an offset that is delivered now: another worker has committed it, it never comes again."""
        while partition.held_over and partition.held_over[0] <= offset:
            entry = self._entries.get((place, partition.held_over.popleft()))
            if entry is not None and entry.offset < offset and entry.generation is None:
                self._forget(entry)

    def _leave_chain(self, entry: Entry[R]) -> None:
        chain = self._chains.get(entry.key)
        if chain is None or entry not in chain:
            return
        was_first = chain[0] is entry
        chain.remove(entry)
        if not chain:
            del self._chains[entry.key]
        elif was_first:
            self._line.join(chain[0])

    def _forget(self, entry: Entry[R]) -> None:
        if self.holds(entry):
            del self._entries[entry.place, entry.offset]
        self._put_down(entry)
        self._line.leave(entry)
        self._leave_chain(entry)
