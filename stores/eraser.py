"""The port through which the query service starts an erasure. `streams.operations.erasure` implements it."""

from collections.abc import Sequence
from typing import Protocol

from runtime.redis import GuardedRedis
from stores.port import MemoryStore


class Eraser(Protocol):
    """Erases users. The flow implements it; the service gets it as an argument at its start."""

    async def __call__(self, tenant: str, users: Sequence[str], *, by: str, store: MemoryStore, redis: GuardedRedis) -> None:
        """Executes the erasures that the control log has begun, and returns when all are complete. A repeated call continues them.

        Args:
            tenant: The users' tenant.
            users: The users to erase. Many take about as long as one.
            by: The actor, for the audit log.
            store: The vector store.
            redis: Redis, whose keys of these users are deleted.
        """
        ...
