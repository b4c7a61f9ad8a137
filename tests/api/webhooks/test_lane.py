"""The order and the bounds of one webhook's deliveries."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.webhooks.lane import BACKLOG, EXPIRY, Failure, Lane, Taken
from memory.records import WebhookDelivery
from runtime.resilience import Backoff

NOW = datetime(2024, 5, 6, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def lane(*, attempts: int = 3, concurrency: int = 2, max_pending: int = 100) -> Lane:
    backoff = Backoff(initial_interval_s=60, maximum_interval_s=240)
    return Lane(backoff=backoff, attempts=attempts, concurrency=concurrency, max_pending=max_pending)


def change(offset: int, memory: str = "m") -> WebhookDelivery:
    return WebhookDelivery(
        id=f"d{offset}",
        tenant="acme",
        webhook="wh_0000",
        event="memory.upserted",
        memory_id=memory,
        partition=0,
        offset=offset,
        changed_at=NOW,
    )


def longest(low: float, high: float) -> float:
    return high


def started(tested: Lane, now: datetime = NOW) -> list[str]:
    found = []
    while (delivery := tested.start_next(now)) is not None:
        found.append(delivery.id)
    return found


def test_deliveries_of_one_memory_keep_their_order() -> None:
    tested = lane()
    tested.take(change(1), now=NOW)
    assert started(tested) == ["d1"]
    tested.take(change(2), now=NOW)
    assert started(tested) == []
    tested.on_delivered("d1")
    assert started(tested) == ["d2"]


def test_a_newer_change_replaces_a_waiting_one() -> None:
    tested = lane(concurrency=1)
    tested.take(change(0, "other"), now=NOW)
    assert started(tested) == ["d0"]
    assert tested.take(change(1), now=NOW) == Taken()
    assert [each.id for each in tested.take(change(2), now=NOW).superseded] == ["d1"]
    assert tested.take(change(1), now=NOW) == Taken(), "an echo of a replaced delivery"
    tested.on_delivered("d0")
    assert started(tested) == ["d2"]


def test_waits_grow_until_the_delivery_is_dead() -> None:
    tested, now = lane(), NOW
    tested.take(change(1), now=now)
    for wait in (1, 2):
        assert started(tested, now) == ["d1"]
        record = tested.on_failed("d1", Failure("status 500"), now=now, uniform=longest)
        assert record is not None
        assert record.due_at == now + wait * MINUTE
        assert started(tested, now) == []
        now = record.due_at
    assert started(tested, now) == ["d1"]
    record = tested.on_failed("d1", Failure("status 500"), now=now, uniform=longest)
    assert record is not None
    assert (record.state, record.attempts, record.dead_at) == ("dead", 3, now)
    assert (tested.pending, tested.dead) == (0, 1)
    assert [each.id for each in tested.end_expired(now + EXPIRY)] == ["d1"]


def test_a_wait_that_the_receiver_asks_for_is_kept() -> None:
    tested = lane()
    tested.take(change(1), now=NOW)
    started(tested)
    record = tested.on_failed("d1", Failure("status 429", retry_after_s=900), now=NOW, uniform=longest)
    assert record is not None
    assert record.due_at == NOW + 15 * MINUTE


def test_failures_without_a_request_never_count() -> None:
    tested, now = lane(attempts=1), NOW
    tested.take(change(1), now=now)
    for _ in range(5):
        assert started(tested, now) == ["d1"]
        record = tested.on_failed("d1", Failure("no broker", counts=False), now=now, uniform=longest)
        assert record is not None
        assert (record.state, record.attempts) == ("pending", 0)
        now += 10 * MINUTE


def test_a_redrive_revives_a_dead_letter() -> None:
    tested = lane(attempts=1)
    tested.take(change(1), now=NOW)
    started(tested)
    dead = tested.on_failed("d1", Failure("status 500"), now=NOW, uniform=longest)
    assert dead is not None
    tested.take(dead, now=NOW)
    assert started(tested) == []
    tested.take(dead.model_copy(update={"state": "pending", "attempts": 0, "redriven": 1}), now=NOW)
    assert started(tested) == ["d1"]


def test_an_echo_after_the_end_revives_nothing() -> None:
    tested = lane()
    tested.take(change(1), now=NOW)
    started(tested)
    failed = tested.on_failed("d1", Failure("status 500"), now=NOW, uniform=longest)
    assert failed is not None
    assert failed.due_at is not None
    assert started(tested, failed.due_at) == ["d1"]
    tested.on_delivered("d1")
    tested.take(failed, now=failed.due_at)
    assert started(tested, failed.due_at + 60 * MINUTE) == []
    tested.forget("d1")
    assert not tested


def test_a_delivery_made_again_keeps_its_state() -> None:
    tested = lane(attempts=2)
    tested.take(change(1), now=NOW)
    started(tested)
    waiting = tested.on_failed("d1", Failure("status 500"), now=NOW, uniform=longest)
    assert waiting is not None
    assert tested.take(change(1), now=NOW) == Taken(overwritten=(waiting,))
    assert tested.take(waiting, now=NOW) == Taken(), "an echo"
    later = NOW + 10 * MINUTE
    assert started(tested, later) == ["d1"]
    assert tested.take(change(1), now=later) == Taken(), "the outcome of the running attempt will be newer"
    dead = tested.on_failed("d1", Failure("status 500"), now=later, uniform=longest)
    assert dead is not None
    assert tested.take(waiting, now=later) == Taken(), "an echo"
    assert tested.take(change(1), now=later) == Taken(overwritten=(dead,))
    assert (tested.pending, tested.dead) == (0, 1)


def test_deliveries_over_the_limit_are_dead() -> None:
    tested = lane(max_pending=1)
    assert tested.take(change(1, "a"), now=NOW) == Taken()
    [dead] = tested.take(change(2, "b"), now=NOW).backlog
    assert (dead.id, dead.state, dead.problem) == ("d2", "dead", BACKLOG)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("take"), st.integers(0, 3)),
        st.tuples(st.just("start"), st.just(0)),
        st.tuples(st.sampled_from(["deliver", "fail"]), st.integers(0, 5)),
    ),
    max_size=60,
)


@given(STEPS)
def test_any_history_keeps_order_and_bounds(steps: list[tuple[str, int]]) -> None:
    tested, now, offset = lane(max_pending=4), NOW, 0
    running: dict[str, WebhookDelivery] = {}
    sent: dict[str, int] = {}
    open_ids: set[str] = set()
    for step, number in steps:
        now += 10 * MINUTE
        if step == "take":
            offset += 1
            record = change(offset, f"m{number}")
            open_ids.add(record.id)
            open_ids -= {each.id for each in tested.take(record, now=now).superseded}
        elif step == "start":
            if (delivery := tested.start_next(now)) is not None:
                assert delivery.memory_id not in {each.memory_id for each in running.values()}
                assert delivery.offset >= sent.get(delivery.memory_id, 0)
                sent[delivery.memory_id] = delivery.offset
                running[delivery.id] = delivery
        elif running:
            delivery = running.pop(sorted(running)[number % len(running)])
            if step == "deliver":
                tested.on_delivered(delivery.id)
                open_ids.discard(delivery.id)
            elif tested.on_failed(delivery.id, Failure("status 500"), now=now, uniform=longest) is None:
                open_ids.discard(delivery.id)
        assert len(running) <= 2
        assert tested.pending <= 4
        assert tested.pending + tested.dead == len(open_ids)


def test_a_backlog_waits_again_once_there_is_room() -> None:
    tested = lane(concurrency=4, max_pending=4)
    taken = [each for offset in range(10) for each in tested.take(change(offset, f"m{offset}"), now=NOW).backlog]
    assert [(each.id, each.problem) for each in taken] == [(f"d{offset}", BACKLOG) for offset in range(4, 10)]
    assert started(tested) == ["d0", "d1", "d2", "d3"]
    tested.on_delivered("d0")
    assert tested.revive() == [], "more than half wait"
    tested.on_delivered("d1")
    revived = tested.revive()
    assert [(each.id, each.state, each.redriven, each.problem) for each in revived] == [("d4", "pending", 1, ""), ("d5", "pending", 1, "")]
    assert (tested.pending, tested.dead) == (4, 4)
    assert started(tested) == ["d4", "d5"]


def test_a_replaced_or_redriven_backlog_is_not_revived() -> None:
    tested = lane(concurrency=4, max_pending=1)
    dead = [each for offset in range(4) for each in tested.take(change(offset, f"m{offset}"), now=NOW).backlog]
    tested.take(change(9, "m1"), now=NOW)
    redriven = dead[1].model_copy(update={"state": "pending", "redriven": 1, "dead_at": None})
    tested.take(redriven, now=NOW)
    assert started(tested) == ["d0", "d2"]
    tested.on_delivered("d0")
    tested.on_delivered("d2")
    assert [each.id for each in tested.revive()] == ["d3"]
    assert started(tested) == ["d3"]
    tested.on_delivered("d3")
    assert [each.id for each in tested.revive()] == ["d9"]


def test_many_dead_letters_end_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.webhooks.lane.MOST_ENDED", 2)
    tested, later = lane(), NOW + MINUTE
    for offset, died in enumerate((later, NOW, NOW, NOW, NOW)):
        tested.take(change(offset, f"m{offset}").model_copy(update={"state": "dead", "dead_at": died}), now=NOW)
    tested.take(change(3, "m3").model_copy(update={"redriven": 1}), now=NOW)
    assert [[each.id for each in tested.end_expired(NOW + EXPIRY)] for _ in range(2)] == [["d1", "d2"], ["d4"]]
    assert tested.end_expired(NOW + EXPIRY) == [], "one was redriven, one is younger"
    assert [each.id for each in tested.end_expired(later + EXPIRY)] == ["d0"]
    tested.take(change(5, "m5"), now=NOW)
    tested.take(change(6, "m6"), now=NOW)
    assert [len(tested.end_all()) for _ in range(3)] == [2, 1, 0]


def test_an_ended_dead_letter_ends_once() -> None:
    tested = lane()
    tested.take(change(0).model_copy(update={"state": "dead", "dead_at": NOW}), now=NOW)
    assert [each.id for each in tested.end_all()] == ["d0"]
    assert tested.end_expired(NOW + EXPIRY) == []


def test_the_end_of_all_spares_running_deliveries() -> None:
    tested = lane(concurrency=1)
    tested.take(change(0, "m0"), now=NOW)
    tested.take(change(1, "m1"), now=NOW)
    assert started(tested) == ["d0"]
    assert [each.id for each in tested.end_all()] == ["d1"]
    tested.on_delivered("d0")
    assert tested.end_all() == []
