"""Checks of schemas and methods without writing them, the shipped methods, and a tenant's keys."""

from typing import Any

import pytest

from memory.schema.methods import method_document, method_names
from tests.api.running_service import RunningService, bearer, expect_problem
from tests.control_log import add_operator
from tests.streams.harness import until_true

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

NOTES: dict[str, Any] = {
    "Name": "notes",
    "EventTypes": [{"EventType": "note", "Description": "Anything said.", "Properties": []}],
    "EntityTypes": [],
}


async def checked(service: RunningService, **body: Any) -> dict[str, Any]:
    response = await service.http.post("/v1/schemas/validate", json=body, headers=service.auth("acme"))
    assert response.status_code == 200, response.text
    shown: dict[str, Any] = response.json()
    return shown


async def test_a_schema_is_checked_and_not_written(service: RunningService) -> None:
    valid = await checked(service, content=NOTES)
    assert (valid["valid"], valid["name"], valid["event_types"], valid["entity_types"]) == (True, "notes", ["note"], [])
    assert valid["prompt_tokens"] > 100
    listed = (await service.http.get("/v1/schemas", headers=service.auth("acme"))).json()["schemas"]
    assert not [each for each in listed if each["schema"].startswith("notes")]
    wrong = await checked(service, content={**NOTES, "EventTypes": [{**NOTES["EventTypes"][0], "Propertis": []}]})
    assert (wrong["valid"], wrong["problems"][0]["path"], wrong["prompt_tokens"]) == (False, "EventTypes[0].Propertis", None)
    assert wrong["problems"][0]["message"]
    wrongs: list[Any] = [None, "x", 7, {"Name": 1}, {"EventTypes": 1}]
    for content in wrongs:
        assert not (await checked(service, content=content))["valid"]


async def test_a_method_is_checked_with_its_schema(service: RunningService) -> None:
    with_turns = await checked(service, content=NOTES, method="memgpt")
    assert (with_turns["name"], with_turns["event_types"]) == ("notes+memgpt", ["note", "turn"])
    own = {**method_document("memgpt"), "Method": "mine"}
    assert (await checked(service, content=NOTES, method=own))["name"] == "notes+mine"
    wrong = await checked(service, content=NOTES, method={**own, "Archive": {"Turn": True}})
    assert wrong["problems"][0]["path"].startswith("Method.Archive")
    assert not (await checked(service, content=NOTES, method="none"))["valid"]


async def test_operators_check_schemas_too(service: RunningService) -> None:
    headers = bearer(await add_operator(service.settings, role="viewer"))

    async def is_known() -> bool:
        response = await service.http.post("/v1/admin/schemas/validate", json={"content": NOTES}, headers=headers)
        return response.status_code == 200 and response.json()["valid"] is True

    await until_true(is_known)
    expect_problem(
        await service.http.post("/v1/admin/schemas/validate", json={"content": NOTES}, headers=service.auth("acme")), 401, "operator"
    )


async def test_a_tenant_reads_methods_and_its_keys(service: RunningService) -> None:
    listed = (await service.http.get("/v1/methods", headers=service.auth("acme"))).json()["methods"]
    assert [each["method"] for each in listed] == [*method_names()]
    shown = (await service.http.get("/v1/methods/amem", headers=service.auth("acme"))).json()
    assert shown == {"method": "amem", "content": method_document("amem")}
    expect_problem(await service.http.get("/v1/methods/none", headers=service.auth("acme")), 404, "none")
    keys = (await service.http.get("/v1/keys", headers=service.auth("acme"))).json()
    assert {each["user"] for each in keys["keys"]} == {None, "ann", "bob"}
    assert keys["quota"]["messages_per_second"] is None
    assert "hash" not in str(keys)
    expect_problem(await service.http.get("/v1/keys", headers=service.auth("acme/ann")), 403, "not bound to a user")
