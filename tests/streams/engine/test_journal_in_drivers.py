"""The drivers' entries, and their handling of suspects: in order, and by key."""

import asyncio
from typing import NoReturn

from streams.engine.failures.suspects import JournalEntry
from streams.errors import LocalTableError, TransientError
from tests.streams.engine.keyed_harness import driver_harness, failing, reasons
from tests.streams.engine.ordered_harness import ordered_harness
from tests.streams.harness import until


def suspected(first: int, last: int, crashes: int) -> list[JournalEntry]:
    """The entries of a process that died at records, after others of them."""
    return [JournalEntry(0, first, last, crashes - 1), JournalEntry(0, first, last)] if crashes > 1 else [JournalEntry(0, first, last)]


async def test_a_batch_has_an_entry_while_it_is_handled() -> None:
    async with ordered_harness() as harness:
        journaled: list[list[JournalEntry]] = []
        harness.behaviour.at_handling = lambda: journaled.append(list(harness.entries.slots.values()))
        harness.behaviour.transient_failures = 1
        harness.put(*(harness.record(offset) for offset in range(5)))
        harness.processor.start()
        await harness.finished()
        assert journaled == [[JournalEntry(0, 0, 2)], [JournalEntry(0, 0, 2)], [JournalEntry(0, 3, 4)]]
        assert harness.entries.slots == {}


async def test_no_entry_exists_during_a_back_off() -> None:
    async with ordered_harness() as harness:
        harness.behaviour.transient_failures = 1_000_000
        harness.put(harness.record(0))
        harness.processor.start()
        await until(lambda: len(harness.behaviour.handled) > 3 and not harness.entries.slots)


async def test_a_batch_of_suspects_is_handled_one_by_one() -> None:
    async with ordered_harness(left=suspected(1, 3, crashes=2)) as harness:
        harness.put(*(harness.record(offset) for offset in range(7)))
        harness.processor.start()
        await harness.finished()
        assert harness.behaviour.handled == [[0], [1], [2], [3], [4, 5, 6]]
        assert harness.entries.slots == {}
        assert harness.counts() == {b"k": 7}


async def test_after_one_crash_the_whole_batch_is_retried() -> None:
    """Most processes die of nothing that a record did."""
    async with ordered_harness(left=suspected(0, 2, crashes=1)) as harness:
        harness.put(*(harness.record(offset) for offset in range(3)))
        harness.processor.start()
        await harness.finished()
        assert harness.behaviour.handled == [[0, 1, 2]]
        assert harness.entries.slots == {}


async def test_a_guilty_record_is_put_aside_unhandled() -> None:
    async with ordered_harness(left=suspected(1, 1, crashes=3)) as harness:
        harness.put(*(harness.record(offset) for offset in range(3)))
        harness.processor.start()
        await harness.finished()
        assert harness.behaviour.handled == [[0], [2]]
        (letter,) = harness.log.letters
        assert letter.value == b"good"
        assert dict(letter.headers)["varve-dlq-reason"] == b"crashed_worker"
        assert b"crashed or froze 3 times" in dict(letter.headers)["varve-dlq-detail"]
        assert harness.entries.slots == {}
        assert harness.counts() == {b"k": 2}


async def test_a_committed_record_is_no_suspect() -> None:
    async with ordered_harness(left=suspected(0, 5, crashes=2)) as harness:
        harness.log.next_offset = 5
        harness.processor.start()
        await until(lambda: harness.processor.is_recovered)
        assert list(harness.entries.slots.values()) == [JournalEntry(0, 5, 5, 2)]


async def test_a_suspect_ordered_by_key_runs_alone() -> None:
    async with driver_harness(left=suspected(1, 1, crashes=2)) as harness:
        harness.gates[1] = asyncio.Event()
        await harness.put_all([0, 1, 2, 3])
        await until(lambda: 1 in harness.handled)
        assert list(harness.entries.slots.values()) == [JournalEntry(0, 1, 1, 2, was_alone=True), JournalEntry(0, 1, 1)]
        assert harness.handled == [0, 1]
        harness.gates[1].set()
        await harness.drained()
        assert sorted(harness.handled) == [0, 1, 2, 3]
        assert harness.entries.slots == {}


async def test_a_guilty_record_by_key_is_put_aside() -> None:
    async with driver_harness(left=suspected(1, 1, crashes=3)) as harness:
        await harness.put_all([0, 1, 2])
        await harness.drained()
        assert sorted(harness.handled) == [0, 2]
        assert reasons(harness.sent) == [b"crashed_worker"]
        await until(lambda: harness.entries.slots == {})


async def test_a_waiting_record_by_key_has_no_entry() -> None:
    async with driver_harness() as harness:
        harness.answers[0] = failing(TransientError("not yet", dependency="llm", counts_as_attempt=False))
        await harness.put(0)
        await harness.handled_more(0)
        await until(lambda: not harness.entries.slots)
        assert harness.driver.backlog == 1


async def test_an_entry_that_cannot_be_written_blames_no_record() -> None:
    def full(_: JournalEntry) -> NoReturn:
        raise LocalTableError("no space left on device")

    async with driver_harness() as by_key, ordered_harness() as in_order:
        for entries in (by_key.entries, in_order.entries):
            entries.put = full  # type: ignore[method-assign,assignment]
        await by_key.put(0)
        in_order.put(in_order.record(0))
        in_order.processor.start()
        await until(lambda: by_key.driver.failure is not None and in_order.processor.failure is not None)
        assert isinstance(by_key.driver.failure, LocalTableError)
        assert isinstance(in_order.processor.failure, LocalTableError)
        assert by_key.sent == in_order.log.outputs == []
