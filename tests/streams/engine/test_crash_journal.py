"""The crash journal finds records that kill their process, and dead-letters no other record, however processes die."""

import asyncio
import random
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.engine.failures.crash_journal import CrashJournal
from streams.engine.failures.suspects import JournalEntry, after_end, without
from streams.errors import PoisonRecordError
from tests.streams.harness import JournalInMemory, journal_after, until

SPAN = 12


class ProcessDiedError(Exception):
    """The process has died, and only its journal is left."""

    def __init__(self, left: list[JournalEntry]) -> None:
        super().__init__()
        self.left = left


@dataclass
class Partitions:
    """The durable state: the logs' lengths, the committed, handled and dead-lettered records, and the entries."""

    deadly: Collection[tuple[int, int]]
    maximum_crashes: int
    committed: dict[int, int] = field(default_factory=lambda: {0: 0, 1: 0, 2: 0})
    done: list[tuple[int, int]] = field(default_factory=list)
    letters: list[tuple[int, int]] = field(default_factory=list)
    left: dict[int, list[JournalEntry]] = field(default_factory=dict)
    """The journals that the last process of each worker has left."""
    deaths: int = 0

    async def run_process(self, seed: int, *, worker: int = 0, partitions: Collection[int] = (0, 1, 2)) -> None:
        """One process of a worker, from its start until it dies or has done everything in the partitions that it has."""
        entries, store = journal_after(self.left.get(worker, ()), maximum_crashes=self.maximum_crashes)
        chance = random.Random(seed)
        working = [asyncio.create_task(self._work(partition, entries, store, chance)) for partition in partitions]
        try:
            await asyncio.gather(*working)
            self.left[worker] = list(store.slots.values())
        except ProcessDiedError as death:
            self.deaths += 1
            self.left[worker] = death.left
        finally:
            for task in working:
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)

    def assert_exact(self) -> None:
        """The deadly records are dead letters, and every other record has been handled once."""
        assert sorted(self.letters) == sorted(self.deadly)
        everything = [(partition, offset) for partition in self.committed for offset in range(SPAN)]
        assert sorted([*self.done, *self.letters]) == everything

    async def _work(self, partition: int, entries: CrashJournal, store: JournalInMemory, chance: random.Random) -> None:
        entries.on_committed(partition, self.committed[partition])
        while (first := self.committed[partition]) < SPAN:
            batch = range(first, min(SPAN, first + chance.randint(1, 5)))
            alone = [offset for offset in batch if entries.must_be_alone(partition, offset)]
            if alone:
                batch = range(first, first + 1) if alone[0] == first else range(first, alone[0])
            try:
                entries.reject_poison(partition, first)
                async with entries.held(partition, batch[0], batch[-1]):
                    for offset in batch:
                        for _ in range(chance.randint(0, 3)):
                            await asyncio.sleep(0)
                        if (partition, offset) in self.deadly:
                            raise ProcessDiedError(list(store.slots.values()))
                self.done += [(partition, offset) for offset in batch]
            except PoisonRecordError:
                self.letters.append((partition, first))
            self.committed[partition] = batch[-1] + 1
            entries.on_committed(partition, batch[-1] + 1)


@given(
    deadly=st.sets(st.tuples(st.integers(0, 2), st.integers(0, SPAN - 1)), max_size=5),
    maximum_crashes=st.integers(1, 4),
    seed=st.integers(),
)
def test_only_records_that_kill_workers_are_rejected(deadly: set[tuple[int, int]], maximum_crashes: int, seed: int) -> None:
    partitions = Partitions(deadly, maximum_crashes)
    most = len(deadly) * max(2, maximum_crashes)
    for process in range(most + 1):
        asyncio.run(partitions.run_process(seed + process))
    partitions.assert_exact()
    assert partitions.deaths <= most
    assert partitions.left == {0: []}, "no suspicion outlives the commit"


@given(
    deadly=st.sets(st.tuples(st.integers(0, 2), st.integers(0, SPAN - 1)), max_size=3),
    owners=st.lists(st.tuples(st.integers(0, 1), st.sets(st.integers(0, 2), min_size=1)), max_size=20),
    seed=st.integers(),
)
def test_a_partition_that_wanders_kills_a_bounded_number(
    deadly: set[tuple[int, int]], owners: list[tuple[int, set[int]]], seed: int
) -> None:
    """Each worker has its own count, and keeps it when a partition moves to another worker."""
    partitions = Partitions(deadly, maximum_crashes=3)
    for process, (worker, owned) in enumerate(owners):
        asyncio.run(partitions.run_process(seed + process, worker=worker, partitions=owned))
    for process in range(len(deadly) * 3 + 1):
        asyncio.run(partitions.run_process(seed - process))
    partitions.assert_exact()
    assert partitions.deaths <= 2 * 3 * len(deadly)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9), st.integers(0, 4), st.integers(0, 3)), max_size=8))
def test_each_record_counts_the_crashes_it_was_held_in(drawn: list[tuple[int, int, int, int]]) -> None:
    left = [JournalEntry(partition, first, first + more, crashes) for partition, first, more, crashes in drawn]
    suspects = after_end(left)
    for partition in (0, 1):
        for offset in range(15):
            covering = [entry.crashes for entry in left if entry.covers(partition, offset)]
            expected = [max(covering) + (0 in covering)] if covering else []
            assert [suspect.crashes for suspect in suspects if suspect.covers(partition, offset)] == expected


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_clearing_leaves_exactly_the_others(first: int, more: int, cleared_first: int, cleared_more: int) -> None:
    suspects = [JournalEntry(0, first, first + more, 2, was_alone=True), JournalEntry(1, first, first + more, 1)]
    cleared = JournalEntry(0, cleared_first, cleared_first + cleared_more)
    left = without(suspects, cleared)
    assert _offsets(left, 0) == _offsets(suspects, 0) - _offsets([cleared], 0)
    assert _offsets(left, 1) == _offsets(suspects, 1)
    assert all((entry.crashes, entry.was_alone) == (2, True) for entry in left if entry.partition == 0)


def test_without_entries_no_record_is_a_suspect() -> None:
    suspects = [JournalEntry(0, 5, 5, 2, was_alone=True), JournalEntry(1, 1, 3, 1)]
    assert after_end(suspects) == suspects


@pytest.mark.parametrize(
    ("held", "was_alone"),
    [([JournalEntry(0, 5, 5)], True), ([JournalEntry(0, 5, 6)], False), ([JournalEntry(0, 5, 5), JournalEntry(1, 1, 1)], False)],
)
def test_only_a_record_that_ran_alone_is_guilty(held: Sequence[JournalEntry], was_alone: bool) -> None:
    assert {suspect.was_alone for suspect in after_end(held)} == {was_alone}


async def test_a_suspect_waits_to_run_alone() -> None:
    entries, store = journal_after([JournalEntry(0, 7, 7, crashes=1), JournalEntry(0, 7, 7)])
    running: list[int] = []
    gates = {offset: asyncio.Event() for offset in (6, 7, 8)}

    async def handle(offset: int) -> None:
        async with entries.held(0, offset, offset):
            running.append(offset)
            await gates[offset].wait()
            running.remove(offset)

    async with asyncio.TaskGroup() as tasks:
        for offset in gates:
            tasks.create_task(handle(offset))
        await until(lambda: running == [6])
        gates[6].set()
        await until(lambda: running == [7])
        assert [entry for entry in store.slots.values() if not entry.crashes] == [JournalEntry(0, 7, 7)]
        gates[7].set()
        await until(lambda: running == [8])
        gates[8].set()
    assert store.slots == {}


@pytest.mark.parametrize("end", [None, asyncio.CancelledError, ZeroDivisionError])
async def test_a_lost_worker_keeps_its_entries(end: type[BaseException] | None) -> None:
    """Its handler may return, or be cancelled, once its loop runs again: the next process has to know what was at work."""
    lost = asyncio.Event()
    left: list[JournalEntry] = []
    for crash in range(3):
        entries, store = journal_after(left, is_lost=lost.is_set)
        entries.reject_poison(0, 7)
        lost.clear()
        async with entries.held(0, 6, 6):
            pass
        with suppress(asyncio.CancelledError, ZeroDivisionError):
            async with entries.held(0, 7, 7):
                lost.set()
                if end is not None:
                    raise end
        left = list(store.slots.values())
        assert JournalEntry(0, 7, 7) in left, f"crash {crash}"
    entries, _ = journal_after(left)
    with pytest.raises(PoisonRecordError, match="3 times"):
        entries.reject_poison(0, 7)
    entries.reject_poison(0, 6)


async def test_a_lost_worker_begins_nothing_more() -> None:
    """A record that waits until the suspect has run alone must not run with it."""
    lost = asyncio.Event()
    entries, store = journal_after([JournalEntry(0, 7, 7, crashes=1), JournalEntry(0, 7, 7)], is_lost=lost.is_set)
    begun: list[int] = []

    async def handle(offset: int) -> None:
        async with entries.held(0, offset, offset):
            begun.append(offset)
            if offset == 7:
                await asyncio.sleep(0)
                lost.set()

    handling = [asyncio.create_task(handle(offset)) for offset in (7, 8, 9)]
    await handling[0]
    for _ in range(10):
        await asyncio.sleep(0)
    for each in handling:
        each.cancel()
    await asyncio.gather(*handling, return_exceptions=True)
    assert begun == [7]
    assert after_end(list(store.slots.values())) == [JournalEntry(0, 7, 7, 3, was_alone=True)]


async def test_a_record_that_fails_without_crashing_stays_suspect() -> None:
    entries, store = journal_after([JournalEntry(0, 7, 7, crashes=1), JournalEntry(0, 7, 7)])
    with pytest.raises(ZeroDivisionError):
        async with entries.held(0, 7, 7):
            raise ZeroDivisionError
    assert _left(store) == [JournalEntry(0, 7, 7, 2, was_alone=True)]
    async with entries.held(0, 7, 7):
        assert len(store.slots) == 2
    assert _left(store) == []


async def test_another_partitions_suspects_are_kept() -> None:
    """Its partition may come back to this worker, and would be begun with all its records at once."""
    suspects = [JournalEntry(3, 10, 12, 2)]
    entries, store = journal_after(suspects)
    entries.on_committed(0, 1_000)
    entries.on_committed(3, 11)
    async with entries.held(0, 11, 11):
        assert JournalEntry(0, 11, 11) in store.slots.values()
    assert _left(store) == [JournalEntry(3, 11, 12, 2)]
    assert entries.must_be_alone(3, 12)
    assert not entries.must_be_alone(0, 12)


def test_at_least_one_crash_is_allowed() -> None:
    with pytest.raises(ValueError, match="maximum_crashes"):
        journal_after(maximum_crashes=0)


def _left(store: JournalInMemory) -> list[JournalEntry]:
    return list(store.slots.values())


def _offsets(entries: Iterable[JournalEntry], partition: int) -> set[int]:
    return {offset for entry in entries if entry.partition == partition for offset in range(entry.first, entry.last + 1)}
