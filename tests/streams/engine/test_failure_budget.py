"""The failures that count against a record's attempts."""

from hypothesis import given
from hypothesis import strategies as st

from streams.engine.keyed.pending_record import FailureBudget


def fail(
    budget: FailureBudget,
    dependency: str = "llm",
    *,
    now: float,
    last_success_at: float = -1.0,
    is_unavailable: bool = False,
    is_open: bool = False,
    is_served: bool = False,
) -> int:
    is_open = is_open or is_unavailable
    return budget.record_failure(
        dependency, now=now, last_success_at=last_success_at, is_open=is_open, is_unavailable=is_unavailable, is_served=is_served
    )


@given(st.lists(st.sampled_from(["llm", "store", "embedding"])))
def test_each_dependency_is_counted_by_itself(dependencies: list[str]) -> None:
    budget = FailureBudget()
    for number, dependency in enumerate(dependencies):
        assert fail(budget, dependency, now=number) == dependencies[: number + 1].count(dependency)


def test_failures_that_began_an_outage_are_forgotten() -> None:
    budget = FailureBudget()
    assert [fail(budget, now=now) for now in (1, 2, 3)] == [1, 2, 3]
    assert fail(budget, now=4, is_unavailable=True) == 0
    assert fail(budget, now=5, last_success_at=4.5) == 1


def test_confirmed_failures_outlive_an_outage() -> None:
    budget = FailureBudget()
    fail(budget, now=1)
    fail(budget, now=2, last_success_at=1.5)
    assert fail(budget, now=3, last_success_at=1.5, is_unavailable=True) == 1
    assert fail(budget, now=4, last_success_at=3.5) == 2


@given(st.lists(st.booleans(), min_size=1))
def test_only_failures_between_outages_add_up(outages: list[bool]) -> None:
    budget = FailureBudget()
    counted = [fail(budget, now=number, is_unavailable=is_unavailable) for number, is_unavailable in enumerate(outages)]
    longest = max((len(run) for run in "".join("x" if away else "." for away in outages).split("x")), default=0)
    assert max(counted) <= longest


def test_failures_before_an_open_breaker_await_a_success() -> None:
    budget = FailureBudget()
    assert [fail(budget, now=now, is_open=now > 4) for now in range(1, 100)][3:] == [4, *[0] * 95]
    assert fail(budget, now=101, last_success_at=100.5) == 2, "all of them were one, and this is another"


def test_an_outage_detected_later_forgives_only_earlier_failures() -> None:
    budget = FailureBudget()
    assert [fail(budget, now=now, is_open=True) for now in (1, 2)] == [0, 0]
    assert fail(budget, now=3, is_unavailable=True) == 0
    assert fail(budget, now=5, last_success_at=4.5) == 1


def test_failures_count_while_another_call_succeeds() -> None:
    budget = FailureBudget()
    served = [fail(budget, now=now, is_open=True, is_served=now % 2 == 0) for now in range(1, 9)]
    assert served == [0, 1, 1, 2, 2, 3, 3, 4]
    assert fail(budget, now=10, last_success_at=9.5) == 5, "success after a failure counts more than a later one"


@given(st.lists(st.sampled_from(["open", "away"])))
def test_no_failure_counts_while_nothing_is_served(states: list[str]) -> None:
    budget = FailureBudget()
    assert all(fail(budget, now=number, is_open=True, is_unavailable=state == "away") == 0 for number, state in enumerate(states))
