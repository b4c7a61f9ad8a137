"""Payloads in memory: at most the budget, plus those of running records."""

from runtime.kafka import TopicPartition
from streams.engine.keyed.payloads import PayloadBudget
from streams.engine.keyed.pending_record import PendingRecord

PARTITION = TopicPartition("t", 0)


def entry(offset: int) -> PendingRecord[str]:
    return PendingRecord(PARTITION, offset, f"k{offset}", "acme", f"r{offset}", 1)


def test_payloads_over_budget_are_evicted_when_they_wait() -> None:
    evicted: list[str] = []
    room = PayloadBudget[str](1, evicted.append)
    first, second = entry(0), entry(1)
    room.admit(first)
    room.admit(second)
    assert (room.loaded, evicted) == (1, ["r1"]), "the budget covers one"
    room.load(second)
    room.load(second)
    assert room.loaded == 2, "what runs has its payload, and counts once"
    room.evict_surplus(second)
    room.evict_surplus(first)
    assert (room.loaded, evicted) == (1, ["r1", "r1"]), "the first one fits"


def test_finished_records_free_the_budget() -> None:
    evicted: list[str] = []
    room = PayloadBudget[str](1, evicted.append)
    first, second, third = entry(0), entry(1), entry(2)
    room.admit(first)
    room.evict(first)
    room.release(first)
    assert (room.loaded, evicted) == (0, ["r0"])
    room.admit(second)
    room.release(second)
    room.admit(third)
    assert (room.loaded, evicted) == (1, ["r0"]), "what is tracked no more has left nothing to evict"
