"""Canonical form of a tenant's memories: equal states give equal bytes."""

import hashlib
from collections.abc import AsyncIterator
from typing import Final

import orjson

from memory.records import Memory
from stores.port import MemoryStore, TenantScope

_PAGE_SIZE: Final = 500


async def snapshot(store: MemoryStore, tenant: str) -> AsyncIterator[bytes]:
    """A tenant's memories as JSON lines with sorted fields, sorted by id.

    Raises:
        StoreUnavailableError: The store is unavailable.
    """
    after: str | None = None
    while page := await store.scroll(TenantScope(tenant), after=after, limit=_PAGE_SIZE):
        for memory in page:
            yield canonical(memory)
        after = page[-1].id


async def digest(store: MemoryStore, tenant: str) -> str:
    """The SHA-256 (hex) of a tenant's snapshot."""
    sha256 = hashlib.sha256()
    async for line in snapshot(store, tenant):
        sha256.update(line + b"\n")
    return sha256.hexdigest()


def canonical(memory: Memory) -> bytes:
    """A memory's bytes, independent of the order in which its fields and properties were set."""
    return orjson.dumps(memory.model_dump(mode="json", exclude_none=True), option=orjson.OPT_SORT_KEYS)
