"""Scheduler of records by key: chooses the next record and tracks progress. A state machine without I/O.

Records with the same key run one after the other, in log order. Keys are independent, and share a worker's slots
(:mod:`streams.engine.keyed.tenant_slots`). The offset to commit moves only over a gapless prefix (ADR 4, A). A record that is delivered
again after a rebalance joins its running attempt.

A flood must not hide other tenants' records that follow it in the log. So the scheduler tracks far more records than payloads: beyond
``max_in_flight`` it keeps only a record's offset, and the payload is evicted until the record runs. Beyond ``max_span``
the waiting records are parked (:meth:`Scheduler.park_waiting`).
"""

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Hashable
from typing import Generic, TypeVar

from runtime.kafka import TopicPartition
from streams.engine.keyed.offset_tracker import OffsetTracker
from streams.engine.keyed.payloads import PayloadBudget
from streams.engine.keyed.pending_record import PendingRecord, Status
from streams.engine.keyed.tenant_slots import TenantSlots

R = TypeVar("R")


class Scheduler(Generic[R]):
    """Records in flight of one worker.

    Args:
        slots: Number of records that may run at once.
        tenant_share: Part of the slots that one tenant may occupy, in (0, 1]; at least one slot.
        max_in_flight: Number of payloads in memory; beyond it, only offsets are kept.
        max_span: Number of records of one partition that should be tracked.
        weight_of: A tenant's weight in fair queueing.
        evict: Called with each record whose payload may leave memory: it is loaded again before the record runs.
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
            raise ValueError(f"max_in_flight and max_span must be at least 1, got {max_in_flight} and {max_span}")
        self._slots = TenantSlots[R](slots=slots, tenant_share=tenant_share, weight_of=weight_of)
        self._max_span = max_span
        self._payloads = PayloadBudget[R](max_in_flight, evict)
        self._trackers: dict[TopicPartition, OffsetTracker[R]] = {}
        self._entries: dict[tuple[TopicPartition, int, bool], PendingRecord[R]] = {}
        self._by_key: dict[Hashable, deque[PendingRecord[R]]] = {}
        self._waiting: defaultdict[TopicPartition, dict[int, PendingRecord[R]]] = defaultdict(dict)
        """Waiting records that were never parked, by offset: a refused record parks them without a look at all tracked ones."""
        self._is_closed = False

    @property
    def in_flight(self) -> int:
        """Number of tracked records, with or without their payload."""
        return len(self._entries)

    @property
    def loaded(self) -> int:
        """Number of payloads in memory: at most ``max_in_flight`` plus one for each slot."""
        return self._payloads.loaded

    @property
    def slots(self) -> int:
        """Number of records that may run at once."""
        return self._slots.slots

    @property
    def running(self) -> int:
        """Number of running records."""
        return self._slots.running

    def free_span(self, partition: TopicPartition) -> float | None:
        """The free part of a partition's ``max_span``, below 0 if more was delivered; None if the partition is not assigned."""
        tracker = self._trackers.get(partition)
        return None if tracker is None else 1 - tracker.uncommitted / self._max_span

    def oldest(self, partition: TopicPartition) -> PendingRecord[R] | None:
        """The first unfinished record of a partition; None if there is none."""
        tracker = self._trackers.get(partition)
        return None if tracker is None else tracker.oldest

    def entry_of(self, partition: TopicPartition, offset: int) -> PendingRecord[R] | None:
        """The entry of a record as delivered by the log, while it is tracked."""
        return self._entries.get((partition, offset, False))

    def is_paused(self, tenant: str) -> bool:
        """Whether a tenant is paused."""
        return self._slots.is_paused(tenant)

    def assign(self, partitions: set[TopicPartition], generation: int) -> None:
        """Sets the assigned partitions. Drops the tracked records of other partitions, except running ones."""
        for entry in list(self._entries.values()):
            is_kept = entry.partition in partitions and not entry.is_parked and entry.status is not Status.PARKING
            if not is_kept and entry.status is not Status.RUNNING:
                self.drop(entry)
        carried_over: dict[TopicPartition, list[int]] = {partition: [] for partition in partitions}
        for partition, offset, is_parked in sorted(self._entries):
            if not is_parked:
                carried_over.get(partition, []).append(offset)
        self._trackers = {partition: OffsetTracker(generation, offsets) for partition, offsets in carried_over.items()}

    def revoke(self) -> None:
        """Unassigns all partitions until the next :meth:`assign`. Running records continue; their outputs may not be written."""
        self._slots.clear()
        for entry in list(self._entries.values()):
            entry.generation = None
            if entry.status in (Status.WAITING, Status.DONE, Status.PARKING):
                self._drop(entry)
        self._trackers.clear()

    def deliver(
        self, partition: TopicPartition, offset: int, *, key: Hashable, tenant: str, record: R, parks: bool = False
    ) -> PendingRecord[R] | None:
        """Adds a record, or joins it to its running attempt.

        Args:
            partition: Its partition.
            offset: Its offset.
            key: The ordering key: records with the same key run one after the other.
            tenant: The tenant whose slots it uses.
            record: The record.
            parks: Whether to park it instead of running it.

        Returns:
            An entry that may be written now, because its result is already computed or it is to be parked; None in all other cases.
        """
        tracker = self._trackers.get(partition)
        if tracker is None:
            return None
        self._drop_carried_over(partition, offset, tracker)
        entry = self._entries.get((partition, offset, False))
        if entry is not None and entry.generation == tracker.generation:
            return None
        if entry is not None:
            entry.generation = tracker.generation
            entry.record = record
            tracker.add(entry)
            if entry.status is not Status.COMPUTED:
                return None
            entry.status = Status.WRITING
            return entry
        entry = PendingRecord(partition, offset, key, tenant, record, tracker.generation)
        tracker.add(entry)
        if parks:
            entry.status = Status.PARKING
            self._entries[entry.place] = entry
            return entry
        self._admit(entry)
        return None

    def unpark(self, partition: TopicPartition, offset: int, *, key: Hashable, tenant: str, record: R) -> PendingRecord[R] | None:
        """Adds a parked record after the records of its key that are in flight; arguments as :meth:`deliver`.

        Returns:
            Its entry; None if the partition is not assigned.
        """
        tracker = self._trackers.get(partition)
        if tracker is None:
            return None
        entry = PendingRecord(partition, offset, key, tenant, record, tracker.generation, is_parked=True)
        self._admit(entry)
        return entry

    def park_waiting(self, *, tenant: str | None = None, partition: TopicPartition | None = None) -> list[PendingRecord[R]]:
        """Removes waiting records, in log order, so that they can be parked.

        Args:
            tenant: Only its records. None: those of all tenants.
            partition: Only its records. None: those of all partitions.
        """
        partitions = self._waiting if partition is None else (partition,)
        waiting = (entry for each in partitions for entry in self._waiting[each].values() if tenant in (None, entry.tenant))
        parking = sorted(waiting, key=lambda entry: entry.place)
        for entry in parking:
            self._unqueue(entry)
            entry.status = Status.PARKING
        return parking

    def settle(self, entry: PendingRecord[R]) -> bool:
        """Takes a waiting record out of the queue, since its outputs are known without running it.

        Returns:
            Whether they may be written now.
        """
        if not self.may_write(entry):
            return False
        self._unqueue(entry)
        entry.status = Status.WRITING
        return True

    def drop(self, entry: PendingRecord[R]) -> None:
        """Forgets a record. If it runs, its outputs are not written."""
        entry.generation = None
        self._drop(entry)

    def start_next(self, now: float) -> PendingRecord[R] | None:
        """The record that runs next, if a slot is free and a record may start."""
        entry = None if self._is_closed else self._slots.start_next(now)
        if entry is not None:
            self._note_not_waiting(entry)
            self._payloads.load(entry)
        return entry

    def pause_tenant(self, tenant: str) -> None:
        """Starts none of a tenant's records until it is resumed. Running records continue."""
        self._slots.pause_tenant(tenant)

    def resume_tenant(self, tenant: str) -> None:
        """Starts a tenant's records again. It is not compensated for the time that it was paused."""
        self._slots.resume_tenant(tenant)

    def free_slot(self, entry: PendingRecord[R], now: float) -> None:
        """Frees the slot of a record that is retried later. It stays ahead of the other records of its key."""
        self._slots.release(entry, now)
        entry.status = Status.WAITING
        if entry.generation is None:
            self._drop(entry)
        else:
            self._note_waiting(entry)
            self._payloads.evict_surplus(entry)

    def requeue(self, entry: PendingRecord[R]) -> None:
        """Makes a record ready again after :meth:`free_slot`, unless it was dropped."""
        if self.tracks(entry) and entry.status is Status.WAITING and not entry.is_queued:
            self._slots.enqueue(entry)

    def on_computed(self, entry: PendingRecord[R], now: float) -> bool:
        """Frees the slot of a record whose outputs are computed.

        Returns:
            Whether they may be written now. Otherwise the entry waits for its redelivery, or is dropped with its partition.
        """
        self._slots.release(entry, now)
        if self.may_write(entry):
            entry.status = Status.WRITING
            return True
        self.on_fenced(entry)
        return False

    def on_fenced(self, entry: PendingRecord[R]) -> None:
        """Marks outputs as not written because of a revocation: the entry waits for its redelivery, or is dropped with its partition."""
        comes_from_log = not entry.is_parked and entry.status is not Status.PARKING
        entry.status = Status.COMPUTED
        if not comes_from_log or (self._trackers and entry.partition not in self._trackers):
            self._drop(entry)

    def on_written(self, entry: PendingRecord[R]) -> None:
        """Marks the entry's outputs as durable."""
        entry.status = Status.DONE
        self._payloads.evict(entry)
        self._remove_from_key(entry)
        tracker = self._trackers.get(entry.partition)
        if entry.is_parked or tracker is None or entry.generation != tracker.generation:
            self._drop(entry)
            return
        for done in tracker.pop_done():
            self._entries.pop(done.place, None)

    def next_offset(self, partition: TopicPartition, written: Collection[PendingRecord[R]]) -> int | None:
        """The end of a partition's gapless prefix once these entries are written; None if an earlier record or the partition is missing."""
        tracker = self._trackers.get(partition)
        return None if tracker is None else tracker.next_offset(written)

    @property
    def is_closed(self) -> bool:
        """Whether no more records are started."""
        return self._is_closed

    def close(self) -> None:
        """Starts no more records."""
        self._is_closed = True

    def tracks(self, entry: PendingRecord[R]) -> bool:
        """Whether the entry is still in flight."""
        return self._entries.get(entry.place) is entry

    def may_write(self, entry: PendingRecord[R]) -> bool:
        """Whether the entry's partition is still assigned, under the assignment that delivered the entry."""
        tracker = self._trackers.get(entry.partition)
        return tracker is not None and entry.generation == tracker.generation

    def _admit(self, entry: PendingRecord[R]) -> None:
        self._entries[entry.place] = entry
        self._note_waiting(entry)
        self._payloads.admit(entry)
        same_key = self._by_key.setdefault(entry.key, deque())
        same_key.append(entry)
        if same_key[0] is entry:
            self._slots.enqueue(entry)

    def _note_waiting(self, entry: PendingRecord[R]) -> None:
        if not entry.is_parked:
            self._waiting[entry.partition][entry.offset] = entry

    def _note_not_waiting(self, entry: PendingRecord[R]) -> None:
        waiting = self._waiting[entry.partition]
        if waiting.get(entry.offset) is entry:  # another may be the same record: one that was parked, or delivered again
            del waiting[entry.offset]

    def _unqueue(self, entry: PendingRecord[R]) -> None:
        self._note_not_waiting(entry)
        self._slots.remove(entry)
        self._remove_from_key(entry)

    def _drop_carried_over(self, partition: TopicPartition, before: int, tracker: OffsetTracker[R]) -> None:
        for offset in tracker.passed_over(before):
            entry = self._entries.get((partition, offset, False))
            if entry is not None and entry.offset < before and entry.generation is None:
                self._drop(entry)

    def _remove_from_key(self, entry: PendingRecord[R]) -> None:
        same_key = self._by_key.get(entry.key)
        if same_key is None or entry not in same_key:
            return
        was_first = same_key[0] is entry
        same_key.remove(entry)
        if not same_key:
            del self._by_key[entry.key]
        elif was_first:
            self._slots.enqueue(same_key[0])

    def _drop(self, entry: PendingRecord[R]) -> None:
        if self.tracks(entry):
            del self._entries[entry.place]
        self._payloads.release(entry)
        self._unqueue(entry)
