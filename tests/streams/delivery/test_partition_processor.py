"""A partition processor makes outputs, state and offset durable in this order, whatever fails."""

import asyncio

import pytest

from runtime.kafka import OutgoingRecord
from tests.streams.delivery.processor_harness import processor_harness
from tests.streams.harness import until


async def test_outputs_precede_state_and_state_the_ack() -> None:
    async with processor_harness() as harness:
        await harness.put(*(harness.record(offset) for offset in range(3)))
        harness.processor.start()
        await harness.drained()
        assert harness.journal.kinds() == ["outputs", "changelog", "state", "ack", "ack", "ack"]
        assert [output.value for output in harness.journal.of("outputs")[0]] == [b"1", b"2", b"3"]
        assert harness.journal.acked == [0, 1, 2]
        assert harness.counts() == {b"k": 3}


@pytest.mark.parametrize("kind", ["outputs", "changelog"])
async def test_broker_failure_delays_the_commit_until_it_succeeds_once(kind: str) -> None:
    async with processor_harness() as harness:
        harness.producer.failures[kind] = 4
        await harness.put(harness.record(0), harness.record(1))
        harness.processor.start()
        await harness.drained()
        assert harness.journal.kinds()[-4:] == ["changelog", "state", "ack", "ack"]
        assert harness.journal.acked == [0, 1]
        assert harness.counts() == {b"k": 2}
        # Outputs are repeated only if they were taken and the changelog was not, and then byte for byte.
        assert len(harness.journal.of("outputs")) == (1 if kind == "outputs" else 5)
        assert all(outputs == harness.journal.of("outputs")[0] for outputs in harness.journal.of("outputs"))


async def test_retried_batch_leaves_no_trace_of_failed_attempts() -> None:
    async with processor_harness() as harness:
        harness.handler.transient_failures = 5
        await harness.put(harness.record(0), harness.record(1))
        harness.processor.start()
        await harness.drained()
        assert harness.handler.handled == [[0, 1]] * 6
        assert harness.counts() == {b"k": 2}
        assert [len(outputs) for outputs in harness.journal.of("outputs")] == [2]


async def test_poison_goes_untouched_to_the_dead_letters() -> None:
    async with processor_harness() as harness:
        await harness.put(harness.record(0), harness.record(1, b"poison"), harness.record(2))
        harness.processor.start()
        await harness.drained()
        assert harness.journal.acked == [0, 1, 2]
        assert harness.counts() == {b"k": 2}
        (sent,) = harness.journal.of("letters")
        letter = sent[-1]
        assert (letter.key, letter.value, letter.headers[0]) == (b"k", b"poison", ("mine", b"\xff"))
        assert dict(letter.headers)["varve-dlq-reason"] == b"bad"
        assert [output.value for output in sent[:-1]] == [b"1", b"2"]


async def test_unexpected_error_isolates_one_record() -> None:
    async with processor_harness() as harness:
        await harness.put(harness.record(0), harness.record(1, b"bug"), harness.record(2))
        harness.processor.start()
        await harness.drained()
        assert harness.handler.handled == [[0, 1, 2], [0], [1], [2]]
        assert harness.counts() == {b"k": 2}, "the record's half-made change does not count"
        ((letter,),) = harness.journal.of("letters")
        assert (letter.value, dict(letter.headers)["varve-dlq-reason"]) == (b"bug", b"unexpected")
        assert b"ZeroDivisionError" in dict(letter.headers)["varve-dlq-detail"]
        assert harness.journal.acked == [0, 1, 2]
        letter_at, ack_at = harness.journal.kinds().index("letters"), harness.journal.entries.index(("ack", 1))
        assert letter_at < ack_at


async def test_dead_letter_note_is_durable_before_the_ack() -> None:
    async with processor_harness() as harness:
        await harness.put(harness.record(0, b"bug", key=b"noted"), harness.record(1, b"bug", key=b"half noted"))
        harness.processor.start()
        await harness.drained()
        assert harness.counts() == {b"dead-lettered": 0}
        assert harness.journal.kinds() == ["letters", "changelog", "state", "ack", "letters", "ack"]


async def test_record_waits_until_its_dead_letter_is_durable() -> None:
    async with processor_harness() as harness:
        harness.producer.failures["letters"] = 3
        await harness.put(harness.record(0, b"bug"))
        harness.processor.start()
        await harness.drained()
        assert harness.journal.kinds() == ["letters", "ack"]


async def test_processor_stopped_midway_has_acknowledged_nothing() -> None:
    async with processor_harness() as harness:
        harness.producer.gates["changelog"] = asyncio.Event()
        await harness.put(harness.record(0))
        harness.processor.start()
        await until(lambda: "outputs" in harness.journal.kinds())
        await harness.processor.stop()
        assert harness.journal.kinds() == ["outputs"]
        assert harness.counts() == {}
        await harness.processor.put(harness.record(1), limit=1)
        assert harness.processor.backlog == 0, "a record that comes after the end is not kept"


async def test_nothing_is_written_under_a_later_generation() -> None:
    async with processor_harness() as harness:
        harness.producer.gates["outputs"] = asyncio.Event()
        await harness.put(harness.record(0))
        harness.processor.start()
        await until(harness.producer.entered.is_set)
        harness.generation += 1
        harness.producer.gates["outputs"].set()
        await until(lambda: len(harness.handler.handled) == 3)
        assert harness.journal.entries == []


async def test_full_queue_blocks_the_caller() -> None:
    async with processor_harness() as harness:
        harness.producer.gates["outputs"] = asyncio.Event()
        await harness.processor.put(harness.record(0), limit=1)
        waiting = asyncio.create_task(harness.processor.put(harness.record(1), limit=1))
        await asyncio.sleep(0)
        assert not waiting.done()
        harness.processor.start()
        harness.producer.gates["outputs"].set()
        async with asyncio.timeout(60):
            await waiting
        await harness.drained()
        assert harness.journal.acked == [0, 1]


async def test_stop_unblocks_a_waiting_caller() -> None:
    async with processor_harness() as harness:
        await harness.processor.put(harness.record(0), limit=1)
        waiting = asyncio.create_task(harness.processor.put(harness.record(1), limit=1))
        await asyncio.sleep(0)
        await harness.processor.stop()
        async with asyncio.timeout(60):
            await waiting


async def test_due_commands_are_sent_while_idle() -> None:
    async with processor_harness() as harness:
        harness.handler.commands = [OutgoingRecord("varve.messages", b"k", b"timer", (), 0)]
        harness.processor.start()
        await until(lambda: bool(harness.journal.of("outputs")))
        assert harness.journal.of("outputs")[0] == harness.handler.commands
        assert harness.handler.recovered == []


async def test_batch_bytes_are_bounded_and_larger_records_go_alone() -> None:
    async with processor_harness() as harness:
        await harness.put(*(harness.record(offset, b"x" * size) for offset, size in enumerate((400, 500, 600, 2000, 10, 10))))
        harness.processor.start()
        await harness.drained()
        assert harness.handler.handled == [[0, 1], [2], [3], [4, 5]]


async def test_finish_completes_the_current_batch_only() -> None:
    async with processor_harness() as harness:
        gate = harness.producer.gates["changelog"] = asyncio.Event()
        await harness.put(*map(harness.record, range(5)))
        harness.processor.start()
        await until(lambda: "outputs" in harness.journal.kinds())
        finishing = asyncio.create_task(harness.processor.finish())
        gate.set()
        await finishing
        assert harness.journal.acked == [0, 1, 2]
        assert harness.processor.backlog == 2
