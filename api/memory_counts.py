"""The number of each tenant's memories, counted in the background. Counts the live generation only, not one that is being built."""

import asyncio
from typing import Final, TypeAlias

from runtime.background import run_in_background
from runtime.logs import logger
from stores.errors import StoreError
from stores.port import MemoryStore, TenantScope

RECOUNT_S: Final = 30.0

_log = logger(__name__)

_Counted: TypeAlias = tuple[str, str]
"""A tenant, and a generation of its memories."""


class MemoryCounts:
    """Tenants' numbers of memories, as the store last said. No request waits for a count, so a store that hangs holds up none.

    Args:
        store: What counts.
        recount_s: After how many seconds a count is taken again, once somebody asks.
    """

    def __init__(self, *, store: MemoryStore, recount_s: float = RECOUNT_S) -> None:
        self._store = store
        self._recount_s = recount_s
        self._counts: dict[_Counted, int] = {}
        self._counted_at: dict[_Counted, float] = {}
        self._counting: dict[_Counted, asyncio.Task[None]] = {}

    def of(self, tenant: str, generation: str) -> int | None:
        """The last count of a tenant's memories of a generation; asks for a new one where that is old. None: not counted yet."""
        counted = tenant, generation
        is_old = asyncio.get_running_loop().time() - self._counted_at.get(counted, float("-inf")) >= self._recount_s
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
            # Also after a failure: a store that is away is not asked with every request.
            self._counted_at[counted] = asyncio.get_running_loop().time()
