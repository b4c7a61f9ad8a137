"""Types of the work that a query service runs for the stages: erasures and periodic jobs. It gets them as arguments when it starts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from control.tenants import TenantDirectory
from runtime.metrics import Metrics
from runtime.redis.client import GuardedRedis
from stores.port import MemoryStore


class Eraser(Protocol):
    """Erases users. :func:`streams.operations.erasure.erase.eraser_of` builds it."""

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


class JobWork(Protocol):
    """One run of a periodic job."""

    async def __call__(self, *, tenants: TenantDirectory, store: MemoryStore, redis: GuardedRedis, metrics: Metrics) -> None:
        """Does the work.

        Args:
            tenants: The process's copy of the control log.
            store: The vector store.
            redis: Redis.
            metrics: The metrics of the process.

        Raises:
            VarveError: It failed, and is repeated later.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceJob:
    """Periodic work that one of the query services does (:mod:`streams.operations.jobs`)."""

    name: str
    interval_s: float
    work: JobWork
