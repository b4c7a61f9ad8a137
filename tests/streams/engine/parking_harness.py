"""Workers of one partition whose handler refuses tenants without a budget, on a log that fails when a test says so."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from runtime.kafka import OutgoingRecord
from runtime.kafka.parked_note import ParkedNote
from streams.engine.failures.deferred_rows import counts
from streams.engine.failures.suspects import JournalEntry
from streams.engine.keyed.keyed_driver import KeyedDriver
from streams.engine.keyed.scheduler import Scheduler
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.driver import InFlightRecord
from streams.errors import PoisonRecordError, TransientError
from tests.streams.engine.doubles import LETTERS, ScriptedLog, faust_record
from tests.streams.harness import InMemoryRows, PausedPartitions, journal_after, stage_context, until

TOPIC = "windows"


class ParkingHarness:
    """Workers of one partition, one after the other, whose handler refuses the tenants that have no budget.

    Args:
        park_after_s: As the setting.
        max_in_flight: As the setting.
        max_span: As the setting ``max_unacked_span``.
    """

    def __init__(self, *, park_after_s: float = 0.0, max_in_flight: int = 1000, max_span: int = 100_000) -> None:
        self.log = ScriptedLog()
        self.records: list[ConsumedRecord] = []
        self.without_budget: set[str] = set()
        self.gates: dict[int, asyncio.Event] = {}
        self.poison: set[int] = set()
        self.failing: set[int] = set()
        self.turns: defaultdict[str, int] = defaultdict(lambda: 1)
        """Turns of the event loop that a tenant's record takes."""
        self.tries: list[int] = []
        self.loads: list[int] = []
        self.unreadable = 0
        self.loading = asyncio.Event()
        self.loading.set()
        self.generation = 0
        self.paused = PausedPartitions()
        self.context = stage_context(
            lambda partition: self.log.writer(),
            dead_letters_topic=LETTERS,
            max_records=20,
            max_bytes=100_000,
            flow_control=self.paused,
        )
        self.park_after_s = park_after_s
        self.max_in_flight = max_in_flight
        self.max_span = max_span
        self.driver = self.new_driver()

    def new_driver(self) -> KeyedDriver:
        scheduler: Scheduler[InFlightRecord] = Scheduler(
            slots=4, tenant_share=0.5, max_in_flight=self.max_in_flight, max_span=self.max_span, evict=lambda record: record.evict()
        )
        return KeyedDriver(
            context=self.context,
            handler=self,
            topic=TOPIC,
            scheduler=scheduler,
            park_after_s=self.park_after_s,
            load_payload=self.load_payload,
        )

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        self.tries.append(record.offset)
        assert record == self.records[record.offset]
        if record.offset in self.gates:
            await self.gates[record.offset].wait()
        for _ in range(self.turns[record.tenant]):
            await asyncio.sleep(0)
        if record.tenant in self.without_budget:
            raise TransientError("used up", dependency="budget", retry_after_s=0.002, counts_as_attempt=False)
        if record.offset in self.failing:
            raise TransientError("failed", dependency="llm", retry_after_s=3600.0)
        if record.offset in self.poison:
            raise PoisonRecordError("bad", "always")
        return [OutgoingRecord("out", record.key, b"%d" % record.offset)]

    async def load_payload(self, record: ConsumedRecord) -> ConsumedRecord:
        await self.loading.wait()
        if self.unreadable:
            self.unreadable -= 1
            raise TransientError("no broker", dependency="kafka")
        self.loads.append(record.offset)
        return self.records[record.offset]

    @property
    def done(self) -> list[int]:
        """The records whose outputs are committed, in the order of the commits."""
        return [int(output.value or b"") for output in self.log.outputs if output.topic == "out"]

    @property
    def parked(self) -> dict[str, int]:
        return counts(InMemoryRows(self.log.changelog))

    @property
    def note(self) -> ParkedNote:
        return ParkedNote.read(self.log.commits[-1].stage_metadata)

    def append(self, *keys: str) -> range:
        """Appends a record under each key to the log; gives their offsets."""
        first = len(self.records)
        for offset, key in enumerate(keys, start=first):
            self.records.append(ConsumedRecord(TOPIC, 0, offset, key.encode(), b"value %d" % offset, (("h", b"1"),), float(offset)))
        return range(first, len(self.records))

    async def send(self, *keys: str) -> range:
        """Appends records, and delivers them."""
        offsets = self.append(*keys)
        await self.deliver(offsets)
        return offsets

    async def deliver(self, offsets: Iterable[int]) -> None:
        for offset in offsets:
            await self.driver.put(faust_record(self.records[offset]))

    async def fetch(self, offsets: Iterable[int]) -> None:
        """Delivers records as Kafka does: none while the partition is paused."""
        for offset in offsets:
            await until(lambda: not self.paused)
            await self.deliver([offset])

    async def assign(self) -> None:
        """A rebalance after which the partition is ours, and delivered from the group's offset on."""
        await self.driver.revoke()
        self.generation += 1
        await self.driver.assign({0}, self.generation)
        await self.deliver(range(self.log.next_offset or 0, len(self.records)))

    async def restart(self, left: Iterable[JournalEntry] = ()) -> None:
        """The worker dies, and leaves these entries; another one starts."""
        await self.driver.stop()
        self.context.task.journal, self.entries = journal_after(left)
        self.driver = self.new_driver()
        await self.assign()

    async def loaded(self) -> None:
        """Lets the log give the payloads that it was asked for."""
        self.loading.set()
        for _ in range(100):
            await asyncio.sleep(0)

    async def acknowledged(self) -> None:
        """Returns when the group's offset has reached the log's end."""
        await until(lambda: self.log.next_offset == len(self.records))
        assert self.driver.failure is None

    async def all_done(self) -> None:
        """Opens all budgets, and returns when nothing is left to do."""
        self.without_budget.clear()
        await until(lambda: (self.log.next_offset or 0) == len(self.records) and not self.driver.backlog and not self.parked, deadline_s=10)
        assert self.driver.failure is None

    def assert_order_in_keys(self) -> None:
        """Every record was handled, each one after the earlier records of its key."""
        by_key: defaultdict[bytes | None, list[int]] = defaultdict(list)
        for offset in dict.fromkeys(self.done):
            by_key[self.records[offset].key].append(offset)
        assert sorted(offset for offsets in by_key.values() for offset in offsets) == list(range(len(self.records)))
        assert all(offsets == sorted(offsets) for offsets in by_key.values())


@asynccontextmanager
async def parking_harness(
    *, park_after_s: float = 0.0, max_in_flight: int = 1000, max_span: int = 100_000
) -> AsyncIterator[ParkingHarness]:
    harness = ParkingHarness(park_after_s=park_after_s, max_in_flight=max_in_flight, max_span=max_span)
    await harness.assign()
    try:
        yield harness
    finally:
        await harness.driver.stop()
