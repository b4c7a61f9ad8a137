"""When calls to an unavailable dependency stop, and when the next trial is allowed."""

import pytest

from runtime.resilience import BreakerState, CircuitBreaker


def opened(*, reset_s: float = 5) -> CircuitBreaker:
    """A breaker that opened at 0."""
    breaker = CircuitBreaker(failures=1, reset_s=reset_s)
    breaker.record_failure(0.0)
    return breaker


def test_opens_after_failures_in_a_row() -> None:
    breaker = CircuitBreaker(failures=3, reset_s=5)
    for now in (0.0, 1.0):
        breaker.record_failure(now)
    breaker.record_success()
    for now in (3.0, 4.0):
        breaker.record_failure(now)
        assert breaker.state(now) is BreakerState.CLOSED
        assert breaker.permits(now)
    breaker.record_failure(5.0)
    assert breaker.state(9.9) is BreakerState.OPEN
    assert not breaker.permits(9.9)
    assert breaker.retry_after_s(7.0) == 3.0


def test_half_open_permits_one_trial() -> None:
    breaker = opened()
    assert breaker.state(5.0) is BreakerState.HALF_OPEN
    assert breaker.permits(5.0)
    breaker.start_trial(5.0)
    assert not breaker.permits(5.1)
    breaker.record_success()
    assert breaker.state(5.2) is BreakerState.CLOSED
    assert breaker.is_closed
    assert breaker.retry_after_s(5.2) == 0.0


def test_asking_consumes_no_trial() -> None:
    breaker = opened()
    assert breaker.permits(5.0)
    assert breaker.permits(5.0)


def test_failed_trial_opens_again() -> None:
    breaker = opened()
    breaker.start_trial(6.0)
    breaker.record_failure(7.0)
    assert breaker.state(11.9) is BreakerState.OPEN
    assert breaker.state(12.0) is BreakerState.HALF_OPEN
    assert breaker.permits(12.0)


def test_silent_trial_allows_another_after_reset_time() -> None:
    breaker = opened()
    breaker.start_trial(6.0)
    breaker.start_trial(8.0)
    assert not breaker.permits(10.9)
    assert breaker.permits(11.0)


def test_cancelled_trial_allows_another_immediately() -> None:
    breaker = opened()
    breaker.start_trial(6.0)
    breaker.cancel_trial()
    assert breaker.permits(6.1)


def test_call_that_went_ahead_while_open_is_no_trial() -> None:
    breaker = opened()
    breaker.start_trial(1.0)
    assert breaker.permits(5.0)


@pytest.mark.parametrize(("failures", "reset_s"), [(0, 5.0), (1, 0.0)])
def test_bounds_are_checked(failures: int, reset_s: float) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        CircuitBreaker(failures=failures, reset_s=reset_s)
