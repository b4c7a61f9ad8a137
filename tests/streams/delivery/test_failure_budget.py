"""Which failures use up a record's tries."""

from hypothesis import given
from hypothesis import strategies as st

from streams.delivery.failure_budget import FailureBudget


def fail(failure_budget: FailureBudget, dependency: str = "llm", *, now: float, served_at: float = -1.0, is_away: bool = False) -> int:
    return failure_budget.failed(dependency, now=now, served_at=served_at, is_away=is_away)


@given(st.lists(st.sampled_from(["llm", "store", "embedding"])))
def test_each_dependency_is_counted_by_itself(dependencies: list[str]) -> None:
    failure_budget = FailureBudget()
    for number, dependency in enumerate(dependencies):
        assert fail(failure_budget, dependency, now=number) == dependencies[: number + 1].count(dependency)


def test_the_failures_that_began_an_outage_are_forgotten_when_it_is_known() -> None:
    failure_budget = FailureBudget()
    assert [fail(failure_budget, now=now) for now in (1, 2, 3)] == [1, 2, 3]
    assert fail(failure_budget, now=4, is_away=True) == 0
    assert fail(failure_budget, now=5, served_at=4.5) == 1


def test_failures_while_others_were_served_stay_the_records_own_through_an_outage() -> None:
    failure_budget = FailureBudget()
    fail(failure_budget, now=1)
    fail(failure_budget, now=2, served_at=1.5)
    assert fail(failure_budget, now=3, served_at=1.5, is_away=True) == 1
    assert fail(failure_budget, now=4, served_at=3.5) == 2


@given(st.lists(st.booleans(), min_size=1))
def test_any_number_of_outages_is_outlived(outages: list[bool]) -> None:
    failure_budget = FailureBudget()
    counted = [fail(failure_budget, now=number, is_away=is_away) for number, is_away in enumerate(outages)]
    longest = max((len(run) for run in "".join("x" if away else "." for away in outages).split("x")), default=0)
    assert max(counted) <= longest
