"""An entity is read in the state of the entities stage, before the index has it; the response names unavailable parts."""

import httpx
import pytest

from api.composition import open_dependencies
from memory.records import Memory
from runtime.redis.entity_view import EntityAsOf, EntityUpdate
from runtime.settings import RedisSettings, Settings, StoreSettings
from tests.api.running_service import ENTITY_KEY, PROFILE, RunningService, expect_problem, serving, when_known
from tests.control_log import add_key

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

PATH = f"/v1/entities/user_profile/{ENTITY_KEY}"


async def show(settings: Settings, version: int, memory: Memory | None, *, offset: int) -> None:
    async with open_dependencies(settings) as dependencies:
        await dependencies.entity_view.write([EntityUpdate("acme", PROFILE.id, EntityAsOf(version, memory), 0, offset)])


async def read(service: RunningService, http: httpx.AsyncClient | None = None) -> httpx.Response:
    return await (http or service.http).get(PATH, headers=service.auth("acme"))


async def test_the_newer_of_view_and_index_is_read(service: RunningService) -> None:
    first = (await read(service)).json()
    assert (first["content"], first["degraded"]) == (PROFILE.content, [])
    newer = PROFILE.model_copy(update={"content": "Profile of Ann: lives in Bergen", "version": PROFILE.version + 1})
    await show(service.settings, newer.version, newer, offset=1)
    assert (await read(service)).json()["content"] == newer.content
    bobs = await when_known(service, await add_key(service.settings, "acme", user="bob"))
    expect_problem(await service.http.get(PATH, headers=bobs), 404, "no entity")
    expect_problem(await service.http.get(PATH, headers=service.auth("umbrella")), 404, "no entity")

    without = service.settings.model_copy(update={"redis": RedisSettings(url="redis://127.0.0.1:1/0")})
    async with serving(without) as http:
        answer = (await read(service, http)).json()
        assert (answer["content"], answer["degraded"]) == (PROFILE.content, ["entity_view"])
    nowhere = service.settings.model_copy(update={"store": StoreSettings(socket=service.settings.data / "none.sock")})
    async with serving(nowhere, patience_s=0) as http:
        answer = (await read(service, http)).json()
        assert (answer["content"], answer["degraded"]) == (newer.content, ["memories"])
        problem = await http.get("/v1/entities/user_profile/nobody", headers=service.auth("acme"))
        expect_problem(problem, 503, "vector store does not answer")

    await show(service.settings, newer.version + 1, None, offset=2)
    expect_problem(await read(service), 404, "no entity")
    await show(service.settings, PROFILE.version - 1 if PROFILE.version else 0, None, offset=3)
    assert (await read(service)).json()["content"] == PROFILE.content, "the index has caught up"
