"""Parked records of erased users: removed while their tenant still waits; other users' records stay."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from runtime.kafka.parked_note import ParkedNote
from streams.engine.failures.erased_records import ErasedRecords
from streams.engine.keyed.keyed_driver import KeyedDriver
from streams.engine.keyed.scheduler import Scheduler
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.driver import InFlightRecord
from streams.errors import TransientError
from tests.streams.engine.parking_harness import TOPIC, ParkingHarness
from tests.streams.harness import until

POOR = "poor"
COUNT = 500


class ErasedKeys:
    """The erased users of the harness, by their keys."""

    def __init__(self) -> None:
        self.keys: set[bytes] = set()
        self.writes = 0
        self.is_known = True

    def erase(self, key: str) -> None:
        self.keys.add(key.encode())
        self.writes += 1

    def revision(self, tenant: str) -> int:
        return self.writes if self.is_known else 0

    def covers(self, record: ConsumedRecord) -> bool:
        if not self.is_known:
            raise TransientError("the control log is not read yet", dependency="control")
        return record.key in self.keys


class ErasingHarness(ParkingHarness):
    """A parking harness whose workers know erased users."""

    def __init__(self, *, max_in_flight: int = 1000) -> None:
        self.erased = ErasedKeys()
        super().__init__(max_in_flight=max_in_flight)

    def new_driver(self) -> KeyedDriver:
        scheduler: Scheduler[InFlightRecord] = Scheduler(
            slots=4, tenant_share=0.5, max_in_flight=self.max_in_flight, max_span=100_000, evict=lambda record: record.evict()
        )
        return KeyedDriver(
            context=self.context,
            handler=self,
            topic=TOPIC,
            scheduler=scheduler,
            park_after_s=self.park_after_s,
            load_payload=self.load_payload,
            erased=ErasedRecords(revision=self.erased.revision, covers=self.erased.covers),
        )

    def has_erased(self, count: int) -> bool:
        """Whether so many records are parked, after a search."""
        self.driver.measure()
        return self.parked == ({POOR: count} if count else {})


@asynccontextmanager
async def erasing_harness(*, max_in_flight: int = 1000) -> AsyncIterator[ErasingHarness]:
    harness = ErasingHarness(max_in_flight=max_in_flight)
    await harness.assign()
    try:
        yield harness
    finally:
        await harness.driver.stop()


def users(count: int) -> list[str]:
    """Keys of three users of the tenant, in turn."""
    return [f"{POOR}/{('ada', 'bob', 'eve')[number % 3]}" for number in range(count)]


async def test_parked_records_of_an_erased_user_are_removed() -> None:
    async with erasing_harness() as harness:
        harness.without_budget.add(POOR)
        await harness.send(*users(3 * COUNT))
        await harness.acknowledged()
        await until(lambda: harness.parked == {POOR: 3 * COUNT})
        harness.erased.erase(f"{POOR}/bob")
        await until(lambda: harness.has_erased(2 * COUNT))
        assert harness.note == ParkedNote(2 * COUNT, {POOR: 2 * COUNT})
        assert not any(b"bob" in (each or b"") for row in harness.log.changelog.items() for each in row)
        await harness.all_done()
        assert sorted(set(harness.done)) == [number for number in range(3 * COUNT) if number % 3 != 1]


async def test_records_after_the_erasure_are_not_parked() -> None:
    async with erasing_harness() as harness:
        harness.without_budget.add(POOR)
        await harness.send(*users(3))
        await harness.acknowledged()
        harness.erased.erase(f"{POOR}/bob")
        await until(lambda: harness.has_erased(2))
        await harness.send(*[f"{POOR}/bob"] * 20)
        await harness.acknowledged()
        assert harness.parked == {POOR: 2}


async def test_evicted_records_of_an_erased_user_are_not_parked() -> None:
    async with erasing_harness(max_in_flight=2) as harness:
        harness.erased.erase(f"{POOR}/bob")
        harness.without_budget.add(POOR)
        await harness.send(*users(300))
        await harness.acknowledged()
        await until(lambda: harness.has_erased(200))


async def test_a_successor_removes_records_of_its_predecessor() -> None:
    async with erasing_harness() as harness:
        harness.without_budget.add(POOR)
        await harness.send(*users(30))
        await harness.acknowledged()
        await until(lambda: harness.parked == {POOR: 30})
        harness.erased.erase(f"{POOR}/ada")
        await harness.restart()
        await until(lambda: harness.has_erased(20))
        await harness.all_done()


async def test_removal_waits_while_erasures_are_unknown() -> None:
    async with erasing_harness() as harness:
        harness.without_budget.add(POOR)
        harness.erased.erase(f"{POOR}/bob")
        harness.erased.is_known = False
        await harness.send(*users(30))
        await harness.acknowledged()
        await until(lambda: harness.has_erased(30))
        harness.erased.is_known = True
        await until(lambda: harness.has_erased(20))


async def test_the_last_erased_record_ends_the_parking() -> None:
    async with erasing_harness() as harness:
        harness.without_budget.add(POOR)
        await harness.send(*[f"{POOR}/bob"] * 10)
        await harness.acknowledged()
        await until(lambda: harness.parked == {POOR: 10})
        harness.erased.erase(f"{POOR}/bob")
        await until(lambda: harness.has_erased(0))
        assert harness.note == ParkedNote()
