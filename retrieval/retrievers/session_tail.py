"""The latest messages of a session, from before anything is extracted from them."""

from collections.abc import Awaitable, Callable
from typing import Final

from retrieval.paths import PartName
from retrieval.plan import RecallPlan
from runtime.redis.session_tail import SessionView

ReadTail = Callable[[str, str], Awaitable[SessionView]]
"""Reads the latest messages of a tenant's session."""


class SessionTailRetriever:
    """Reads the latest messages of the requested session.

    Args:
        read_tail: Reads the messages. None: there are none.
    """

    name: Final[PartName] = "session_tail"

    def __init__(self, read_tail: ReadTail | None) -> None:
        self._read_tail = read_tail

    def applies_to(self, plan: RecallPlan) -> bool:
        """Whether the request names a session."""
        return plan.request.tail is not None and self._read_tail is not None

    async def retrieve(self, plan: RecallPlan) -> SessionView:
        """The messages; only those of the requested user if there is one.

        Raises:
            RedisUnavailableError: If Redis does not respond.
        """
        tail = plan.request.tail
        if tail is None or self._read_tail is None:
            return SessionView()
        return (await self._read_tail(plan.request.scope.tenant, tail.session)).of(tail.user)
