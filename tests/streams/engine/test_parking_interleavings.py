"""Random refusals, rebalances, deaths, lost answers and replays: parked records keep the order of their keys, and none is lost."""

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.streams.engine.parking_harness import parking_harness

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("send"), st.integers(1, 9)),
        st.tuples(st.just("send"), st.integers(1, 9)),
        st.tuples(st.sampled_from(["refuse", "grant"]), st.integers(0, 2)),
        st.tuples(st.sampled_from(["wait", "hold", "release", "rebalance", "die", "lose", "abort", "rewind"]), st.integers(1, 6)),
    ),
    max_size=40,
)


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS, max_in_flight=st.sampled_from([1, 5, 1000]), max_span=st.sampled_from([1, 4, 1000]))
def test_whatever_happens_order_in_keys_holds(steps: list[tuple[str, int]], max_in_flight: int, max_span: int) -> None:
    asyncio.run(_order_holds(steps, max_in_flight, max_span))


async def _order_holds(steps: list[tuple[str, int]], max_in_flight: int, max_span: int) -> None:
    repeats = False
    async with parking_harness(max_in_flight=max_in_flight, max_span=max_span) as harness:
        for step, number in steps:
            match step:
                case "send":
                    await harness.send(*(f"{'abc'[each % 3]}/{each * number % 4}" for each in range(number)))
                case "refuse":
                    harness.without_budget.add("abc"[number])
                case "grant":
                    harness.without_budget.discard("abc"[number])
                case "wait":
                    for _ in range(5 * number):
                        await asyncio.sleep(0)
                case "hold":
                    harness.gates[len(harness.records) + number % 3] = asyncio.Event()
                case "release":
                    while harness.gates:
                        harness.gates.popitem()[1].set()
                case "rebalance":
                    repeats = True
                    await harness.assign()
                case "die":
                    repeats = True
                    await harness.restart()
                case "lose":
                    # Only the offset shows what is committed after a slow head, and it has not moved.
                    repeats = True
                    harness.log.lost_answers += 1
                case "abort":
                    harness.log.aborted_commits += 1
                case "rewind":
                    # A replay: what is parked stays so, and comes again.
                    repeats = True
                    await harness.driver.stop()
                    harness.log.next_offset = max(0, (harness.log.next_offset or 0) - number)
                    await harness.restart()
        while harness.gates:
            harness.gates.popitem()[1].set()
        await harness.all_done()
        assert harness.log.changelog == {}
        harness.assert_order_in_keys()
        assert repeats or len(harness.done) == len(harness.records)
