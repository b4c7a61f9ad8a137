"""A partition processor makes outputs, state and offset durable in this order, whatever fails."""

import asyncio

import pytest

from runtime.kafka import OutgoingRecord
from tests.streams.delivery.processor_scene import processor
from tests.streams.harness import until


async def test_outputs_come_before_state_and_state_before_the_acknowledgement() -> None:
    async with processor() as scene:
        await scene.put(*(scene.record(offset) for offset in range(3)))
        scene.processor.start()
        await scene.finished()
        assert scene.journal.kinds() == ["outputs", "changelog", "state", "ack", "ack", "ack"]
        assert [output.value for output in scene.journal.of("outputs")[0]] == [b"1", b"2", b"3"]
        assert scene.journal.of("ack") == [0, 1, 2]
        assert scene.counts() == {b"k": 3}


@pytest.mark.parametrize("kind", ["outputs", "changelog"])
async def test_while_the_broker_takes_nothing_nothing_is_committed_and_then_once(kind: str) -> None:
    async with processor() as scene:
        scene.producer.failures[kind] = 4
        await scene.put(scene.record(0), scene.record(1))
        scene.processor.start()
        await scene.finished()
        assert scene.journal.kinds()[-4:] == ["changelog", "state", "ack", "ack"]
        assert scene.journal.of("ack") == [0, 1]
        assert scene.counts() == {b"k": 2}
        # Outputs are repeated only if they were taken and the changelog was not, and then byte for byte.
        assert len(scene.journal.of("outputs")) == (1 if kind == "outputs" else 5)
        assert all(outputs == scene.journal.of("outputs")[0] for outputs in scene.journal.of("outputs"))


async def test_what_the_handler_asks_to_try_again_leaves_no_trace_of_the_first_try() -> None:
    async with processor() as scene:
        scene.handler.transient = 5
        await scene.put(scene.record(0), scene.record(1))
        scene.processor.start()
        await scene.finished()
        assert scene.handler.handled == [[0, 1]] * 6
        assert scene.counts() == {b"k": 2}
        assert [len(outputs) for outputs in scene.journal.of("outputs")] == [2]


async def test_poison_in_the_middle_goes_untouched_to_the_dead_letters_and_holds_up_nothing() -> None:
    async with processor() as scene:
        await scene.put(scene.record(0), scene.record(1, b"poison"), scene.record(2))
        scene.processor.start()
        await scene.finished()
        assert scene.journal.of("ack") == [0, 1, 2]
        assert scene.counts() == {b"k": 2}
        (sent,) = scene.journal.of("letters")
        letter = sent[-1]
        assert (letter.key, letter.value, letter.headers[0]) == (b"k", b"poison", ("mine", b"\xff"))
        assert dict(letter.headers)["varve-dlq-reason"] == b"bad"
        assert [output.value for output in sent[:-1]] == [b"1", b"2"]


async def test_an_unexpected_error_isolates_its_record_alone() -> None:
    async with processor() as scene:
        await scene.put(scene.record(0), scene.record(1, b"bug"), scene.record(2))
        scene.processor.start()
        await scene.finished()
        assert scene.handler.handled == [[0, 1, 2], [0], [1], [2]]
        assert scene.counts() == {b"k": 2}, "the record's half-made change does not count"
        ((letter,),) = scene.journal.of("letters")
        assert (letter.value, dict(letter.headers)["varve-dlq-reason"]) == (b"bug", b"unexpected")
        assert b"ZeroDivisionError" in dict(letter.headers)["varve-dlq-detail"]
        assert scene.journal.of("ack") == [0, 1, 2]
        letter_at, ack_at = scene.journal.kinds().index("letters"), scene.journal.entries.index(("ack", 1))
        assert letter_at < ack_at


async def test_what_the_handler_notes_of_a_record_that_broke_it_is_durable_before_the_ack() -> None:
    async with processor() as scene:
        await scene.put(scene.record(0, b"bug", key=b"noted"), scene.record(1, b"bug", key=b"half noted"))
        scene.processor.start()
        await scene.finished()
        assert scene.counts() == {b"passed over": 0}
        assert scene.journal.kinds() == ["letters", "changelog", "state", "ack", "letters", "ack"]


async def test_a_dead_letter_that_the_broker_does_not_take_holds_its_record_until_it_does() -> None:
    async with processor() as scene:
        scene.producer.failures["letters"] = 3
        await scene.put(scene.record(0, b"bug"))
        scene.processor.start()
        await scene.finished()
        assert scene.journal.kinds() == ["letters", "ack"]


async def test_a_lane_that_is_stopped_in_the_middle_has_acknowledged_nothing() -> None:
    async with processor() as scene:
        scene.producer.gate["changelog"] = asyncio.Event()
        await scene.put(scene.record(0))
        scene.processor.start()
        await until(lambda: "outputs" in scene.journal.kinds())
        await scene.processor.stop()
        assert scene.journal.kinds() == ["outputs"]
        assert scene.counts() == {}
        await scene.processor.put(scene.record(1), limit=1)
        assert scene.processor.backlog == 0, "a record that comes after the end is not kept"


async def test_after_the_generation_has_passed_nothing_is_written() -> None:
    async with processor() as scene:
        scene.producer.gate["outputs"] = asyncio.Event()
        await scene.put(scene.record(0))
        scene.processor.start()
        await until(scene.producer.entered.is_set)
        scene.generation += 1
        scene.producer.gate["outputs"].set()
        await until(lambda: len(scene.handler.handled) == 3)
        assert scene.journal.entries == []


async def test_a_full_lane_holds_back_who_fills_it() -> None:
    async with processor() as scene:
        scene.producer.gate["outputs"] = asyncio.Event()
        await scene.processor.put(scene.record(0), limit=1)
        waiting = asyncio.create_task(scene.processor.put(scene.record(1), limit=1))
        await asyncio.sleep(0)
        assert not waiting.done()
        scene.processor.start()
        scene.producer.gate["outputs"].set()
        async with asyncio.timeout(60):
            await waiting
        await scene.finished()
        assert scene.journal.of("ack") == [0, 1]


async def test_stopping_frees_who_waits_to_fill_a_lane() -> None:
    async with processor() as scene:
        await scene.processor.put(scene.record(0), limit=1)
        waiting = asyncio.create_task(scene.processor.put(scene.record(1), limit=1))
        await asyncio.sleep(0)
        await scene.processor.stop()
        async with asyncio.timeout(60):
            await waiting


async def test_what_is_due_is_sent_while_no_record_comes() -> None:
    async with processor() as scene:
        scene.handler.commands = [OutgoingRecord("varve.messages", b"k", b"timer", (), 0)]
        scene.processor.start()
        await until(lambda: bool(scene.journal.of("outputs")))
        assert scene.journal.of("outputs")[0] == scene.handler.commands
        assert scene.handler.recovered == []


async def test_a_batch_is_bounded_in_bytes_and_a_larger_record_goes_alone() -> None:
    async with processor() as scene:
        await scene.put(*(scene.record(offset, b"x" * size) for offset, size in enumerate((400, 500, 600, 2000, 10, 10))))
        scene.processor.start()
        await scene.finished()
        assert scene.handler.handled == [[0, 1], [2], [3], [4, 5]]


async def test_to_finish_is_to_end_the_step_that_is_under_way_and_to_begin_no_other() -> None:
    async with processor() as scene:
        gate = scene.producer.gate["changelog"] = asyncio.Event()
        await scene.put(*map(scene.record, range(5)))
        scene.processor.start()
        await until(lambda: "outputs" in scene.journal.kinds())
        finishing = asyncio.create_task(scene.processor.finish())
        gate.set()
        await finishing
        assert scene.journal.of("ack") == [0, 1, 2]
        assert scene.processor.backlog == 2
