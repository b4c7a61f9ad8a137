"""The query service over HTTP, and the contents that it serves."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from runtime.settings import Settings
from stores.build import build_store
from stores.port import TenantScope
from tests.api.running_service import serving
from tests.control_log import add_key
from tests.streams.flow import TENANT


@asynccontextmanager
async def service(settings: Settings, *, user: str | None = None) -> AsyncIterator[httpx.AsyncClient]:
    key = await add_key(settings, TENANT, user=user)
    async with serving(settings, key=key) as client:
        yield client


async def contents(settings: Settings, user: str) -> list[str]:
    """The contents of the valid events and entities of a user."""
    store = build_store(settings)
    try:
        found = await store.scroll(TenantScope(TENANT, user), limit=100)
    finally:
        await store.close()
    return [each.content for each in found if each.expires_at is None]
