"""The records that run one after the other if the stage asks for it, and when a record's turn ends."""

import asyncio

from streams.engine.records import ConsumedRecord
from streams.errors import PoisonRecordError, TransientError
from tests.streams.engine.doubles import LETTERS
from tests.streams.engine.keyed_harness import SLOTS, driver_harness, failing
from tests.streams.harness import until


def user_of(record: ConsumedRecord) -> bytes:
    return (record.key or b"").split(b"/")[1]


async def test_lanes_run_side_by_side_each_in_order() -> None:
    async with driver_harness(ordering_key=user_of) as harness:
        users = range(SLOTS)
        for offset in range(3 * SLOTS):
            harness.gates[offset] = asyncio.Event()
            await harness.put(offset, key=b"%d/%d" % (offset % SLOTS, offset))
        for turn in range(3):
            own = [turn * SLOTS + user for user in users]
            await until(lambda turn=turn: len(harness.handled) == (turn + 1) * SLOTS)  # type: ignore[misc]
            assert sorted(harness.handled[turn * SLOTS :]) == own, "one of each user, all at once"
            for offset in own:
                harness.gates[offset].set()
        await harness.drained()


async def test_a_dead_letter_starts_the_keys_next_record() -> None:
    async with driver_harness(ordering_key=user_of) as harness:
        harness.answers = {0: failing(PoisonRecordError("bad_answer", "no JSON")), 1: failing(TransientError("no", dependency="llm"))}
        for offset in range(3):
            await harness.put(offset, key=b"ann/%d" % offset)
        await harness.drained()
        assert list(dict.fromkeys(harness.handled)) == [0, 1, 2]
        assert [each.topic == LETTERS for each in harness.sent] == [True, True, False]
