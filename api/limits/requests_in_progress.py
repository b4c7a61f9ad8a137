"""Limits the requests that a tenant has in progress: a request may wait for a minute, and each one holds a connection."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from api.problems import RETRY_AFTER_S, ProblemError


class RequestsInProgress:
    """The requests of one process.

    Args:
        most: The most of one tenant.
    """

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._running: Counter[str] = Counter()

    @contextmanager
    def one_of(self, tenant: str) -> Iterator[None]:
        """Counts a request of a tenant during the block.

        Raises:
            ProblemError: 429 if the tenant has the most already.
        """
        if self._running[tenant] >= self._most:
            raise ProblemError(
                429,
                "too-many-requests",
                f"{self._most} requests of the tenant are in progress; send fewer at once, or try again",
                headers={"Retry-After": str(RETRY_AFTER_S)},
            )
        self._running[tenant] += 1
        try:
            yield
        finally:
            self._running[tenant] -= 1
            if not self._running[tenant]:
                del self._running[tenant]
