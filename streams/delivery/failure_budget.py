"""How often a record is tried again: only failures that are the record's own count against its attempts."""

from dataclasses import dataclass


@dataclass(slots=True)
class _Failures:
    confirmed: int = 0
    """Followed by a success of another record: the dependency was there."""
    doubtful: int = 0
    """Since the last of those: the record's fault, or the beginning of an outage."""
    last_at: float = 0.0


class FailureBudget:
    """Counts the failures of one record, for each dependency by itself.

    A failure while a dependency is away for everyone says nothing of the record, nor do those that came right before it was known to be.
    Time is a number of seconds on any steady clock, given by the caller.
    """

    __slots__ = ("_failures",)

    def __init__(self) -> None:
        self._failures: dict[str, _Failures] = {}

    def record_failure(self, dependency: str, *, now: float, last_success_at: float, is_away: bool) -> int:
        """Counts a failure.

        Args:
            dependency: What failed the record.
            now: The time of the failure.
            last_success_at: When the newest call that succeeded for any record began.
            is_away: Whether the dependency's circuit breaker is not closed.

        Returns:
            The failures with this dependency that are the record's own.
        """
        failures = self._failures.setdefault(dependency, _Failures())
        if last_success_at > failures.last_at:
            failures.confirmed += failures.doubtful
            failures.doubtful = 0
        failures.doubtful = 0 if is_away else failures.doubtful + 1
        failures.last_at = now
        return failures.confirmed + failures.doubtful
