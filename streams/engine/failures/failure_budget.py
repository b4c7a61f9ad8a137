"""How often a record is tried again: only failures that are the record's own count against its attempts."""

from dataclasses import dataclass


@dataclass(slots=True)
class _Failures:
    confirmed: int = 0
    """Followed by a success of another record: the dependency was there."""
    doubtful: int = 0
    """Since the last of those: the record's fault, or the beginning of an outage."""
    has_opened: bool = False
    """It failed on while the breaker was open, and too few others did for an outage: the next success says whose fault that was."""
    last_at: float = 0.0


class FailureBudget:
    """Counts the failures of one record, for each dependency by itself.

    A failure while a dependency is away for everyone says nothing of the record, nor do those that came right before it was known to be.
    A record that opens the breaker by itself may be what is wrong, or be the only one there is to fail: of its failures with an open
    breaker each counts that was followed by a call that was served; all others are one, once another record has succeeded.
    Time is a number of seconds on any steady clock, given by the caller.
    """

    __slots__ = ("_failures",)

    def __init__(self) -> None:
        self._failures: dict[str, _Failures] = {}

    def record_failure(self, dependency: str, *, now: float, last_success_at: float, is_open: bool, is_away: bool, is_served: bool) -> int:
        """Counts a failure.

        Args:
            dependency: What failed the record.
            now: The time of the failure.
            last_success_at: When the newest call that succeeded for any record began.
            is_open: Whether the dependency's circuit breaker is not closed.
            is_away: Whether that was brought about by many records.
            is_served: Whether the dependency took up another call right behind the failure.

        Returns:
            The failures with this dependency that are the record's own.
        """
        failures = self._failures.setdefault(dependency, _Failures())
        if last_success_at > failures.last_at:
            failures.confirmed += failures.doubtful + failures.has_opened
            failures.doubtful, failures.has_opened = 0, False
        failures.doubtful = 0 if is_open else failures.doubtful + 1
        failures.confirmed += is_open and is_served
        failures.has_opened = is_open and not is_served and not is_away
        failures.last_at = now
        return failures.confirmed + failures.doubtful
