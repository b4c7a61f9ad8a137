"""The latest messages of a session, from before anything is extracted from them."""

from typing import Final, Protocol

from retrieval.paths import PathName
from retrieval.plan import RecallPlan
from runtime.session_tail import SessionView


class SessionTails(Protocol):
    """The latest messages of sessions."""

    async def read(self, tenant: str, session: str) -> SessionView:
        """The session's latest messages."""
        ...


class SessionTailRetriever:
    """Reads the latest messages of the requested session.

    Args:
        tails: The messages. None: there are none.
    """

    name: Final[PathName] = "session_tail"

    def __init__(self, tails: SessionTails | None) -> None:
        self._tails = tails

    def applies_to(self, plan: RecallPlan) -> bool:
        """Whether the request names a session."""
        return plan.request.tail is not None and self._tails is not None

    async def retrieve(self, plan: RecallPlan) -> SessionView:
        """The messages; only those of the requested user if there is one.

        Raises:
            RedisUnavailableError: If Redis does not respond.
        """
        tail = plan.request.tail
        if tail is None or self._tails is None:
            return SessionView()
        return (await self._tails.read(plan.request.scope.tenant, tail.session)).of(tail.user)
