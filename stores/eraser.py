"""The port through which the query service starts an erasure. `streams.operations.erasure` implements it."""

from collections.abc import Sequence
from typing import Protocol

from runtime.redis import GuardedRedis
from stores.port import MemoryStore


class Eraser(Protocol):
    """Erases users: the flow's own business, given to the service where it is started."""

    async def __call__(self, tenant: str, users: Sequence[str], *, by: str, store: MemoryStore, redis: GuardedRedis) -> None:
        """Carries out what the control log has begun, and returns when all is done; called again, it goes on.

        Args:
            tenant: Whose users.
            users: Who. Together they take hardly longer than one of them.
            by: Who asks for it, for the audit.
            store: The vector store.
            redis: Its keys are removed.
        """
        ...
