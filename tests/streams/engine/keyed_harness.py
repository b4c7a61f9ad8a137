"""A keyed driver, its handler and its logs; the broker's part is scripted, to fail when a test says so."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from runtime.kafka import OutgoingRecord
from runtime.resilience import CircuitBreaker
from streams.engine.failures.suspects import JournalEntry
from streams.engine.keyed.attempts import HealthCheck
from streams.engine.keyed.keyed_driver import KeyedDriver
from streams.engine.keyed.scheduler import Scheduler
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.driver import InFlightRecord, OrderingKey, key_of
from tests.streams.engine.doubles import LETTERS, ScriptedLog, faust_record
from tests.streams.harness import PausedPartitions, journal_after, stage_context, until

TOPIC = "windows"
SLOTS = 4
SPAN = 40


class DriverHarness:
    """A keyed driver with a handler that does what the test says."""

    def __init__(
        self,
        *,
        reset_s: float = 0.002,
        left: Iterable[JournalEntry] = (),
        ordering_key: OrderingKey = key_of,
        serves: HealthCheck | None = None,
    ) -> None:
        journal, self.entries = journal_after(left)
        self.logs: defaultdict[int, ScriptedLog] = defaultdict(ScriptedLog)
        self.handled: list[int] = []
        self.answers: dict[int, Callable[[], list[OutgoingRecord]]] = {}
        self.gates: dict[int, asyncio.Event] = {}
        self.generation = 1
        self.tenants: dict[int, str] = {}
        self.paused = PausedPartitions()
        self.context = context = stage_context(
            lambda partition: self.logs[partition].writer(),
            dead_letters_topic=LETTERS,
            journal=journal,
            max_records=100,
            max_bytes=100_000,
            new_breaker=lambda: CircuitBreaker(failures=4, reset_s=reset_s),
            may_write=lambda generation: generation == self.generation,
            flow_control=self.paused,
        )
        scheduler: Scheduler[InFlightRecord] = Scheduler(slots=SLOTS, tenant_share=1.0, max_in_flight=50, max_span=SPAN)
        self.driver = KeyedDriver(context=context, handler=self, topic=TOPIC, scheduler=scheduler, ordering_key=ordering_key, serves=serves)

    @property
    def log(self) -> ScriptedLog:
        return self.logs[0]

    @property
    def sent(self) -> list[OutgoingRecord]:
        return [output for log in self.logs.values() for output in log.outputs]

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        self.handled.append(record.offset)
        if record.offset in self.gates:
            await self.gates[record.offset].wait()
        answer = self.answers.get(record.offset)
        return answer() if answer else [OutgoingRecord("out", record.key, b"%d" % record.offset)]

    async def put(self, offset: int, key: bytes = b"k", *, partition: int = 0, value: bytes = b"value") -> None:
        tenants_key = self.tenants.get(offset, "acme").encode() + b"/" + key
        await self.driver.put(faust_record(ConsumedRecord(TOPIC, partition, offset, tenants_key, value, (), 0.0)))

    async def put_all(self, offsets: Iterable[int]) -> None:
        """Each under its own key."""
        for offset in offsets:
            await self.put(offset, key=b"%d" % offset)

    async def assign(self, *partitions: int) -> None:
        await self.driver.revoke()
        self.generation += 1
        await self.driver.assign(set(partitions), self.generation)
        await until(lambda: self.driver.is_recovered)

    async def handled_more(self, times: int) -> None:
        before = len(self.handled)
        await until(lambda: len(self.handled) > before + times)

    async def committed(self, next_offset: int, *, partition: int = 0) -> None:
        await until(lambda: (self.logs[partition].next_offset or 0) >= next_offset, deadline_s=20)

    async def drained(self) -> None:
        await until(lambda: self.driver.backlog == 0, deadline_s=20)
        assert self.driver.failure is None


@asynccontextmanager
async def driver_harness(
    *, reset_s: float = 0.002, left: Iterable[JournalEntry] = (), ordering_key: OrderingKey = key_of
) -> AsyncIterator[DriverHarness]:
    harness = DriverHarness(reset_s=reset_s, left=left, ordering_key=ordering_key)
    await harness.assign(0)
    try:
        yield harness
    finally:
        await harness.driver.stop()


def failing(error: Exception) -> Callable[[], list[OutgoingRecord]]:
    def answer() -> list[OutgoingRecord]:
        raise error

    return answer


def reasons(outputs: list[OutgoingRecord]) -> list[bytes]:
    return [dict(output.headers)["varve-dlq-reason"] for output in outputs if output.topic == LETTERS]
