"""How long a record is tried again: only failures that are the record's own use up its tries."""

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
        """No failure yet."""
        self._failures: dict[str, _Failures] = {}

    def failed(self, dependency: str, *, now: float, served_at: float, is_away: bool) -> int:
        """Notes a failure.

        Args:
            dependency: What failed the record.
            now: The time of the failure.
            served_at: When the newest call that got through for any record began.
            is_away: Whether the dependency's circuit breaker is open.

        Returns:
            The failures with this dependency that are the record's own.
        """
        seen = self._failures.setdefault(dependency, _Failures())
        if served_at > seen.last_at:
            seen.confirmed += seen.doubtful
            seen.doubtful = 0
        seen.doubtful = 0 if is_away else seen.doubtful + 1
        seen.last_at = now
        return seen.confirmed + seen.doubtful
