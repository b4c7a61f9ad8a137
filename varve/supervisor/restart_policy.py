"""How long to wait before a crashed process is started again."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartPolicy:
    """An exponential backoff in the words of Temporal's ``RetryPolicy``. It has no maximum of attempts."""

    initial_interval_s: float = 0.5
    """The wait after the first crash."""
    backoff_coefficient: float = 2.0
    """Each wait is this many times the one before."""
    maximum_interval_s: float = 30.0
    reset_after_s: float = 60.0
    """After a run of this length a crash counts as the first one."""

    def __post_init__(self) -> None:
        if not 0 < self.initial_interval_s <= self.maximum_interval_s:
            raise ValueError(
                f"need 0 < initial_interval_s <= maximum_interval_s, got {self.initial_interval_s:g} and {self.maximum_interval_s:g}"
            )
        if self.backoff_coefficient < 1:
            raise ValueError(f"backoff_coefficient must be at least 1, got {self.backoff_coefficient:g}")

    def crashes_in_a_row(self, before: int, *, ran_s: float) -> int:
        """Counts a crash.

        Args:
            before: The count before this crash.
            ran_s: How long the process had run, in seconds.
        """
        return 1 if ran_s >= self.reset_after_s else before + 1

    def interval_s(self, crashes: int) -> float:
        """The wait in seconds after so many crashes in a row."""
        interval = self.initial_interval_s
        for _ in range(crashes - 1):
            interval *= self.backoff_coefficient
            if interval >= self.maximum_interval_s:
                return self.maximum_interval_s
        return interval
