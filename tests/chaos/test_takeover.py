"""The summary of take-over times in the report of a chaos run."""

from tests.chaos.takeover import summary


def test_nothing_measured_has_no_figures() -> None:
    assert summary([]) == {"count": 0}


def test_p95_of_twenty_times_leaves_one_out() -> None:
    times = [*(float(each) for each in range(1, 20)), 60.0]
    assert summary(times[::-1]) == {"count": 20, "p50_s": 10.0, "p95_s": 19.0, "max_s": 60.0}


def test_one_time_is_every_figure() -> None:
    assert summary([4.25]) == {"count": 1, "p50_s": 4.25, "p95_s": 4.25, "max_s": 4.25}
