"""Permissions of a key: its scopes, its user, and none after it is revoked, in any number of processes."""

import time
from datetime import UTC, datetime

import pytest

from control.access_keys import hash_key, key_id_of
from control.tenant_changes import set_tenant
from tests.api.running_service import BERLIN, ENTITY_KEY, OSLO, PROFILE, RunningService, bearer, expect_problem, when_known
from tests.api.service_process import DEADLINE_S
from tests.control_log import add_key, add_operator, add_tenant, write

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

MESSAGE = {"user": "ann", "session": "talk", "text": "I moved."}


async def test_a_key_allows_only_its_scopes(service: RunningService) -> None:
    reads = await when_known(service, await add_key(service.settings, "acme", scopes=("recall",)))
    writes = await when_known(service, await add_key(service.settings, "acme", scopes=("ingest",)))
    assert (await service.http.post("/v1/recall", json={"query": "Where is Ann?"}, headers=reads)).status_code == 200
    assert (await service.http.post("/v1/messages", json=MESSAGE, headers=writes)).status_code == 200
    for path, body in (("/v1/messages", MESSAGE), ("/v1/flush", {})):
        expect_problem(await service.http.post(path, json=body, headers=reads), 403, "lacks the scope ingest")
    expect_problem(
        await service.http.post("/v1/recall", json={"query": "x"}, headers=writes),
        403,
        "lacks the scope recall; it has ingest: use another one",
    )
    for path in (f"/v1/memories/{OSLO.id}", "/v1/sessions/talk", f"/v1/entities/user_profile/{ENTITY_KEY}"):
        expect_problem(await service.http.get(path, headers=writes), 403, "lacks the scope recall")
    operates = await when_known(service, await add_key(service.settings, "acme", scopes=("operate",)))
    assert (await service.http.get("/v1/dead-letters", headers=operates)).status_code == 200
    for headers in (reads, writes):
        expect_problem(await service.http.get("/v1/dead-letters", headers=headers), 403, "lacks the scope operate")
        expect_problem(
            await service.http.post("/v1/dead-letters/purge", json={"all": True}, headers=headers), 403, "lacks the scope operate"
        )


async def test_a_user_key_reads_only_that_user(service: RunningService) -> None:
    bobs = await when_known(service, await add_key(service.settings, "acme", user="bob"))
    for asked in ({}, {"user": "bob"}):
        found = await service.http.post("/v1/recall", json={"query": "Where did they move?", **asked}, headers=bobs)
        assert {each["id"] for each in found.json()["results"]} == {BERLIN.id}
    expect_problem(await service.http.post("/v1/recall", json={"query": "x", "user": "ann"}, headers=bobs), 403, "another user")
    assert (await service.http.get(f"/v1/memories/{BERLIN.id}", headers=bobs)).status_code == 200
    for hidden in (OSLO, PROFILE):
        expect_problem(await service.http.get(f"/v1/memories/{hidden.id}", headers=bobs), 404, "no memory")
    expect_problem(await service.http.get(f"/v1/entities/user_profile/{ENTITY_KEY}", headers=bobs), 404, "no entity")
    expect_problem(await service.http.post("/v1/flush", json={"session": "talk"}, headers=bobs), 403, "not bound to a user")
    expect_problem(await service.http.get("/v1/dead-letters", headers=bobs), 403, "not bound to a user")


async def test_a_user_key_writes_only_for_that_user(service: RunningService) -> None:
    bobs = await when_known(service, await add_key(service.settings, "acme", user="bob"))
    own = {"session": "of-bob", "text": "Hello."}
    assert (await service.http.post("/v1/messages", json=[own, {**own, "user": "bob"}], headers=bobs)).status_code == 200
    for other in ("ann", "", 7, ["bob"]):
        refused = await service.http.post("/v1/messages", json=[own, {**own, "user": other}], headers=bobs)
        expect_problem(refused, 403, "another user")


async def test_a_suspended_tenants_keys_open_nothing(service: RunningService) -> None:
    key = await when_known(service, await add_tenant(service.settings, "late", schema="companion"))
    await write(service.settings, lambda draft: set_tenant(draft, "late", state="suspended"))
    deadline = time.monotonic() + DEADLINE_S
    while (refused := await service.http.get("/v1/memories/none", headers=key)).status_code == 404:
        assert time.monotonic() < deadline
    expect_problem(refused, 403, "suspended")


async def test_the_last_use_of_a_key_is_reported(service: RunningService) -> None:
    viewer = bearer(await add_operator(service.settings, role="viewer"))
    used, unused = [await add_key(service.settings, "acme", label=label) for label in ("used", "unused")]
    began = datetime.now(UTC).replace(microsecond=0)
    await when_known(service, used)
    deadline = time.monotonic() + DEADLINE_S
    while True:
        assert time.monotonic() < deadline
        listed = await service.http.get("/v1/admin/keys", params={"tenant": "acme"}, headers=viewer)
        by_id = {each["id"]: each for each in listed.json().get("keys", ())}
        if listed.status_code == 200 and by_id[key_id_of(hash_key(used))]["last_used"] is not None:
            break
    assert listed.json()["uses_known"]
    assert datetime.fromisoformat(by_id[key_id_of(hash_key(used))]["last_used"]) >= began
    assert by_id[key_id_of(hash_key(unused))]["last_used"] is None


async def test_an_operator_is_limited_to_the_role(service: RunningService) -> None:
    viewer = bearer(await add_operator(service.settings, role="viewer"))
    deadline = time.monotonic() + DEADLINE_S
    while (await service.http.get("/v1/admin/dead-letters", headers=viewer)).status_code == 401:
        assert time.monotonic() < deadline
    assert (await service.http.get("/v1/admin/dead-letters", headers=viewer)).status_code == 200
    refused = await service.http.post("/v1/admin/dead-letters/purge", json={"all": True}, headers=viewer)
    expect_problem(refused, 403, "needs the role operator")
    expect_problem(await service.http.post("/v1/recall", json={"query": "x"}, headers=viewer), 401, "no tenant has")
