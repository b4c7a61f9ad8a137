"""How long to wait before a crashed process is started again."""

from dataclasses import dataclass, field

from runtime.backoff import Backoff


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartPolicy:
    """Waits between the crashes in a row, of which there is no maximum."""

    backoff: Backoff = field(default_factory=lambda: Backoff(initial_interval_s=0.5, maximum_interval_s=30.0))
    reset_after_s: float = 60.0
    """After a run of this length a crash counts as the first one."""

    def crashes_in_a_row(self, before: int, *, ran_s: float) -> int:
        """Counts a crash.

        Args:
            before: The count before this crash.
            ran_s: How long the process had run, in seconds.
        """
        return 1 if ran_s >= self.reset_after_s else before + 1
