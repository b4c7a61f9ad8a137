"""Records handled by key: what becomes of failures, and of work that a rebalance interrupts. The broker's part is scripted here."""

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import cast

from runtime.breaker import CircuitBreaker
from runtime.kafka import OutgoingRecord
from streams.delivery.driver import FaustRecord
from streams.delivery.keyed_driver import KeyedDriver
from streams.delivery.records import ConsumedRecord
from streams.delivery.scheduler import Scheduler
from streams.errors import PoisonRecordError, TransientError
from tests.streams.harness import PausedPartitions, stage_context, until

TOPIC = "windows"
SLOTS = 4
SPAN = 40


class Handed:
    """A record as the worker hands it over."""

    def __init__(self, scene: "Scene", record: ConsumedRecord) -> None:
        self.scene = scene
        self.record = record

    def ack(self) -> None:
        self.scene.acked.append(self.record.offset)


class Scene:
    """KeyedDriver with a handler that does what the test says, and an outbox that keeps what it is given."""

    def __init__(self, *, reset_s: float = 0.002) -> None:
        self.acked: list[int] = []
        self.sent: list[OutgoingRecord] = []
        self.handled: list[int] = []
        self.answers: dict[int, Callable[[], list[OutgoingRecord]]] = {}
        self.gates: dict[int, asyncio.Event] = {}
        self.generation = 1
        self.broker_failures = 0
        self.broker_gate: asyncio.Event | None = None
        self.tenants: dict[int, str] = {}
        self.paused = PausedPartitions()
        context = stage_context(
            self,
            new_breaker=lambda: CircuitBreaker(failures=4, reset_s=reset_s),
            may_write=lambda generation: generation == self.generation,
            flow_control=self.paused,
        )
        scheduler: Scheduler[FaustRecord] = Scheduler(slots=SLOTS, tenant_share=1.0, max_in_flight=50, max_span=SPAN)
        self.driver = KeyedDriver(context=context, handler=self, topic=TOPIC, scheduler=scheduler)

    def tenant_of(self, record: ConsumedRecord) -> str:
        return self.tenants.get(record.offset, "acme")

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        self.handled.append(record.offset)
        if record.offset in self.gates:
            await self.gates[record.offset].wait()
        answer = self.answers.get(record.offset)
        return answer() if answer else [OutgoingRecord("out", record.key, b"%d" % record.offset)]

    async def send(self, records: Sequence[OutgoingRecord], *, may_write: Callable[[], bool]) -> list[int]:
        if not may_write():
            raise TransientError("taken away", dependency="assignment")
        if self.broker_failures:
            self.broker_failures -= 1
            raise TransientError("no broker", dependency="kafka")
        if self.broker_gate is not None:
            await self.broker_gate.wait()
        self.sent += records
        return [0] * len(records)

    async def put(self, offset: int, key: bytes = b"k", *, partition: int = 0) -> None:
        await self.driver.put(cast(FaustRecord, Handed(self, ConsumedRecord(TOPIC, partition, offset, key, b"value", (), 0.0))))

    async def put_all(self, offsets: Iterable[int]) -> None:
        """Each under a key of its own."""
        for offset in offsets:
            await self.put(offset, key=b"%d" % offset)

    async def assign(self, *partitions: int) -> None:
        await self.driver.revoke()
        self.generation += 1
        await self.driver.assign(set(partitions), self.generation)

    async def tried_more(self, times: int) -> None:
        so_far = len(self.handled)
        await until(lambda: len(self.handled) > so_far + times)

    async def drained(self) -> None:
        async with asyncio.timeout(60):
            await until(lambda: self.driver.backlog == 0)
        assert self.driver.failure is None


@asynccontextmanager
async def keyed_driver(*, reset_s: float = 0.002) -> AsyncIterator[Scene]:
    scene = Scene(reset_s=reset_s)
    await scene.assign(0)
    try:
        yield scene
    finally:
        await scene.driver.stop()


def failing(error: Exception) -> Callable[[], list[OutgoingRecord]]:
    def answer() -> list[OutgoingRecord]:
        raise error

    return answer


def reasons(outputs: list[OutgoingRecord]) -> list[bytes]:
    return [dict(output.headers)["varve-dlq-reason"] for output in outputs if output.topic == "dead-letters"]


async def test_a_failure_of_one_record_alone_is_given_up_after_its_tries() -> None:
    async with keyed_driver() as scene:
        scene.answers[0] = failing(TransientError("always", dependency="llm"))
        await scene.put(0)
        await scene.put(1, b"other")
        await scene.drained()
        assert scene.handled.count(0) == 3
        assert reasons(scene.sent) == [b"gave_up"]
        assert scene.acked == [0, 1]


async def test_while_the_dependency_is_away_for_everyone_nothing_is_given_up() -> None:
    async with keyed_driver() as scene:
        away = TransientError("away", dependency="llm")
        for offset in range(3):
            scene.answers[offset] = failing(away)
            await scene.put(offset, b"%d" % offset)
        await until(lambda: len(scene.handled) > 20)
        assert reasons(scene.sent) == []
        scene.answers.clear()
        await scene.drained()
        assert {output.value for output in scene.sent} == {b"0", b"1", b"2"}
        assert scene.acked == [0, 1, 2]


async def test_an_outage_of_one_dependency_leaves_the_tries_for_another() -> None:
    async with keyed_driver() as scene:
        for offset in range(4):
            scene.answers[offset] = failing(TransientError("away", dependency="store"))
            await scene.put(offset, b"%d" % offset)
        await until(lambda: len(scene.handled) > 40)

        def busy_once() -> list[OutgoingRecord]:
            scene.answers.clear()
            raise TransientError("busy", dependency="llm")

        scene.answers = {0: busy_once}
        await scene.drained()
        assert reasons(scene.sent) == []
        assert scene.acked == [0, 1, 2, 3]


async def test_tries_that_one_dependency_used_up_are_not_held_against_another() -> None:
    async with keyed_driver() as scene:
        failures = [TransientError("away", dependency="store")] * 2 + [TransientError("busy", dependency="llm")] * 2

        def next_failure() -> list[OutgoingRecord]:
            if failures:
                raise failures.pop(0)
            return [OutgoingRecord("out", b"k", b"0")]

        scene.answers[0] = next_failure
        await scene.put(0)
        await scene.drained()
        assert reasons(scene.sent) == []
        assert scene.acked == [0]


async def test_a_slow_success_that_began_before_an_outage_does_not_end_it() -> None:
    async with keyed_driver() as scene:
        for slow in range(1, 3):
            scene.gates[slow] = asyncio.Event()
            await scene.put(slow, b"slow-%d" % slow)
        await until(lambda: len(scene.handled) == 2)
        for offset in (3, 4):
            scene.answers[offset] = failing(TransientError("away", dependency="store"))
            await scene.put(offset, b"%d" % offset)
        for slow in range(1, 3):
            await scene.tried_more(20)
            scene.gates[slow].set()
        await scene.tried_more(20)
        assert reasons(scene.sent) == []
        scene.answers.clear()
        await scene.drained()
        assert scene.acked == [1, 2, 3, 4]


async def test_poison_and_bugs_are_dead_lettered_at_once_and_their_key_goes_on() -> None:
    async with keyed_driver() as scene:
        scene.answers[0] = failing(PoisonRecordError("bad_answer", "beyond repair", raw_answer="{{"))
        scene.answers[1] = failing(ZeroDivisionError())
        for offset in range(3):
            await scene.put(offset)
        await scene.drained()
        assert scene.handled == [0, 1, 2]
        assert reasons(scene.sent) == [b"bad_answer", b"unexpected"]
        assert dict(scene.sent[0].headers)["varve-dlq-answer"] == b"{{"
        assert [output.value for output in scene.sent] == [b"value", b"value", b"2"]


async def test_while_the_broker_takes_nothing_nothing_is_acknowledged() -> None:
    async with keyed_driver() as scene:
        scene.broker_failures = 4
        await scene.put(0)
        await scene.drained()
        assert scene.handled == [0], "the call is not made again"
        assert scene.acked == [0]
        assert len(scene.sent) == 1


async def test_a_redelivery_joins_the_work_under_way_and_is_written_once() -> None:
    async with keyed_driver() as scene:
        scene.gates[0] = asyncio.Event()
        await scene.put(0)
        await until(lambda: scene.handled == [0])
        await scene.assign(0)
        await scene.put(0)
        scene.gates[0].set()
        await scene.drained()
        assert scene.handled == [0]
        assert [output.value for output in scene.sent] == [b"0"]
        assert scene.acked == [0]


async def test_what_was_computed_in_between_is_written_when_its_record_comes_again() -> None:
    async with keyed_driver() as scene:
        scene.gates[0] = asyncio.Event()
        await scene.put(0)
        await until(lambda: scene.handled == [0])
        await scene.driver.revoke()
        scene.gates[0].set()
        await asyncio.sleep(0)
        assert scene.sent == []
        await scene.assign(0)
        await scene.put(0)
        await scene.drained()
        assert scene.handled == [0]
        assert [output.value for output in scene.sent] == [b"0"]


async def test_a_partition_that_went_away_and_came_back_further_on_is_not_held_up_by_old_work() -> None:
    async with keyed_driver() as scene:
        scene.gates[0] = asyncio.Event()
        await scene.put(0)
        await until(lambda: scene.handled == [0])
        await scene.assign()
        await scene.assign(0)
        await scene.put(1)
        await scene.drained()
        scene.gates[0].set()
        await until(lambda: scene.driver.backlog == 0)
        assert scene.acked == [1]
        assert [output.value for output in scene.sent] == [b"1"]


async def test_a_redelivery_joins_the_write_that_is_under_way() -> None:
    async with keyed_driver() as scene:
        scene.broker_gate = asyncio.Event()
        await scene.put(0)
        await until(lambda: scene.handled == [0])
        await scene.assign(0)
        await scene.put(0)
        scene.broker_gate.set()
        await scene.drained()
        assert scene.handled == scene.acked == [0]
        assert len(scene.sent) == 1


async def test_while_a_dependency_is_away_one_record_tries_it_and_the_others_wait_unspent() -> None:
    async with keyed_driver(reset_s=0.5) as scene:
        scene.answers = {offset: failing(TransientError("away", dependency="llm")) for offset in range(40)}
        for offset in range(40):
            await scene.put(offset, key=b"%d" % offset)
        first_round = 2 * SLOTS - 1  # each but the last of the first failures lets one more begin
        await until(lambda: len(scene.handled) > first_round)
        assert len(scene.handled) == first_round + 1
        scene.answers.clear()
        await scene.drained()
        assert not reasons(scene.sent)
        assert scene.acked == list(range(40))


async def test_what_fails_now_and_then_holds_nobody_back() -> None:
    async with keyed_driver(reset_s=3600.0) as scene:
        scene.answers = {offset: failing(TransientError("now and then", dependency="llm")) for offset in range(0, 40, 2)}
        for offset in range(40):
            await scene.put(offset, key=b"%d" % offset)
        await until(lambda: set(range(1, 40, 2)) <= set(scene.handled))


async def test_to_finish_is_to_begin_nothing_and_to_write_what_is_under_way() -> None:
    async with keyed_driver() as scene:
        scene.gates = {offset: asyncio.Event() for offset in range(SLOTS)}
        for offset in range(10):
            await scene.put(offset, key=b"%d" % offset)
        await until(lambda: len(scene.handled) == SLOTS)
        finishing = asyncio.create_task(scene.driver.finish())
        for gate in scene.gates.values():
            gate.set()
        await finishing
        assert sorted(scene.handled) == scene.acked == list(range(SLOTS))


async def test_what_one_record_of_a_tenant_waits_for_the_others_are_not_tried_for() -> None:
    async with keyed_driver() as scene:
        used_up = TransientError("used up", dependency="budget", retry_after=0.3, counts_as_attempt=False)
        scene.tenants = dict.fromkeys(range(30), "spender")
        scene.answers = {offset: failing(used_up) for offset in range(30)}
        await scene.put_all(range(40))
        await until(lambda: set(range(30, 40)) <= set(scene.handled))
        assert len(scene.handled) <= 10 + SLOTS
        await until(lambda: len(scene.handled) > 10 + SLOTS)
        scene.answers.clear()
        await scene.drained()
        assert not reasons(scene.sent)
        assert scene.acked == list(range(40))


async def test_a_partition_of_which_too_much_waits_is_paused_and_the_others_go_on() -> None:
    async with keyed_driver() as scene:
        await scene.assign(0, 1)
        scene.gates = {offset: asyncio.Event() for offset in range(SPAN)}
        for offset in range(SPAN):
            assert not scene.paused
            await scene.put(offset)
        assert scene.paused == {0}
        await scene.put(SPAN, key=b"another", partition=1)
        await until(lambda: scene.acked == [SPAN])
        for offset in range(SPAN):
            assert scene.paused == ({0} if offset < SPAN // 4 else set()), offset
            scene.gates[offset].set()
            await until(functools.partial(scene.acked.__contains__, offset))


async def test_a_partition_that_comes_again_is_taken_in_from_again() -> None:
    async with keyed_driver() as scene:
        scene.gates = {0: asyncio.Event()}
        for offset in range(SPAN):
            await scene.put(offset)
        assert scene.paused == {0}
        await scene.assign(0)
        assert scene.paused == set()


async def test_who_has_to_wait_uses_up_no_trial_of_what_was_away() -> None:
    async with keyed_driver(reset_s=0.2) as scene:
        scene.answers = {offset: failing(TransientError("away", dependency="llm")) for offset in range(12)}
        await scene.put_all(range(12))
        await until(lambda: len(scene.handled) >= 2 * SLOTS)
        used_up = TransientError("used up", dependency="budget", retry_after=3600.0, counts_as_attempt=False)
        scene.tenants = {offset: f"poor {offset}" for offset in range(12, 62)}
        scene.answers |= {offset: failing(used_up) for offset in range(12, 62)}
        await scene.put_all(range(12, 62))
        for offset in range(12):
            del scene.answers[offset]
        # Fifty tenants out of budget, one trial each reset: without their giving it back the rich one would wait for 10 s.
        await until(lambda: set(range(12)) <= set(scene.acked), deadline_s=5)


async def test_thousands_of_records_refused_at_once_are_written_a_few_at_a_time() -> None:
    async with keyed_driver() as scene:
        at_once: list[int] = []
        send, writing = scene.send, 0

        async def counted(records: Sequence[OutgoingRecord], *, may_write: Callable[[], bool]) -> list[int]:
            nonlocal writing
            writing += 1
            at_once.append(writing)
            await asyncio.sleep(0)
            writing -= 1
            return await send(records, may_write=may_write)

        scene.send = counted  # type: ignore[method-assign]
        scene.answers = dict.fromkeys(range(2000), failing(PoisonRecordError("unknown_tenant", "nobody")))
        await scene.put_all(range(2000))
        await scene.drained()
        assert max(at_once) <= 16
        assert scene.acked == list(range(2000))
