"""Manual corrections, through the real stages: entities follow, a repeated extraction changes nothing, and a rebuild gives the same."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from memory.records import Memory
from runtime.redis.client import open_redis
from runtime.settings import Settings
from stores.build import build_store
from stores.port import TenantScope
from streams.operations.rebuild import rebuild
from streams.operations.replay import ReplayStart, replay
from tests.api.running_service import bearer
from tests.api.running_service import serving as service_of
from tests.control_log import add_key
from tests.streams.flow import TENANT, caught_up, flush, send_sample, serving
from tests.streams.harness import until_true
from tests.streams.merging_flow import memory_lines

pytestmark = pytest.mark.integration

BEFORE_INDEX = ("extraction", "events", "entities")
DERIVED = ("extraction", "events", "entities", "index")


async def test_corrections_apply_and_are_reverted(flow: Settings) -> None:
    await send_sample(flow)
    await flush(flow)
    async with serving(flow):
        await caught_up(flow)
    headers = bearer(await add_key(flow, TENANT, label="support"))
    before = await memories(flow)
    profile = next(each for each in before.values() if each.type == "user_profile")
    first, second = [each for each in before.values() if each.type == "life_event"][:2]
    counted = int(str(profile.properties["life_events"]))

    async with service_of(flow) as http:
        await send(http, headers, "POST", f"{first.id}/invalidate", {"reason": "it was a joke"})
        await send(http, headers, "PATCH", second.id, {"content": "The user opened a bakery in Turku", "properties": {"place": "Turku"}})
        await send(http, headers, "PATCH", profile.id, {"properties": {"home": "Turku"}})
        async with serving(flow, BEFORE_INDEX):
            await caught_up(flow, BEFORE_INDEX)
            await until_true(lambda: shows(http, headers, counted - 1))
        assert (await memories(flow))[profile.id].properties["life_events"] == counted, "the index is not asked"
        async with serving(flow, DERIVED):
            await caught_up(flow, DERIVED)
        seen = (await http.get(f"/v1/memories/{first.id}", headers=headers)).json()
        assert (seen["correction"]["action"], seen["correction"]["reason"]) == ("invalidate", "it was a joke")
        assert seen["correction"]["by"].startswith("support (")
        found = await http.post("/v1/recall", json={"query": first.content, "user": "ada", "limit": 50}, headers=headers)
        assert first.id not in {each["id"] for each in found.json()["results"]}
    corrected = await memories(flow)
    assert (corrected[second.id].content, corrected[second.id].properties["place"]) == ("The user opened a bakery in Turku", "Turku")
    assert corrected[profile.id].properties["life_events"] == counted - 1
    assert corrected[profile.id].properties["home"] == "Turku"
    assert sum(each.correction is not None for each in corrected.values()) == 2

    assert await replay(flow, "extraction", ReplayStart(time=datetime.now(UTC) - timedelta(hours=1)))
    async with serving(flow, DERIVED):
        await caught_up(flow, DERIVED)
    again = await memories(flow)
    assert {key: plain(each) for key, each in again.items()} == {key: plain(each) for key, each in corrected.items()}

    store, lines = build_store(flow), await memory_lines(flow, TENANT)
    async with open_redis(flow.redis) as redis:
        await rebuild(flow, store=store, redis=redis)
    await store.close()
    async with serving(flow, DERIVED):
        await caught_up(flow, DERIVED)
    assert await memory_lines(flow, TENANT) == lines

    async with service_of(flow) as http:
        for memory in (first, second, profile):
            await send(http, headers, "POST", f"{memory.id}/revert")
        async with serving(flow, DERIVED):
            await caught_up(flow, DERIVED)
    reverted = await memories(flow)
    assert {key: plain(each) for key, each in reverted.items()} == {key: plain(each) for key, each in before.items()}


async def send(http: httpx.AsyncClient, headers: dict[str, str], method: str, path: str, body: Any = None) -> None:
    response = await http.request(method, f"/v1/memories/{path}", json=body, headers=headers)
    assert response.status_code == 200, response.text


async def shows(http: httpx.AsyncClient, headers: dict[str, str], life_events: int) -> bool:
    """Whether the profile, read by its key, has so many."""
    response = await http.get("/v1/entities/user_profile/ada", headers=headers)
    return bool(response.json()["properties"]["life_events"] == life_events)


async def memories(settings: Settings) -> dict[str, Memory]:
    store = build_store(settings)
    try:
        return {each.id: each for each in await store.scroll(TenantScope(TENANT), limit=1000)}
    finally:
        await store.close()


def plain(memory: Memory) -> Memory:
    """Without what counts its changes."""
    return memory.model_copy(update={"version": 0})
