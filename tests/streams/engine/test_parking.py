"""Records of a tenant that has to wait for long: parked, and back in order."""

import asyncio

import pytest

from runtime.kafka.parked_note import ParkedNote
from streams.engine.failures.deferred_records import DeferredRecords
from streams.engine.failures.suspects import JournalEntry
from streams.engine.records import ConsumedRecord
from tests.streams.engine.parking_harness import TOPIC, ParkingHarness, parking_harness
from tests.streams.harness import until

POOR, RICH = "poor", "rich"
TENANTS = [f"poor{number}" for number in range(200)]


def interleaved(count: int, *, sessions: int = 7) -> list[str]:
    """The keys of two tenants' windows, in turn."""
    return [f"{tenant}/{number % sessions}" for number in range(count) for tenant in (POOR, RICH)]


async def _restarted_with_many(harness: ParkingHarness, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """A worker that takes the parked records of many tenants over; gives at which turn of the event loop each tenant's first came back."""
    harness.without_budget.update(TENANTS)
    await harness.send(*(f"{tenant}/0" for _ in range(2) for tenant in TENANTS))
    await harness.acknowledged()
    monkeypatch.setattr("runtime.pieces.LONG_PIECE_S", -1.0)
    turn, came_back_at, coming_back = [0], dict[str, int](), DeferredRecords.coming_back

    def count_turn() -> None:
        turn[0] += 1
        asyncio.get_running_loop().call_soon(count_turn)

    def noted(deferred: DeferredRecords, tenant: str) -> list[ConsumedRecord]:
        came_back_at.setdefault(tenant, turn[0])
        return coming_back(deferred, tenant)

    await harness.driver.stop()
    monkeypatch.setattr(DeferredRecords, "coming_back", noted)
    count_turn()
    await harness.restart()
    return came_back_at


async def test_parked_records_do_not_hold_their_partition() -> None:
    async with parking_harness() as harness:
        harness.without_budget.add(POOR)
        await harness.send(*interleaved(1000))
        await harness.acknowledged()
        await until(lambda: len(harness.done) == 1000)
        assert set(harness.done) == set(range(1, 2000, 2))
        assert harness.parked == {POOR: 1000}
        assert harness.note == ParkedNote(1000, {POOR: 1000})
        await harness.all_done()
        assert len(harness.done) == 2000
        harness.assert_order_in_keys()
        assert harness.note == ParkedNote()


async def test_parked_records_are_tried_a_few_at_a_time() -> None:
    async with parking_harness() as harness:
        harness.without_budget.add(POOR)
        offsets = await harness.send(*(f"{POOR}/{number}" for number in range(500)))
        await harness.acknowledged()
        await until(lambda: len(harness.tries) > 50)
        assert len(set(harness.tries)) <= 10, "each try costs a model call's preparation"
        assert harness.driver.backlog <= 2, "of what is parked, only those that are tried are in memory"
        await harness.all_done()
        assert sorted(harness.done) == list(offsets)


async def test_successor_repeats_nothing_that_was_acknowledged() -> None:
    async with parking_harness() as harness:
        harness.without_budget.add(POOR)
        await harness.send(*interleaved(300))
        await harness.acknowledged()
        await until(lambda: len(harness.done) == 300)
        await harness.restart()
        later = await harness.send(f"{POOR}/0", f"{RICH}/0", f"{POOR}/new")
        await harness.acknowledged()
        assert harness.parked == {POOR: 302}
        assert later[1] in harness.done
        await harness.all_done()
        assert sorted(harness.done) == list(range(603))
        harness.assert_order_in_keys()


async def test_parked_tenants_return_during_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    async with parking_harness() as harness:
        came_back_at = await _restarted_with_many(harness, monkeypatch)
        await until(lambda: len(came_back_at) == len(TENANTS))
        assert len(set(came_back_at.values())) == len(TENANTS), "the event loop got its turn between any two"
        await harness.all_done()
        assert len(harness.done) == 2 * len(TENANTS)
        harness.assert_order_in_keys()


@pytest.mark.parametrize("end", ["assignment", "worker"])
async def test_coming_back_ends_with_the(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with parking_harness() as harness:
        came_back_at = await _restarted_with_many(harness, monkeypatch)
        await until(lambda: bool(came_back_at))
        await (harness.driver.revoke() if end == "assignment" else harness.driver.finish())
        assert len(came_back_at) < len(TENANTS)
        assert harness.driver.failure is None
        harness.without_budget.clear()
        await harness.restart()
        await harness.all_done()
        assert len(set(harness.done)) == 2 * len(TENANTS)


async def test_later_records_follow_parked_ones() -> None:
    async with parking_harness() as harness:
        harness.without_budget.add(POOR)
        await harness.send(*(f"{POOR}/0" for _ in range(10)))
        await harness.acknowledged()
        harness.without_budget.clear()
        harness.gates = {0: asyncio.Event()}
        await harness.restart()
        await harness.send(f"{POOR}/0")
        harness.gates.pop(0).set()
        await harness.all_done()
        assert harness.done == list(range(11))


async def test_lost_answer_repeats_no_parked_record() -> None:
    async with parking_harness() as harness:
        harness.without_budget.add(POOR)
        await harness.send(*(f"{POOR}/{number}" for number in range(5)))
        await harness.acknowledged()
        harness.log.lost_answers = 3
        await harness.all_done()
        assert sorted(harness.done) == list(range(5))


@pytest.mark.parametrize("is_revoked", [True, False])
async def test_rebalance_interrupts_the_parking(is_revoked: bool) -> None:
    async with parking_harness(max_in_flight=2) as harness:
        harness.without_budget.add(POOR)
        harness.loading.clear()
        harness.log.gate = asyncio.Event()
        await harness.send(*(f"{POOR}/{number}" for number in range(10)))
        await until(lambda: harness.log.waiting == 1)
        if is_revoked:
            await harness.driver.revoke()
            await harness.loaded()
        harness.generation += 1
        await harness.driver.assign({0}, harness.generation)
        harness.log.gate.set()
        await harness.loaded()
        await harness.deliver(range(10))
        await harness.acknowledged()
        assert harness.parked == {POOR: 10}
        await harness.all_done()
        assert sorted(harness.done) == list(range(10))


async def test_short_wait_is_waited_for_in_the_log() -> None:
    async with parking_harness(park_after_s=3600.0) as harness:
        harness.without_budget.add(POOR)
        await harness.send(*interleaved(20))
        await until(lambda: len(harness.done) == 20)
        assert harness.parked == {}
        assert (harness.log.next_offset or 0) < 2
        await harness.all_done()
        harness.assert_order_in_keys()


async def test_long_wait_is_parked_at_its_first_word() -> None:
    async with parking_harness(park_after_s=0.002) as harness:
        harness.without_budget.add(POOR)
        await harness.send(f"{POOR}/0")
        await harness.acknowledged()
        assert harness.tries[0] == 0
        assert harness.parked == {POOR: 1}


async def test_evicted_payloads_are_parked_completely() -> None:
    async with parking_harness(max_in_flight=2) as harness:
        harness.without_budget.add(POOR)
        harness.gates = {0: asyncio.Event()}
        harness.unreadable = 2
        await harness.send(*(f"{POOR}/0" for _ in range(40)))
        await until(lambda: harness.tries == [0])
        harness.gates.pop(0).set()
        await harness.acknowledged()
        assert harness.loads == list(range(2, 40))
        assert harness.parked == {POOR: 40}
        await harness.all_done()
        assert harness.done == list(range(40))


async def test_slow_head_is_parked_before_its_followers() -> None:
    async with parking_harness() as harness:
        harness.without_budget.add(POOR)
        harness.gates = {0: asyncio.Event()}
        await harness.send(f"{POOR}/slow", f"{POOR}/other", f"{POOR}/slow")
        await until(lambda: harness.parked == {POOR: 2})
        assert harness.log.next_offset is None
        await until(lambda: len(harness.tries) > 6)
        assert 2 not in harness.tries, "its key's first record still runs"
        harness.gates.pop(0).set()
        await harness.acknowledged()
        assert harness.parked == {POOR: 3}
        await harness.all_done()
        harness.assert_order_in_keys()


async def test_a_dead_letter_after_parking_names_the_first_position() -> None:
    async with parking_harness() as harness:
        harness.without_budget.add(POOR)
        harness.poison = {3}
        await harness.send(*(f"{POOR}/0" for _ in range(5)))
        await harness.acknowledged()
        await harness.restart()
        await harness.all_done()
        (letter,) = harness.log.letters
        headers = dict(letter.headers)
        place = [headers[f"varve-dlq-{name}"] for name in ("topic", "partition", "offset", "reason")]
        assert place == [b"windows", b"0", b"3", b"bad"]
        assert (letter.key, letter.value, headers["h"]) == (b"poor/0", b"value 3", b"1")
        assert harness.done == [0, 1, 2, 4]


async def test_parked_record_stays_suspected() -> None:
    """It precedes the group's offset, and is handled again nevertheless."""
    async with parking_harness() as harness:
        harness.without_budget.add(POOR)
        await harness.send(f"{POOR}/0", f"{POOR}/1")
        await harness.acknowledged()
        died_twice, died_alone = JournalEntry(0, 1, 1, 2), JournalEntry(0, 1, 1)
        await harness.restart(left=[died_twice, died_alone])
        await harness.all_done()
        assert harness.done == [0]
        assert [dict(letter.headers)["varve-dlq-reason"] for letter in harness.log.letters] == [b"crashed_worker"]
        assert harness.entries.slots == {}


async def test_a_finished_record_is_not_suspected() -> None:
    async with parking_harness() as harness:
        await harness.send(f"{RICH}/0", f"{RICH}/1")
        await harness.acknowledged()
        await harness.restart(left=[JournalEntry(0, 0, 1)])
        await until(lambda: harness.entries.slots == {})


async def test_only_a_record_too_large_to_park_is_refused() -> None:
    async with parking_harness() as harness:
        harness.without_budget.add(POOR)
        harness.log.largest_row = 200
        harness.append(*(f"{POOR}/{number}" for number in range(3)))
        giant = harness.records[1]
        harness.records[1] = ConsumedRecord(TOPIC, 0, 1, giant.key, bytes(1000), (), 0.0)
        await harness.deliver(range(3))
        await harness.acknowledged()
        assert harness.parked == {POOR: 2}
        assert [dict(letter.headers)["varve-dlq-reason"] for letter in harness.log.letters] == [b"too_large"]


async def test_parked_records_are_counted_after_an_offset_reset() -> None:
    async with parking_harness() as harness:
        harness.without_budget.add(POOR)
        await harness.send(*(f"{POOR}/0" for _ in range(5)))
        await harness.acknowledged()
        commits = len(harness.log.commits)
        await harness.restart()
        await until(lambda: len(harness.log.commits) > commits)
        assert harness.note.count == 5


async def test_gauges_show_parked_records() -> None:
    async with parking_harness() as harness:
        harness.append(*(f"{RICH}/0" for _ in range(50)))
        harness.without_budget.add(POOR)
        await harness.deliver(range(50))
        await harness.send(*(f"{POOR}/0" for _ in range(5)))
        await harness.acknowledged()

        def gauge(name: str) -> float | None:
            harness.driver.measure()
            return harness.context.task.metrics.metrics.registry.get_sample_value(name, {"stage": "test"})

        await until(lambda: gauge("varve_parked_oldest_timestamp_seconds") == 50.0)
        assert gauge("varve_parked_records") == 5
        await harness.all_done()
        await until(lambda: gauge("varve_parked_records") == 0)
        assert gauge("varve_parked_oldest_timestamp_seconds") == 0


async def test_a_flood_beyond_the_span_hides_no_tenant() -> None:
    async with parking_harness(park_after_s=3600.0, max_span=50) as harness:
        harness.turns[POOR] = 20
        offsets = harness.append(*(f"{POOR}/{number % 7}" for number in range(1000)), *(f"{RICH}/{number}" for number in range(10)))
        await harness.fetch(offsets)
        await harness.acknowledged()
        await until(lambda: set(offsets[1000:]) <= set(harness.done))
        assert len(harness.done) < 500, "they were done during the flood, not after it"
        assert harness.parked[POOR] > 500
        await harness.all_done()
        assert len(harness.done) == 1010, "each once"
        harness.assert_order_in_keys()


@pytest.mark.parametrize("before", [True, False])
async def test_a_failing_record_does_not_hold_a_full_partition(before: bool) -> None:
    """It waits for its next try when the partition becomes full, or fails first afterwards."""
    async with parking_harness(park_after_s=3600.0, max_span=50) as harness:
        harness.failing = {0}
        offsets = harness.append(f"{POOR}/0", *(f"{RICH}/{number}" for number in range(200)))
        if before:
            await harness.fetch([0])
            await until(lambda: harness.tries == [0])
            await until(lambda: harness.driver.backlog == 1)
            await harness.fetch(offsets[1:])
        else:
            harness.gates[0] = asyncio.Event()
            await harness.fetch(offsets[:50])
            await until(lambda: len(harness.done) == 49)
            assert harness.paused
            harness.gates.pop(0).set()
            await harness.fetch(offsets[50:])
        await harness.acknowledged()
        await until(lambda: len(harness.done) == 200)
        assert harness.parked == {POOR: 1}


async def test_an_outage_parks_nothing() -> None:
    async with parking_harness(park_after_s=3600.0, max_span=50) as harness:
        harness.failing = set(range(60))
        await harness.send(*(f"{RICH}/{number}" for number in range(20)))
        await until(lambda: len(harness.tries) >= 4)
        await harness.send(*(f"{RICH}/{number}" for number in range(20, 60)))
        for _ in range(100):
            await asyncio.sleep(0)
        assert harness.paused
        assert harness.parked == {}
        assert harness.log.next_offset is None
