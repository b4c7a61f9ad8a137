import pytest

from runtime.breaker import CircuitBreaker


def test_it_opens_only_after_failures_in_a_row() -> None:
    breaker = CircuitBreaker(failures=3, reset_s=5)
    for now in (1.0, 2.0):
        breaker.failed(now)
    breaker.succeeded()
    for now in (3.0, 4.0):
        breaker.failed(now)
        assert breaker.permits(now)
    breaker.failed(5.0)
    assert breaker.is_open
    assert not breaker.permits(9.9)
    assert breaker.retry_after(7.0) == 3.0


def test_an_open_one_lets_one_trial_through_per_reset_time_even_if_the_trial_never_reports() -> None:
    breaker = CircuitBreaker(failures=1, reset_s=5)
    breaker.failed(0.0)
    assert breaker.permits(5.0)
    assert not breaker.permits(5.1)
    assert breaker.permits(10.0)
    breaker.succeeded()
    assert breaker.permits(10.1)
    assert not breaker.is_open
    assert breaker.retry_after(10.1) == 0.0


def test_a_failed_trial_keeps_it_open() -> None:
    breaker = CircuitBreaker(failures=2, reset_s=5)
    breaker.failed(0.0)
    breaker.failed(0.0)
    assert breaker.permits(6.0)
    breaker.failed(7.0)
    assert not breaker.permits(11.9)
    assert breaker.permits(12.0)


@pytest.mark.parametrize(("failures", "reset_s"), [(0, 5.0), (1, 0.0)])
def test_senseless_bounds_are_refused(failures: int, reset_s: float) -> None:
    with pytest.raises(ValueError, match="at least 1 failure"):
        CircuitBreaker(failures=failures, reset_s=reset_s)
