"""Fair queueing: shares by weight and cost, order within a flow, no credit for silence, and bounded memory."""

from collections import Counter, deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.fair_queue import FairQueue

Queue = FairQueue[str, int]


def serve(queue: Queue, cost: float = 1.0) -> str:
    """Runs the next item to its end; returns its flow."""
    flow = queue.first()
    assert flow is not None
    queue.start(flow, queue.waiting(flow)[0])
    queue.charge(flow, cost)
    queue.end(flow)
    return flow


@given(st.sampled_from([1.0, 2.0, 5.0]), st.sampled_from([0.5, 1.0, 3.0]))
def test_busy_flows_share_cost_by_weight(weight: float, cost: float) -> None:
    queue: Queue = FairQueue()
    used: Counter[str] = Counter()
    costs = {"heavy": cost, "light": 1.0}
    for number in range(400):
        queue.add("heavy", number, weight=weight)
        queue.add("light", number)
        flow = queue.first() or ""
        used[flow] += costs[serve(queue, costs[flow])]  # type: ignore[assignment]
    assert used["heavy"] / used["light"] == pytest.approx(weight, rel=0.1)


@pytest.mark.parametrize("was_known", [True, False])
def test_silence_earns_a_flow_no_credit(was_known: bool) -> None:
    queue: Queue = FairQueue()
    if was_known:
        queue.add("silent", 0)
        serve(queue)
    for number in range(100):
        queue.add("busy", number)
        serve(queue)
    for number in range(10):
        queue.add("busy", number)
        queue.add("silent", number)
    assert Counter(serve(queue) for _ in range(10)) == {"busy": 5, "silent": 5}


def test_paused_flows_catch_up_without_credit() -> None:
    queue: Queue = FairQueue()
    for number in range(200):
        queue.add("busy", number)
        queue.add("paused", number)
    for number in range(100):
        assert queue.first(lambda flow: flow != "paused") == "busy"
        queue.start("busy", number)
        queue.charge("busy", 1.0)
        queue.end("busy")
    queue.catch_up("paused")
    assert Counter(serve(queue) for _ in range(10)) == {"busy": 5, "paused": 5}


def test_flows_that_may_not_start_are_skipped() -> None:
    queue: Queue = FairQueue()
    queue.add("a", 1)
    queue.add("b", 2)
    queue.start("a", 1)
    queue.add("a", 3)
    assert queue.running("a") == 1
    assert queue.first(lambda flow: not queue.running(flow)) == "b"
    assert queue.first(lambda flow: False) is None


def test_idle_flows_are_forgotten_when_others_catch_up() -> None:
    queue: Queue = FairQueue()
    for number in range(10_000):
        queue.add(f"flow {number}", number)
        serve(queue, cost=0.0)
    assert len(queue) < 200


def test_a_flow_ahead_of_others_is_remembered() -> None:
    queue: Queue = FairQueue()
    queue.add("greedy", 0)
    serve(queue, cost=1_000_000.0)
    for number in range(1000):
        queue.add(f"flow {number}", number)
        serve(queue)
    queue.add("greedy", 1)
    queue.add("new", 2)
    assert serve(queue) == "new"


@given(st.lists(st.tuples(st.sampled_from(["add", "serve", "remove", "clear"]), st.sampled_from("abc"), st.floats(0, 5)), max_size=60))
def test_items_start_once_and_in_order(steps: list[tuple[str, str, float]]) -> None:
    queue: Queue = FairQueue()
    expected: dict[str, deque[int]] = {flow: deque() for flow in "abc"}
    for number, (step, flow, cost) in enumerate(steps):
        match step:
            case "add":
                queue.add(flow, number, weight=1.0 + cost)
                expected[flow].append(number)
            case "serve" if any(expected.values()):
                first = queue.first()
                assert first is not None
                assert queue.waiting(first)[0] == expected[first].popleft()
                serve(queue, cost)
            case "remove" if expected[flow]:
                queue.remove(flow, expected[flow].pop())
            case "clear":
                assert sorted(queue.clear()) == sorted(item for items in expected.values() for item in items)
                expected = {each: deque() for each in "abc"}
            case _:
                pass
        assert {each: list(queue.waiting(each)) for each in "abc"} == {each: list(items) for each, items in expected.items()}
        assert (queue.first() is None) == (not any(expected.values()))
