"""How long to wait before a crashed process is started again."""


class RestartBackoff:
    """Doubles from one crash to the next, and forgets the crashes before a long quiet run.

    Args:
        first_s: The first wait, in seconds.
        longest_s: No wait is longer.
        forgiven_after_s: A run of this length starts the count anew.
    """

    def __init__(self, *, first_s: float = 0.5, longest_s: float = 30.0, forgiven_after_s: float = 60.0) -> None:
        if not 0 < first_s <= longest_s:
            raise ValueError(f"need 0 < first_s <= longest_s, got {first_s} and {longest_s}")
        self._first_s = first_s
        self._longest_s = longest_s
        self._forgiven_after_s = forgiven_after_s
        self._next_s = first_s

    def after_crash(self, *, ran_s: float) -> float:
        """The wait in seconds after a run of ``ran_s`` seconds that ended by itself."""
        if ran_s >= self._forgiven_after_s:
            self._next_s = self._first_s
        wait = self._next_s
        self._next_s = min(self._longest_s, wait * 2)
        return wait
