"""An ordered task commits outputs, state and offset at once, whatever fails, and reads the log if an outcome is unknown."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from runtime.kafka import OffsetAndTimestamp, OutgoingRecord
from streams.errors import FencedError
from tests.streams.engine.doubles import ScriptedLog
from tests.streams.engine.ordered_harness import ordered_harness
from tests.streams.harness import until


async def test_a_batch_is_one_transaction() -> None:
    async with ordered_harness() as harness:
        deliveries = [harness.record(offset) for offset in range(3)]
        harness.put(*deliveries)
        harness.processor.start()
        await harness.finished()
        (commit,) = harness.log.commits
        assert [output.value for output in commit.outputs] == [b"1", b"2", b"3"]
        assert [row.key for row in commit.rows] == [b"k"]
        assert commit.next_offset == harness.processor.next_offset == 3
        assert harness.counts() == {b"k": 3}
        assert harness.log.last == OffsetAndTimestamp(2, deliveries[2].appended_ms)


async def test_an_aborted_commit_is_made_again_once() -> None:
    async with ordered_harness() as harness:
        harness.log.aborted_commits = 4
        harness.put(harness.record(0), harness.record(1))
        harness.processor.start()
        await harness.finished()
        (commit,) = harness.log.commits
        assert [output.value for output in commit.outputs] == [b"1", b"2"]
        assert harness.counts() == {b"k": 2}
        assert harness.log.epoch == 5, "the partition is taken over again each time"


async def test_a_commit_whose_answer_is_lost_counts_once() -> None:
    async with ordered_harness() as harness:
        harness.log.lost_answers = 1
        harness.put(*(harness.record(offset) for offset in range(4)))
        harness.processor.start()
        await harness.finished()
        assert [output.value for output in harness.log.outputs] == [b"1", b"2", b"3", b"4"]
        assert harness.counts() == {b"k": 4}
        assert harness.behaviour.handled == [[0, 1, 2], [3]]


async def test_a_takeover_starts_at_the_committed_offset() -> None:
    log = ScriptedLog()
    async with ordered_harness(log) as before:
        before.put(*(before.record(offset) for offset in range(3)))
        before.processor.start()
        await before.finished()
    async with ordered_harness(log) as harness:
        harness.put(*(harness.record(offset) for offset in range(5)))
        harness.processor.start()
        await harness.finished()
        assert harness.behaviour.handled == [[3, 4]], "what the one before has committed is not handled again"
        assert harness.behaviour.recovered == [[b"k"]]
        assert harness.counts() == {b"k": 5}


async def test_a_takeover_that_fails_is_tried_again() -> None:
    async with ordered_harness() as harness:
        harness.log.refused_takeovers = 3
        harness.put(harness.record(0))
        harness.processor.start()
        assert not harness.processor.is_recovered
        await harness.finished()
        assert harness.processor.is_recovered
        assert harness.counts() == {b"k": 1}


async def test_a_fenced_processor_breaks_and_writes_nothing() -> None:
    log = ScriptedLog()
    async with ordered_harness(log) as zombie, ordered_harness(log) as successor:
        zombie.processor.start()
        await until(lambda: zombie.processor.is_recovered)
        successor.processor.start()
        await until(lambda: successor.processor.is_recovered)
        zombie.put(zombie.record(0))
        await until(lambda: zombie.processor.failure is not None)
        assert isinstance(zombie.processor.failure, FencedError)
        assert log.commits == []
        successor.put(successor.record(0))
        await successor.finished()
        assert successor.counts() == {b"k": 1}


async def test_a_redelivered_record_is_handled_once() -> None:
    async with ordered_harness() as harness:
        harness.put(*(harness.record(offset) for offset in (0, 1, 0, 1, 2)))
        harness.processor.start()
        await harness.finished()
        harness.put(harness.record(1), harness.record(3))
        await harness.finished()
        assert [offset for batch in harness.behaviour.handled for offset in batch] == [0, 1, 2, 3]


async def test_a_cancelled_call_of_a_handler_stops_the_worker() -> None:
    def cancelled() -> None:
        raise asyncio.CancelledError

    async with ordered_harness() as harness:
        harness.behaviour.at_handling = cancelled
        harness.put(harness.record(0))
        harness.processor.start()
        await until(lambda: harness.processor.failure is not None, deadline_s=20)
        assert harness.log.commits == []


async def test_a_transient_failure_leaves_no_trace() -> None:
    async with ordered_harness() as harness:
        harness.behaviour.transient_failures = 5
        harness.put(harness.record(0), harness.record(1))
        harness.processor.start()
        await harness.finished()
        assert harness.behaviour.handled == [[0, 1]] * 6
        assert harness.counts() == {b"k": 2}
        assert len(harness.log.commits) == harness.log.epoch == 1


async def test_poison_is_dead_lettered_unchanged() -> None:
    async with ordered_harness() as harness:
        harness.put(harness.record(0), harness.record(1, b"poison"), harness.record(2))
        harness.processor.start()
        await harness.finished()
        (commit,) = harness.log.commits
        assert harness.counts() == {b"k": 2}
        (letter,) = commit.letters
        assert (letter.key, letter.value, letter.headers[0]) == (b"k", b"poison", ("mine", b"\xff"))
        assert dict(letter.headers)["varve-dlq-reason"] == b"bad"
        assert [output.value for output in commit.outputs[:-1]] == [b"1", b"2"]


async def test_an_unexpected_error_isolates_its_record() -> None:
    async with ordered_harness() as harness:
        harness.put(harness.record(0), harness.record(1, b"bug"), harness.record(2))
        harness.processor.start()
        await harness.finished()
        assert harness.behaviour.handled == [[0, 1, 2], [0], [1], [2]]
        assert harness.counts() == {b"k": 2}, "the record's half-made change does not count"
        (letter,) = harness.log.letters
        assert (letter.value, dict(letter.headers)["varve-dlq-reason"]) == (b"bug", b"unexpected")
        assert b"ZeroDivisionError" in dict(letter.headers)["varve-dlq-detail"]
        assert [commit.next_offset for commit in harness.log.commits] == [1, 2, 3]


async def test_an_output_that_kafka_refuses_isolates_its_record() -> None:
    async with ordered_harness() as harness:
        harness.log.too_large = b"2"
        harness.put(harness.record(0), harness.record(1), harness.record(2, key=b"other"))
        harness.processor.start()
        await harness.finished()
        (letter,) = harness.log.letters
        assert dict(letter.headers)["varve-dlq-reason"] == b"too_large"
        assert harness.counts() == {b"k": 1, b"other": 1}


async def test_a_refused_dead_letter_is_shortened() -> None:
    async with ordered_harness() as harness:
        harness.log.largest_letter = 100_000
        harness.put(harness.record(0), harness.record(1, b"poison" + bytes(200_000)), harness.record(2))
        harness.processor.start()
        await harness.finished()
        letter, *parts = harness.log.letters
        assert letter.value is None
        assert len(parts) == int(dict(letter.headers)["varve-dlq-parts"]) > 0
        assert harness.counts() == {b"k": 2}


async def test_a_dead_letter_always_refused_blocks() -> None:
    async with ordered_harness() as harness:
        harness.log.largest_letter = 1
        harness.put(harness.record(0, b"poison"), harness.record(1))
        harness.processor.start()
        await until(lambda: harness.log.epoch >= 3)
        assert harness.processor.failure is None
        assert harness.log.refused_letters <= 6 * harness.log.epoch, "with a wait between rounds"
        harness.log.largest_letter = None
        await harness.finished()
        assert len(harness.log.letters) == 1
        assert harness.counts() == {b"k": 1}


async def test_a_dead_letter_is_counted_when_committed() -> None:
    async with ordered_harness() as harness:
        harness.log.aborted_commits = 3
        harness.behaviour.transient_failures = 2
        harness.put(harness.record(0), harness.record(1, b"poison"))
        harness.processor.start()
        await harness.finished()
        assert harness.metrics.dead_letters.labels("test", "bad")._value.get() == 1


async def test_a_dead_letters_note_is_committed_with_it() -> None:
    async with ordered_harness() as harness:
        harness.put(harness.record(0, b"bug", key=b"noted"), harness.record(1, b"bug", key=b"half noted"))
        harness.processor.start()
        await harness.finished()
        assert harness.counts() == {b"passed over": 0}
        assert [(len(commit.letters), len(commit.rows)) for commit in harness.log.commits] == [(1, 1), (1, 0)]


async def test_a_refused_dead_letter_holds_its_record() -> None:
    async with ordered_harness() as harness:
        harness.log.aborted_commits = 3
        harness.put(harness.record(0, b"bug"))
        harness.processor.start()
        await harness.finished()
        (commit,) = harness.log.commits
        assert len(commit.letters) == commit.next_offset == 1


async def test_a_processor_stopped_in_a_commit_has_committed_nothing() -> None:
    async with ordered_harness() as harness:
        harness.log.gate = asyncio.Event()
        harness.put(harness.record(0))
        harness.processor.start()
        await until(lambda: harness.log.waiting == 1)
        await harness.processor.stop()
        assert harness.log.commits == []
        assert harness.writer.is_stopped
        harness.processor.put(harness.record(1))
        assert harness.processor.backlog == 1, "a record that comes after the end is not kept"


async def test_after_the_generation_has_passed_nothing_is_written() -> None:
    async with ordered_harness() as harness:
        harness.processor.start()
        await until(lambda: harness.processor.is_recovered)
        harness.generation += 1
        harness.put(harness.record(0))
        await until(
            lambda: (
                harness.behaviour.handled == [[0]]
                and (not harness.processor.is_recovered or harness.log.commits != [] or harness.log.epoch > 1)
            )
        )
        assert harness.log.commits == []
        assert harness.log.epoch == 1, "who does not own the partition fences nobody"


async def test_a_partition_is_paused_while_its_queue_is_full() -> None:
    async with ordered_harness(max_queued=4) as harness:
        harness.put(*(harness.record(offset) for offset in range(3)))
        assert not harness.paused
        harness.put(*(harness.record(offset) for offset in range(3, 6)))
        assert harness.paused == {0}
        assert harness.processor.backlog == 6, "records that were fetched before the pause are accepted"
        harness.processor.start()
        await harness.finished()
        assert harness.processor.next_offset == 6
        assert not harness.paused


async def test_a_quarter_of_free_queue_resumes_a_partition() -> None:
    async with ordered_harness(max_queued=8) as harness:
        harness.put(*(harness.record(offset) for offset in range(8)))
        paused_at: list[tuple[int, bool]] = []
        harness.behaviour.at_handling = lambda: paused_at.append((harness.processor.backlog, bool(harness.paused)))
        harness.processor.start()
        await harness.finished()
        assert paused_at == [(8, True), (5, False), (2, False)]


async def test_a_queue_of_large_records_is_full_by_bytes() -> None:
    async with ordered_harness(max_queued_bytes=1000) as harness:
        harness.put(harness.record(0, value=b"x" * 600))
        assert not harness.paused
        harness.put(harness.record(1, value=b"x" * 600))
        assert harness.paused == {0}
        harness.processor.start()
        await harness.finished()
        assert not harness.paused
        harness.put(harness.record(2, value=b"x" * 2000))
        assert harness.paused == {0}, "one that is larger than the bound is taken in, and nothing more"
        await harness.finished()
        assert (harness.processor.next_offset, bool(harness.paused)) == (3, False)


async def test_an_unrestored_partition_is_paused() -> None:
    async with ordered_harness(ScriptedLog(refused_takeovers=10**9), max_queued=2) as harness:
        harness.processor.start()
        harness.put(*(harness.record(offset) for offset in range(5)))
        assert harness.paused == {0}
        harness.log.refused_takeovers = 0
        await harness.finished()
        assert (harness.processor.next_offset, bool(harness.paused)) == (5, False)


async def test_a_stopped_partition_is_not_left_paused() -> None:
    async with ordered_harness(max_queued=1) as harness:
        harness.put(harness.record(0))
        assert harness.paused == {0}
        await harness.processor.stop()
        assert not harness.paused


async def test_due_commands_are_sent_without_new_records() -> None:
    async with ordered_harness() as harness:
        harness.behaviour.commands = [OutgoingRecord("varve.messages", b"k", b"timer", (), 0)]
        harness.processor.start()
        await until(lambda: bool(harness.log.commits))
        assert harness.log.commits[0].outputs == harness.behaviour.commands
        assert harness.log.commits[0].next_offset is None
        assert harness.behaviour.recovered == [[]]


async def test_trailing_markers_are_committed_when_nothing_is_left() -> None:
    async with ordered_harness() as harness:
        harness.paused.next_fetch = 7
        harness.put(harness.record(0))
        harness.processor.start()
        await until(lambda: harness.log.next_offset == 7)
        assert harness.log.commits[-1].outputs == []
        assert harness.processor.next_offset == 7


async def test_no_position_is_committed_over_queued_records() -> None:
    async with ordered_harness() as harness:
        harness.paused.next_fetch = 7
        harness.put(*(harness.record(offset) for offset in range(3)))
        harness.processor.start()
        await until(lambda: harness.log.next_offset == 7)
        assert [commit.next_offset for commit in harness.log.commits] == [3, 7]
        assert harness.counts() == {b"k": 3}


async def test_a_worker_without_the_partition_sends_no_commands() -> None:
    async with ordered_harness() as harness:
        harness.processor.start()
        await until(lambda: harness.processor.is_recovered)
        harness.generation += 1
        harness.behaviour.commands = [OutgoingRecord("varve.messages", b"k", b"timer", (), 0)]
        await until(lambda: harness.behaviour.times_due > 0 and not harness.processor.is_recovered)
        assert harness.log.commits == []


async def test_event_time_is_shown_while_the_partition_is_ours() -> None:
    async with ordered_harness() as harness:

        def shown() -> float | None:
            return harness.metrics.registry.get_sample_value("varve_watermark_delay_seconds", {"stage": "test", "partition": "0"})

        harness.processor.start()
        await until(lambda: harness.behaviour.times_due > 0)
        assert shown() is None, "a stage without timers has no event time"
        harness.behaviour.watermark = datetime.now(UTC) - timedelta(hours=1)
        await until(lambda: shown() is not None)
        assert 3600 <= (shown() or 0) < 3600 + 600
        await harness.processor.stop()
        assert shown() is None


async def test_a_handler_gets_the_time_of_one_clock() -> None:
    async with ordered_harness() as harness:
        harness.processor.start()
        harness.put(harness.record(0))
        await until(lambda: harness.behaviour.times.keys() == {"recover", "handle", "due"})
        assert set(harness.behaviour.times.values()) == {harness.clock.now()}, "silence is what lies between its times"


async def test_a_batch_is_bounded_in_bytes() -> None:
    async with ordered_harness() as harness:
        harness.put(*(harness.record(offset, b"x" * size) for offset, size in enumerate((400, 500, 600, 2000, 10, 10))))
        harness.processor.start()
        await harness.finished()
        assert harness.behaviour.handled == [[0, 1], [2], [3], [4, 5]], "a larger record goes alone"


async def test_a_full_batch_does_not_wait_for_the_interval() -> None:
    async with ordered_harness(interval_s=3600.0) as harness:
        harness.put(*(harness.record(offset) for offset in range(9)))
        harness.processor.start()
        await harness.finished()
        harness.put(harness.record(9))
        await asyncio.sleep(0)
        harness.put(*(harness.record(offset) for offset in range(10, 12)))
        await harness.finished()
        assert harness.behaviour.handled == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]


async def test_a_batch_full_of_bytes_does_not_wait() -> None:
    async with ordered_harness(interval_s=3600.0) as harness:
        harness.put(harness.record(0))
        harness.processor.start()
        await harness.finished()
        harness.put(*(harness.record(offset, b"x" * 1000) for offset in (1, 2)))
        await harness.finished()
        assert harness.behaviour.handled == [[0], [1], [2]]


async def test_finishing_ends_the_batch_and_begins_no_other() -> None:
    async with ordered_harness() as harness:
        gate = harness.log.gate = asyncio.Event()
        harness.put(*map(harness.record, range(5)))
        harness.processor.start()
        await until(lambda: harness.log.waiting == 1)
        finishing = asyncio.create_task(harness.processor.finish())
        await asyncio.sleep(0)
        gate.set()
        await finishing
        assert harness.log.next_offset == 3
        assert harness.processor.backlog == 2


@pytest.mark.parametrize("kind", ["aborted_commits", "lost_answers", "refused_takeovers"])
async def test_every_record_counts_once_through_many_failures(kind: str) -> None:
    async with ordered_harness() as harness:
        harness.processor.start()
        for offset in range(30):
            if offset % 3 == 0:
                setattr(harness.log, kind, 2)
            if kind == "refused_takeovers" and offset % 3 == 0:
                harness.log.aborted_commits = 1
            harness.put(harness.record(offset))
        await harness.finished()
        assert harness.counts() == {b"k": 30}
        assert [output.value for output in harness.log.outputs] == [b"%d" % count for count in range(1, 31)]
