"""A circuit breaker: calls to what is away stop, instead of burning retries."""


class CircuitBreaker:
    """Opens after failures in a row, then lets one call at a time try whether the other side is back.

    Time is a number of seconds on any steady clock, given by the caller.
    """

    def __init__(self, *, failures: int, reset_s: float) -> None:
        """A closed breaker.

        Args:
            failures: So many failures in a row open it, at least 1.
            reset_s: So long an open breaker waits before it lets a call try, in seconds.

        Raises:
            ValueError: If either is not positive.
        """
        if failures < 1 or reset_s <= 0:
            raise ValueError(f"a breaker needs at least 1 failure and a positive reset time, got {failures} and {reset_s}")
        self._threshold = failures
        self._reset_s = reset_s
        self._failures = 0
        self._next_trial: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether calls are held back."""
        return self._next_trial is not None

    def permits(self, now: float) -> bool:
        """Whether a call may go out now. An open breaker permits one trial per reset time: a trial that never reports cannot block it."""
        if self._next_trial is None:
            return True
        if now < self._next_trial:
            return False
        self._next_trial = now + self._reset_s
        return True

    def renew_trial(self, now: float) -> None:
        """The trial that was permitted last was not made: another may be, at once."""
        if self._next_trial is not None:
            self._next_trial = now

    def retry_after(self, now: float) -> float:
        """Seconds until the next trial; 0 if a call may go out now."""
        return 0.0 if self._next_trial is None else max(0.0, self._next_trial - now)

    def succeeded(self) -> None:
        """A call came through: closes the breaker."""
        self._failures = 0
        self._next_trial = None

    def failed(self, now: float) -> None:
        """A call failed because the other side is away or overwhelmed."""
        self._failures += 1
        if self._failures >= self._threshold:
            self._next_trial = now + self._reset_s
