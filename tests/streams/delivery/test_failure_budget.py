"""Which failures count against a record's attempts."""

from hypothesis import given
from hypothesis import strategies as st

from streams.delivery.failure_budget import FailureBudget


def fail(budget: FailureBudget, dependency: str = "llm", *, now: float, last_success_at: float = -1.0, is_away: bool = False) -> int:
    return budget.record_failure(dependency, now=now, last_success_at=last_success_at, is_away=is_away)


@given(st.lists(st.sampled_from(["llm", "store", "embedding"])))
def test_each_dependency_is_counted_by_itself(dependencies: list[str]) -> None:
    budget = FailureBudget()
    for number, dependency in enumerate(dependencies):
        assert fail(budget, dependency, now=number) == dependencies[: number + 1].count(dependency)


def test_failures_that_began_an_outage_are_forgotten() -> None:
    budget = FailureBudget()
    assert [fail(budget, now=now) for now in (1, 2, 3)] == [1, 2, 3]
    assert fail(budget, now=4, is_away=True) == 0
    assert fail(budget, now=5, last_success_at=4.5) == 1


def test_confirmed_failures_outlive_an_outage() -> None:
    budget = FailureBudget()
    fail(budget, now=1)
    fail(budget, now=2, last_success_at=1.5)
    assert fail(budget, now=3, last_success_at=1.5, is_away=True) == 1
    assert fail(budget, now=4, last_success_at=3.5) == 2


@given(st.lists(st.booleans(), min_size=1))
def test_only_failures_between_outages_add_up(outages: list[bool]) -> None:
    budget = FailureBudget()
    counted = [fail(budget, now=number, is_away=is_away) for number, is_away in enumerate(outages)]
    longest = max((len(run) for run in "".join("x" if away else "." for away in outages).split("x")), default=0)
    assert max(counted) <= longest
