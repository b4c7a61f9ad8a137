"""A recall is narrowed to what belongs to entities of some keys; on a real Kafka, Redis, Edge store and embedding model."""

from typing import Any
from unicodedata import normalize

import pytest

from memory.ids import entity_id
from memory.keys import entity_key
from tests.api.running_service import BERLIN, PROFILE, RunningService, expect_problem, index, memory

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

HAMMER, SAW = entity_key("ann", "claw hammer"), entity_key("ann", "saw")
SLIPPED = memory("acme", "ann", "The claw hammer slipped off a nail", entity_keys=[entity_key("ann"), HAMMER])
STUCK = memory("acme", "ann", "The saw got stuck in a board", entity_keys=[entity_key("ann"), SAW])
TOOL = memory(
    "acme", "ann", "Claw hammer of Ann: slips", id=entity_id("acme", "tool", HAMMER), kind="entity", type="tool", entity_key=HAMMER
)
MAY = memory("acme", "ann", "Claw hammer of Ann in May: slipped once", kind="summary", type="tool", entity_key=HAMMER)


async def answer_to(service: RunningService, path: str = "/v1/recall", **body: Any) -> dict[str, Any]:
    response = await service.http.post(path, json={"query": "What happened with the tools?", **body}, headers=service.auth("acme"))
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def test_keys_limit_results_and_companion_entities(service: RunningService) -> None:
    await index(service.settings, [SLIPPED, STUCK, TOOL, MAY])

    async def ids(**body: Any) -> set[str]:
        return {each["id"] for each in (await answer_to(service, **body))["results"]}

    assert await ids(keys=[HAMMER]) == {SLIPPED.id, TOOL.id, MAY.id}
    assert await ids(keys=[HAMMER], kinds=["event", "summary"]) == {SLIPPED.id, MAY.id}
    assert await ids(keys=[entity_key("ann")]) == {SLIPPED.id, STUCK.id}
    assert await ids(keys=[SAW, "bob"]) == {STUCK.id}
    assert await ids(keys=[HAMMER], user="bob") == set()
    context = await answer_to(service, "/v1/context", keys=[HAMMER])
    assert {each["id"] for each in context["citations"]} == {SLIPPED.id, TOOL.id, MAY.id}
    [slipped] = [each for each in (await answer_to(service, keys=[HAMMER]))["results"] if each["id"] == SLIPPED.id]
    assert slipped["entity_keys"] == ["ann", HAMMER]

    unfiltered = await answer_to(service, user="ann")
    assert [each["id"] for each in unfiltered["entities"]] == [PROFILE.id]
    assert (await answer_to(service, user="ann", keys=[HAMMER]))["entities"] == []
    assert [each["id"] for each in (await answer_to(service, user="ann", keys=[PROFILE.entity_key]))["entities"]] == [PROFILE.id]


async def test_either_spelling_of_a_key_finds_its_entity(service: RunningService) -> None:
    key = entity_key("ann", "Café Zoë")
    place = memory(
        "acme",
        "ann",
        "Café Zoë, where Ann reads",
        id=entity_id("acme", "promises", key),
        kind="entity",
        type="promises",
        entity_key=key,
    )
    await index(service.settings, [place])
    for spelled in (key, entity_key("ann", normalize("NFD", "Café Zoë"))):
        assert {each["id"] for each in (await answer_to(service, keys=[spelled]))["results"]} == {place.id}
        response = await service.http.get(f"/v1/entities/promises/{spelled}", headers=service.auth("acme"))
        assert response.json()["id"] == place.id, response.text


async def test_a_memory_excluded_by_keys_is_explained(service: RunningService) -> None:
    await index(service.settings, [SLIPPED, STUCK])
    asked = await answer_to(service, keys=[HAMMER], why_not=[SLIPPED.id, STUCK.id, BERLIN.id, PROFILE.id])
    assert [(each["outcome"], each["filter"]) for each in asked["why_not"]] == [("returned", None), *[("filter", "keys")] * 3]


@pytest.mark.parametrize(
    ("keys", "detail"),
    [
        ("ann", "keys"),
        ([""], "keys.0"),
        (["ann//saw"], "not percent-encoded"),
        (["ann/claw hammer"], "write a space as %20"),
        (["ann"] * 65, "keys"),
        (["a" * 4097], "keys.0"),
    ],
)
async def test_malformed_keys_are_refused(service: RunningService, keys: Any, detail: str) -> None:
    for path in ("/v1/recall", "/v1/context"):
        response = await service.http.post(path, json={"query": "x", "keys": keys}, headers=service.auth("acme"))
        expect_problem(response, 422, detail)
