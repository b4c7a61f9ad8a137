"""Quotas of a tenant: request rates and concurrency over all processes, and the number of memories.

Headers follow the IETF's draft-ietf-httpapi-ratelimit-headers-10: ``RateLimit-Policy`` names the quotas, ``RateLimit`` their remainder.
Memories are counted in the background, in the live generation only.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

from api.problems import ProblemError
from control.tenants import Tenant
from runtime.background import run_in_background
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.redis.rate_limits import Demand, Rate, RateLimiter, Verdict
from runtime.settings import QuotaSettings
from stores.errors import StoreError
from stores.port import MemoryStore, TenantScope

RECOUNT_S: Final = 30.0
"""Age of a count after which a read starts a new one, in seconds."""

_log = logger(__name__)

_Counted: TypeAlias = tuple[str, str]
"""A tenant, and a generation of its memories."""


class MemoryCounts:
    """The number of each tenant's memories, as last counted. No request waits for a count, so a store that hangs blocks none."""

    def __init__(self, *, store: MemoryStore) -> None:
        self._store = store
        self._counts: dict[_Counted, int] = {}
        self._counted_at: dict[_Counted, float] = {}
        self._counting: dict[_Counted, asyncio.Task[None]] = {}

    def of(self, tenant: str, generation: str) -> int | None:
        """The last count of a tenant's memories of a generation; starts a new count if it is old. None: not counted yet."""
        counted = tenant, generation
        is_old = asyncio.get_running_loop().time() - self._counted_at.get(counted, float("-inf")) >= RECOUNT_S
        if is_old and counted not in self._counting:
            task = run_in_background("memory-counts", self._count(counted))
            self._counting[counted] = task
            task.add_done_callback(lambda _: self._counting.pop(counted, None))
        return self._counts.get(counted)

    async def close(self) -> None:
        """Stops counting."""
        counting = list(self._counting.values())
        for task in counting:
            task.cancel()
        await asyncio.gather(*counting, return_exceptions=True)

    async def _count(self, counted: _Counted) -> None:
        tenant, generation = counted
        try:
            self._counts[counted] = await self._store.count(TenantScope(tenant), generation=generation)
        except StoreError as error:
            _log.warning("memories_not_counted", error=str(error))
        finally:
            # Also after a failure, so that not every request calls an unavailable store.
            self._counted_at[counted] = asyncio.get_running_loop().time()


CONCURRENT_RECALLS: Final = "concurrent-recalls"
MEMORIES: Final = "memories"

_UNITS: Final = {"messages": "messages", "bytes": "content-bytes", "recalls": "requests", CONCURRENT_RECALLS: "concurrent-requests"}


class Quotas:
    """Checks requests against their tenant's quotas. Every request is admitted as a whole or not at all."""

    def __init__(self, *, settings: QuotaSettings, limiter: RateLimiter, memory_counts: MemoryCounts, metrics: Metrics) -> None:
        self._settings = settings
        self._limiter = limiter
        self._memory_counts = memory_counts
        self._refusals = metrics.quota_refusals

    def memories_of(self, tenant: Tenant) -> int | None:
        """The last count of a tenant's memories; starts a new count if it is old. None: not counted yet."""
        return self._memory_counts.of(tenant.id, tenant.generation)

    async def admit_messages(self, tenant: Tenant, *, count: int, size: int, adds_memories: bool = True) -> Mapping[str, str]:
        """Admits messages, or requests that count as messages.

        Args:
            tenant: The tenant.
            count: Number of messages.
            size: Size of the request's body, in bytes.
            adds_memories: Whether the request can create memories.

        Returns:
            Headers of the response.

        Raises:
            ProblemError: 429 if a rate is used up; 507 if the tenant's quota of memories is full.
        """
        quota = self._settings.overridden_by(tenant.quota)
        if adds_memories and quota.memories is not None and (self._memory_counts.of(tenant.id, tenant.generation) or 0) >= quota.memories:
            self._refusals.labels(MEMORIES).inc()
            detail = (
                f"the tenant has reached its quota of {quota.memories} memories; new messages are refused until memories are deleted or "
                "the quota is raised"
            )
            raise ProblemError(507, "quota-full", detail, members={"quota": MEMORIES})
        demands = [
            *_demand("messages", quota.messages_per_second, count, quota),
            *_demand("bytes", quota.bytes_per_second, size, quota),
        ]
        async with self._admitted(tenant, demands) as headers:
            return headers

    @asynccontextmanager
    async def recall(self, tenant: Tenant) -> AsyncIterator[Mapping[str, str]]:
        """Admits one recall, for the length of the block.

        Yields:
            Headers of the response.

        Raises:
            ProblemError: 429 if the rate is used up, or too many recalls run at once.
        """
        quota = self._settings.overridden_by(tenant.quota)
        demands = _demand("recalls", quota.recalls_per_second, 1, quota)
        if not demands and quota.concurrent_recalls is None:
            yield {}
            return
        async with self._admitted(tenant, demands, slots=quota.concurrent_recalls) as headers:
            yield headers

    @asynccontextmanager
    async def _admitted(self, tenant: Tenant, demands: Sequence[Demand], *, slots: int | None = None) -> AsyncIterator[Mapping[str, str]]:
        if not demands and slots is None:
            yield {}
            return
        async with self._limiter.admit(tenant.id, demands, slots=slots) as verdict:
            headers = _headers(verdict, slots)
            if not verdict.is_admitted:
                raise self._refusal(verdict, headers)
            yield headers

    def _refusal(self, verdict: Verdict, headers: Mapping[str, str]) -> ProblemError:
        name, what = CONCURRENT_RECALLS, "the maximum number of concurrent recalls is running"
        if not verdict.slot_wait_ms:
            rate = max(verdict.rates, key=lambda each: each.wait_ms).rate
            name, what = rate.name, f"{rate.per_second:g} {rate.name} a second are used up"
        self._refusals.labels(name).inc()
        seconds = max(1, math.ceil(verdict.wait_s))
        return ProblemError(
            429,
            "quota-exceeded",
            f"{what}; try again in {seconds} s",
            headers={**headers, "Retry-After": str(seconds)},
            members={"quota": name},
        )


def _demand(name: str, per_second: float | None, amount: int, quota: QuotaSettings) -> list[Demand]:
    if per_second is None:
        return []
    return [Demand(rate=Rate(name=name, per_second=per_second, burst_s=quota.burst_s), amount=amount)]


def _headers(verdict: Verdict, slots: int | None) -> dict[str, str]:
    policies, limits = [], []
    for state in verdict.rates:
        rate = state.rate
        policies.append(f'"{rate.name}";q={max(1, math.floor(rate.capacity))};qu="{_UNITS[rate.name]}";w={math.ceil(rate.burst_s)}')
        limits.append(f'"{rate.name}";r={state.remaining};t={math.ceil(state.backlog_ms / 1000)}')
    if slots is not None:
        policies.append(f'"{CONCURRENT_RECALLS}";q={slots};qu="{_UNITS[CONCURRENT_RECALLS]}"')
        limits.append(f'"{CONCURRENT_RECALLS}";r={verdict.free_slots}')
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(limits)}
