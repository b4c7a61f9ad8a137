"""Types that no schema of the tenant has are named as such, instead of finding nothing; on a real service."""

from typing import Any

import pytest

from tests.api.running_service import PROFILE, RunningService, expect_problem

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]


@pytest.mark.parametrize("path", ["/v1/recall", "/v1/context"])
async def test_a_recall_of_an_unknown_type_is_refused(service: RunningService, path: str) -> None:
    async def ask(*types: str) -> Any:
        return await service.http.post(path, json={"query": "Oslo", "types": types}, headers=service.auth("acme"))

    found = expect_problem(await ask("life_event", "preferense"), 422, "types: the schema companion@1 has no type 'preferense'")
    assert "did you mean 'preference'?" in found["detail"]
    assert (await ask("life_event", "user_profile", "turn", "segment")).status_code == 200


async def test_a_page_of_an_unknown_type_is_refused(service: RunningService) -> None:
    response = await service.http.get("/v1/memories", params={"types": "lifeevent"}, headers=service.auth("acme"))
    expect_problem(response, 422, "types: the schema companion@1 has no type 'lifeevent'; did you mean 'life_event'?")


@pytest.mark.parametrize("suffix", ["", "/history", "?as_of=2024-05-06T12:00:00Z"])
async def test_an_unknown_entity_type_is_named(service: RunningService, suffix: str) -> None:
    response = await service.http.get(f"/v1/entities/user_profil/ann{suffix}", headers=service.auth("acme"))
    found = expect_problem(response, 404, "the schema companion@1 has no entity type 'user_profil'; did you mean 'user_profile'?")
    assert "life_event" not in found["detail"]
    response = await service.http.get(f"/v1/entities/{PROFILE.type}/nobody{suffix}", headers=service.auth("acme"))
    assert "nobody" in response.json()["detail"]


async def test_a_key_with_too_few_parts_is_named(service: RunningService) -> None:
    response = await service.http.get("/v1/entities/mood_week/ann", headers=service.auth("acme"))
    expect_problem(response, 404, "its key has 2 parts (user, week), and the request has 1")
    response = await service.http.get(f"/v1/entities/{PROFILE.type}/ann/2024-W19/history", headers=service.auth("acme"))
    expect_problem(response, 404, "its key has 1 part (user), and the request has 2")
