"""The query service over HTTP, and the contents that it serves."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from asgi_lifespan import LifespanManager

from api.app import create_app
from runtime.settings import Settings
from stores.build import build_store
from stores.port import TenantScope
from tests.api.running_service import InProcessTransport
from tests.control_log import add_key
from tests.streams.flow import TENANT


@asynccontextmanager
async def service(settings: Settings, *, user: str | None = None) -> AsyncIterator[httpx.AsyncClient]:
    key = await add_key(settings, TENANT, user=user)
    async with (
        LifespanManager(create_app(settings), startup_timeout=60, shutdown_timeout=60) as running,
        httpx.AsyncClient(
            transport=InProcessTransport(app=running.app), base_url="http://varve", headers={"Authorization": f"Bearer {key}"}, timeout=60
        ) as client,
    ):
        yield client


async def contents(settings: Settings, user: str) -> list[str]:
    """The contents of the valid events and entities of a user."""
    store = build_store(settings)
    try:
        found = await store.scroll(TenantScope(TENANT, user), limit=100)
    finally:
        await store.close()
    return [each.content for each in found if each.expires_at is None]
