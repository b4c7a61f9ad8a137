"""The operators' routes that write the control log: what the commands do, and nothing that a role does not allow."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from aiokafka import AIOKafkaConsumer

from control import read_audit, read_control
from control.access_keys import hash_key
from control.erasure import subject_of
from control.generations.reading import workers_of
from memory.headers import GENERATION_DROP, KIND
from memory.keys import encode_key
from memory.records import Extraction
from memory.schema import scenario, to_json
from memory.schema.methods import method_document, method_names
from runtime.kafka import OutgoingRecord, Producer, client_options, create_topics, read_topic
from runtime.settings import ControlSettings, Settings, StoreSettings
from tests.api.operating import ADMIN, Operating
from tests.api.running_service import expect_problem, serving
from tests.control_log import add_operator, add_tenant
from tests.one_broker import one_broker
from tests.streams.agent_extractions import extraction

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

LEASE_S = 15.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def operating(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Operating]:
    folder = tmp_path_factory.mktemp("control")
    settings = Settings(
        data=folder,
        kafka=one_broker(bootstrap=kafka, topic_prefix=f"t{folder.name}{time.monotonic_ns()}.", partitions=2),
        store=StoreSettings(socket=folder / "nobody"),
        control=ControlSettings(lease_s=LEASE_S),
    )
    settings = settings.model_copy(update={"redis": settings.redis.model_copy(update={"url": "redis://127.0.0.1:1/0"})})
    await create_topics(settings)
    keys = {
        "admin": await add_operator(settings),
        "operator": await add_operator(settings, role="operator"),
        "viewer": await add_operator(settings, role="viewer"),
        "tenant": await add_tenant(settings, "first", schema="companion"),
    }
    async with serving(settings) as http:
        yield Operating(settings=settings, http=http, keys=keys)


async def test_a_tenant_shows_its_limits_in_force(operating: Operating) -> None:
    own = {"budget": {"hard_tokens": None, "reextraction_share": 0.2}, "quota": {"memories": 7}}
    await operating.done("POST", "/tenants", {"id": "limited", **own})
    shown = await operating.done("GET", "/tenants/limited")
    assert (shown["budget"], shown["quota"]) == (own["budget"], own["quota"])
    budget, quota = shown["in_force"]["budget"], shown["in_force"]["quota"]
    assert (budget["hard_tokens"], budget["reextraction_share"], budget["policy"]) == (None, 0.2, operating.settings.budget.policy)
    assert (quota["memories"], quota["burst_s"]) == (7, operating.settings.quota.burst_s)


async def opens(operating: Operating, key: str) -> int:
    """The status that a tenant's key gets from a route that needs only Kafka."""
    return (await operating.http.get("/v1/dead-letters", headers={"X-API-Key": key})).status_code


async def test_a_tenant_is_added_changed_and_removed(operating: Operating) -> None:
    made = await operating.done("POST", "/tenants", {"id": "a/b c", "weight": 2.5, "quota": {"memories": 7}, "label": "app"})
    assert await opens(operating, made["key"]) == 200, "the next request to the same process sees it"
    shown = await operating.done("GET", "/tenants/a%2Fb%20c")
    assert (shown["schema"], shown["weight"], shown["quota"], shown["keys"]) == ("companion@1", 2.5, {"memories": 7}, 1)
    assert not (await operating.done("PATCH", "/tenants/a%2Fb%20c", {"weight": 2.5}))["changed"]
    await operating.done("PATCH", "/tenants/a%2Fb%20c", {"state": "suspended", "weight": 3.0, "schema": "meetings"}, settle=False)
    assert await opens(operating, made["key"]) == 403
    state = await read_control(operating.settings)
    known = state.tenants["a/b c"]
    assert (known.weight, known.quota.memories, str(known.schema_ref), known.keys[0].label) == (3.0, 7, "meetings@1", "app")
    expect_problem(await operating.ask("POST", "/tenants", {"id": "a/b c"}), 409, "already")
    expect_problem(await operating.ask("PATCH", "/tenants/a%2Fb%20c", {"schema": "nothing"}), 409, "no schema")
    expect_problem(await operating.ask("PATCH", "/tenants/a%2Fb%20c", {"weight": 0}), 422, "weight")
    for unbounded in (b'{"weight": NaN}', b'{"weight": Infinity}', b'{"weight": 1e999}', b'{"weight": 1e-320}'):
        headers = {"X-API-Key": operating.keys["admin"]}
        answer = await operating.http.patch(f"{ADMIN}/tenants/a%2Fb%20c", content=unbounded, headers=headers)
        assert answer.status_code in (400, 422), answer.text
    await operating.done("DELETE", "/tenants/a%2Fb%20c", settle=False)
    assert await opens(operating, made["key"]) == 401
    for method in ("GET", "DELETE"):
        expect_problem(await operating.ask(method, "/tenants/a%2Fb%20c"), 404, "no tenant")


async def test_a_stale_change_of_a_tenant_is_refused(operating: Operating) -> None:
    await operating.done("POST", "/tenants", {"id": "edited"})
    shown, (path, headers) = (
        await operating.ask("GET", "/tenants/edited"),
        (f"{ADMIN}/tenants/edited", {"X-API-Key": operating.keys["admin"]}),
    )
    tag = shown.headers["ETag"]
    assert tag == f'"{shown.json()["revision"]}"'

    async def set_memories(most: int, if_match: str) -> httpx.Response:
        return await operating.http.patch(path, json={"quota": {"memories": most}}, headers={**headers, "If-Match": if_match})

    # Both were made for the same revision: the control log takes one of them.
    answers = await asyncio.gather(set_memories(1, tag), set_memories(2, tag))
    assert sorted(each.status_code for each in answers) == [200, 412]
    (winner,) = (number for number, each in enumerate(answers, start=1) if each.status_code == 200)
    assert (await operating.done("GET", "/tenants/edited"))["quota"] == {"memories": winner}
    expect_problem(await set_memories(3, tag), 412, "changed meanwhile")
    expect_problem(await set_memories(3, tag.strip('"')), 422, "If-Match")
    newer = (await operating.ask("GET", "/tenants/edited")).headers["ETag"]
    for matching in (f'"0", W/{newer}', "*"):
        assert (await set_memories(3, matching)).status_code == 200
        newer = (await operating.ask("GET", "/tenants/edited")).headers["ETag"]


async def test_retention_is_set_and_checked(operating: Operating) -> None:
    await operating.done("POST", "/tenants", {"id": "a-retaining", "retention": {"messages": "1y"}})
    await operating.done("PATCH", "/tenants/a-retaining", {"retention": {"*": "90d"}})
    assert (await operating.done("GET", "/tenants/a-retaining"))["retention"] == {"*": "90d"}
    expect_problem(await operating.ask("PATCH", "/tenants/a-retaining", {"retention": {"*": "90"}}), 422, "retention")
    expect_problem(await operating.ask("PATCH", "/tenants/a-retaining", {"retention": {"chatt": "9d"}}), 409, "no schema of it has a type")
    await operating.done("PATCH", "/tenants/a-retaining", {"weight": 2.0})
    assert (await operating.done("GET", "/tenants/a-retaining"))["retention"] == {"*": "90d"}, "what is left out keeps its value"


async def test_a_hold_is_placed_listed_and_released(operating: Operating) -> None:
    await operating.done("POST", "/tenants", {"id": "held"})
    expect_problem(await operating.ask("POST", "/holds", {"tenant": "held", "user": "ann"}), 422, "reason")
    expect_problem(await operating.ask("POST", "/holds", {"tenant": "nobody", "reason": "case 17"}), 404, "no tenant")
    expect_problem(await operating.ask("POST", "/holds", {"tenant": "held", "reason": "x"}, role="operator"), 403, "admin")
    placed = await operating.done("POST", "/holds", {"tenant": "held", "user": "ann", "reason": "case 17"}, settle=False)
    assert placed["subject"] == subject_of("held", "ann")
    (hold,) = (await operating.done("GET", "/holds", tenant="held"))["holds"]
    assert (hold["reason"], hold["released_at"], hold["placed_by"].split()[0]) == ("case 17", None, "operator")
    assert "ann" not in str(hold)
    expect_problem(await operating.ask("DELETE", "/holds", tenant="held"), 409, "no hold in force on tenant")
    await operating.done("DELETE", "/holds", tenant="held", user="ann", reason="settled")
    (hold,) = (await operating.done("GET", "/holds", tenant="held"))["holds"]
    assert (hold["released_by"].split()[0], hold["release_reason"]) == ("operator", "settled")
    expect_problem(await operating.ask("DELETE", "/holds", tenant="held", user="ann"), 409, "no hold in force on this user")


async def test_levels_of_trust_are_set_and_shown(operating: Operating) -> None:
    await operating.done("POST", "/tenants", {"id": "trusting"})
    assert (await operating.done("GET", "/trust", tenant="trusting"))["version"] == 0
    levels = {"tool:*": "untrusted", "app:crm": "trusted"}
    made = await operating.done("POST", "/trust", {"tenant": "trusting", "sources": levels})
    assert (made["sources"], made["is_applied"], made["entities_from"]) == (levels, False, "normal")
    await operating.done("POST", "/trust", {"tenant": "trusting", "sources": {"app:crm": None}, "entities_from": "untrusted"})
    shown = await operating.done("GET", "/trust", tenant="trusting")
    assert (shown["sources"], shown["entities_from"]) == ({"tool:*": "untrusted"}, "untrusted")
    assert shown["version"] > made["version"]
    assert (await operating.done("GET", "/tenants/trusting"))["trust"]["sources"] == {"tool:*": "untrusted"}
    for wrong in ({"browser": "untrusted"}, {"tool:x": "evil"}):
        expect_problem(await operating.ask("POST", "/trust", {"tenant": "trusting", "sources": wrong}), 422, "sources")
    expect_problem(await operating.ask("POST", "/trust", {"tenant": "trusting"}, role="operator"), 403, "admin")
    expect_problem(await operating.ask("GET", "/trust", tenant="nobody"), 404, "no tenant")


async def test_tenants_are_listed_page_by_page(operating: Operating) -> None:
    for name in ("page-1", "page-2", "page-3"):
        await operating.done("POST", "/tenants", {"id": name})
    found, after = [], "page"
    while after is not None:
        page = await operating.done("GET", "/tenants", after=after, limit=2)
        assert len(page["tenants"]) <= 2
        found += [each["id"] for each in page["tenants"] if each["id"].startswith("page-")]
        after = page["next"]
    assert found == ["page-1", "page-2", "page-3"]
    named = await operating.done("GET", "/tenants", contains="AGE-", after="page-1", limit=1)
    assert ([each["id"] for each in named["tenants"]], named["next"], named["total"]) == (["page-2"], "page-2", 3)
    assert await operating.done("GET", "/tenants", contains="no such") == {"tenants": [], "next": None, "total": 0}


async def test_keys_are_created_rotated_and_revoked(operating: Operating) -> None:
    await operating.done("POST", "/tenants", {"id": "keyed"})
    made = await operating.done("POST", "/keys", {"tenant": "keyed", "label": "app", "scopes": ["operate", "recall", "recall"]})
    (key,) = [each for each in (await operating.done("GET", "/keys", tenant="keyed"))["keys"] if each["id"] == made["id"]]
    assert (key["label"], key["scopes"], key["user"], key["expires"]) == ("app", ["recall", "operate"], None, None)
    assert hash_key(made["key"]) not in str(key)
    assert (key["last_used"], (await operating.done("GET", "/keys", tenant="keyed"))["uses_known"]) == (None, False), "there is no Redis"
    turned = await operating.done("POST", f"/keys/{made['id']}/rotate", {"tenant": "keyed", "overlap_s": 0})
    assert [await opens(operating, each["key"]) for each in (made, turned)] == [401, 200]
    began = time.monotonic()
    taken = await operating.done("DELETE", f"/keys/{turned['id']}", tenant="keyed")
    assert (taken["changed"], taken["settled"]) == (True, True)
    assert time.monotonic() - began >= LEASE_S, "by then even a process that has lost Kafka takes it no more"
    assert await opens(operating, turned["key"]) == 401
    expect_problem(await operating.ask("DELETE", f"/keys/{turned['id']}", tenant="keyed"), 409, "has no key")
    expect_problem(await operating.ask("POST", "/keys", {"tenant": "nobody"}), 404, "no tenant")
    expect_problem(await operating.ask("POST", "/keys", {"tenant": "keyed", "expires": "2020-01-01T00:00:00Z"}), 409, "cannot expire")


async def test_a_role_allows_only_its_own_operations(operating: Operating) -> None:
    made = await operating.done("POST", "/operators", {"label": "eve", "role": "viewer"})
    assert {"id": made["id"], "label": "eve", "role": "viewer"}.items() <= (await operating.done("GET", "/operators"))["keys"][-1].items()
    reads = (
        "/tenants",
        "/tenants/first",
        "/operators",
        "/schemas",
        "/schemas/companion",
        "/methods",
        "/methods/memgpt",
        "/control",
        "/export",
        "/audit",
        "/audit/verify",
    )
    for path in reads:
        assert (await operating.ask("GET", path, role="viewer")).status_code == 200, path
        assert (await operating.ask("GET", path, role="tenant")).status_code == 401, path
    writes: tuple[tuple[str, str, Any], ...] = (
        ("POST", "/tenants", {"id": "no"}),
        ("PATCH", "/tenants/first", {"weight": 9}),
        ("DELETE", "/tenants/first", None),
        ("POST", "/keys", {"tenant": "first"}),
        ("POST", "/operators", {}),
        ("DELETE", f"/operators/{made['id']}", None),
        ("POST", "/schemas", {"content": {}}),
        ("POST", "/generations", {"tenant": "first", "name": "v2"}),
        ("POST", "/generations/switch", {"tenant": "first", "name": "-"}),
        ("POST", "/generations/drop", {"tenant": "first", "name": "v2"}),
        ("POST", "/signing", {"tenant": "first", "required": True}),
        ("POST", "/apply", {}),
    )
    before = (await read_control(operating.settings)).position
    for method, path, body in writes:
        for role in ("viewer", "operator"):
            expect_problem(await operating.ask(method, path, body, role=role), 403, "needs the role admin")
        assert (await operating.ask(method, path, body, role="tenant")).status_code == 401
    assert (await read_control(operating.settings)).position == before
    await operating.done("DELETE", f"/operators/{made['id']}", settle=False)
    assert made["id"] not in str((await operating.done("GET", "/operators"))["keys"])


async def test_concurrent_changes_are_all_applied(operating: Operating) -> None:
    names = [f"at-once-{number}" for number in range(20)]
    made = await asyncio.gather(*(operating.done("POST", "/tenants", {"id": name}) for name in names))
    assert len({each["position"] for each in made}) == len(names)
    assert {await opens(operating, each["key"]) for each in made} == {200}
    assert (await read_control(operating.settings)).tenants.keys() >= set(names)
    assert (await operating.done("GET", "/audit/verify"))["problems"] == []


async def test_a_file_is_applied_and_written(operating: Operating) -> None:
    written = await operating.done("GET", "/export")
    same = await operating.done("POST", "/apply", written)
    assert (same["changed"], same["documents"], same["differences"]) == (False, 0, [])
    for each in written["tenants"]:
        if each["id"] == "first":
            each["weight"] = 4.0
    tried = await operating.done("POST", "/apply", written, dry_run=True)
    assert (tried["changed"], tried["differences"]) == (False, ["tenant/first weight: 1.0 -> 4.0"])
    assert (await operating.done("GET", "/tenants/first"))["weight"] == 1.0
    applied = await operating.done("POST", "/apply", written, settle=False)
    assert (applied["changed"], applied["documents"]) == (True, 1)
    assert (await operating.done("GET", "/tenants/first"))["weight"] == 4.0
    written["tenants"].append({"id": "of-a-file", "schema": "/etc/hostname"})
    expect_problem(await operating.ask("POST", "/apply", written), 409, "there is no schema '/etc/hostname'")


async def test_unlisted_tenants_stay_unless_pruned(operating: Operating) -> None:
    await operating.done("POST", "/tenants", {"id": "unlisted"})
    written = await operating.done("GET", "/export")
    written["tenants"] = [each for each in written["tenants"] if each["id"] != "unlisted"]
    kept = await operating.done("POST", "/apply", written)
    assert (kept["changed"], kept["differences"]) == (False, [])
    tried = await operating.done("POST", "/apply", written, prune=True, dry_run=True)
    assert 'tenant/unlisted state: "active" -> "removed"' in tried["differences"]
    assert (await operating.done("GET", "/tenants/unlisted"))["state"] == "active"
    await operating.done("POST", "/apply", written, prune=True, settle=False)
    expect_problem(await operating.ask("GET", "/tenants/unlisted"), 404, "there is no tenant 'unlisted'")


async def test_schemas_and_generations_are_written(operating: Operating) -> None:
    content = {**to_json(scenario("meetings")), "Name": "of-http"}
    assert (await operating.done("POST", "/schemas", {"content": content}))["schema"] == "of-http@1"
    assert not (await operating.done("POST", "/schemas", {"content": content}))["changed"]
    assert (await operating.done("POST", "/schemas", {"content": {**content, "Description": "Another."}}))["schema"] == "of-http@2"
    shown = await operating.done("GET", "/schemas/of-http@1")
    assert (shown["schema"], shown["content"]) == ("of-http@1", content)
    newest = (await operating.ask("GET", "/schemas/of-http")).headers["ETag"]

    async def put(description: str, if_match: str) -> httpx.Response:
        headers = {"X-API-Key": operating.keys["admin"], "If-Match": if_match}
        return await operating.http.post(f"{ADMIN}/schemas", json={"content": {**content, "Description": description}}, headers=headers)

    answers = await asyncio.gather(put("One.", newest), put("Two.", newest))
    assert sorted(each.status_code for each in answers) == [200, 412], "both were made for the same revision"
    expect_problem(await put("Three.", '"0"'), 412, "of-http@3")
    expect_problem(await operating.ask("GET", "/schemas/of-http@9"), 404, "no schema")
    expect_problem(await operating.ask("POST", "/schemas", {"content": {"EventTypes": 3}}), 422, "EventTypes")
    await operating.done("POST", "/generations", {"tenant": "first", "name": "v2", "schema": "of-http@1"})
    assert (await operating.done("GET", "/generations", tenant="first"))["generations"] == [
        {"name": "", "schema": "companion@1", "method": "vikingmem", "live": True},
        {"name": "v2", "schema": "of-http@1", "method": "vikingmem", "live": False},
    ]
    refs = {each["schema"]: each["tenants"] for each in (await operating.done("GET", "/schemas"))["schemas"]}
    assert refs["of-http@1"] == refs["of-http@2"] == 0


async def test_methods_are_listed_and_selected(operating: Operating) -> None:
    methods = {each["method"]: each for each in (await operating.done("GET", "/methods"))["methods"]}
    assert tuple(methods) == method_names()
    assert (methods["memgpt"]["event_types"], methods["memgpt"]["retrievers"]) == (["turn"], ["keywords", "recent"])
    assert (await operating.done("GET", "/methods/memgpt"))["content"] == method_document("memgpt")
    expect_problem(await operating.ask("GET", "/methods/memgtp"), 404, "did you mean 'memgpt'")
    await operating.done("POST", "/tenants", {"id": "methodical", "method": "memgpt"})
    shown = await operating.done("GET", "/tenants/methodical")
    assert (shown["schema"], shown["method"]) == ("companion+memgpt@1", "memgpt")
    assert (await operating.done("GET", "/schemas/companion+memgpt@1"))["content"]["Method"]["Method"] == "memgpt"
    await operating.done("POST", "/generations", {"tenant": "methodical", "name": "topics", "method": "memochat"})
    generations = (await operating.done("GET", "/generations", tenant="methodical"))["generations"]
    assert [(each["name"], each["method"], each["live"]) for each in generations] == [("", "memgpt", True), ("topics", "memochat", False)]
    await operating.done("PATCH", "/tenants/methodical", {"method": "vikingmem"})
    assert (await operating.done("GET", "/tenants/methodical"))["schema"] == "companion@1"
    expect_problem(await operating.ask("PATCH", "/tenants/methodical", {"method": "magic"}), 409, "there is no memory method 'magic'")
    expect_problem(await operating.ask("POST", "/tenants", {"id": "none", "method": ""}), 422, "method")


async def test_a_generation_is_switched_to_and_dropped(operating: Operating) -> None:
    settings = operating.settings
    await operating.done("POST", "/tenants", {"id": "aging", "schema": "agent_tools"})
    await operating.done("POST", "/generations", {"tenant": "aging", "name": "v2"})
    extracted = [extraction(window, [("search", 0)], tenant="aging") for window in range(2)]
    again = extraction(0, [("search", 0)], tenant="aging", generation="v2")
    await produce(settings, *extracted, again)
    new, first = {"tenant": "aging", "name": "v2"}, {"tenant": "aging", "name": "-"}
    expect_problem(await operating.ask("POST", "/generations/switch", new), 409, "only the live generation has 1 window of tenant aging")
    expect_problem(await operating.ask("POST", "/generations/drop", first), 409, "is live")
    switched = await operating.done("POST", "/generations/switch", {**new, "incomplete": True}, settle=False)
    assert (switched["changed"], switched["settled"], switched["windows_left"]) == (True, False, 0)
    assert [each["live"] for each in (await operating.done("GET", "/generations", tenant="aging"))["generations"]] == [False, True]
    assert not (await operating.done("POST", "/generations/switch", new, settle=False))["changed"], "that it is live already is all it says"
    dropped = await operating.done("POST", "/generations/drop", first)
    assert (dropped["changed"], dropped["settled"], dropped["drops"], dropped["retracted"]) == (True, False, 1, 2)
    assert (await operating.done("POST", "/generations/drop", first))["retracted"] == 0
    records = [each async for each in read_topic(settings.topic("extractions"), settings.kafka)]
    assert sum((KIND, GENERATION_DROP) in each.headers for each in records) == 2 * settings.kafka.partitions
    last = [Extraction.from_json(each.value or b"") for each in records if (KIND, GENERATION_DROP) not in each.headers][-2:]
    assert {(each.window_id, each.generation, len(each.events), each.drops) for each in last} == {
        (each.window_id, "", 0, 1) for each in extracted
    }
    actions = [each["action"] for each in (await operating.done("GET", "/audit", subject="tenant/aging"))["records"]]
    assert actions == ["tenant add", "generation add", "generation switch", "generation drop", "generation drop"]
    for path in ("/generations/switch", "/generations/drop"):
        expect_problem(await operating.ask("POST", path, {"tenant": "nobody", "name": "-"}), 404, "no tenant")
        expect_problem(await operating.ask("POST", path, {"tenant": "aging", "name": "no/name"}), 422, "name")
    unknown = {"tenant": "aging", "name": "v9", "incomplete": True}
    expect_problem(await operating.ask("POST", "/generations/switch", unknown), 409, "has no generation")


async def test_a_generation_in_the_making_is_not_dropped(operating: Operating) -> None:
    settings = operating.settings
    await operating.done("POST", "/tenants", {"id": "making"})
    await operating.done("POST", "/generations", {"tenant": "making", "name": "v3"})
    worker = AIOKafkaConsumer(settings.topic("windows"), **client_options(settings.kafka), group_id=workers_of(settings, "v3"))
    await worker.start()
    try:
        expect_problem(await operating.ask("POST", "/generations/drop", {"tenant": "making", "name": "v3"}), 409, "workers are running in")
    finally:
        await worker.stop()
    assert (await read_control(settings)).tenants["making"].drops_of("v3") == 0


async def produce(settings: Settings, *extractions: Extraction) -> None:
    async with Producer(kafka=settings.kafka) as producer:
        topic = settings.topic("extractions")
        await producer.send_many([OutgoingRecord(topic, encode_key(each.tenant, each.user), each.to_json()) for each in extractions])


async def test_a_tenants_own_schema_is_hidden_from_others(operating: Operating) -> None:
    keys = {name: (await operating.done("POST", "/tenants", {"id": name}))["key"] for name in ("owner", "other")}
    content = {**to_json(scenario("meetings")), "Name": "secret"}
    assert (await operating.done("POST", "/schemas", {"content": content, "tenant": "owner"}))["schema"] == "secret@1"
    await operating.done("PATCH", "/tenants/owner", {"schema": "secret"})
    expect_problem(await operating.ask("PATCH", "/tenants/other", {"schema": "secret"}), 409, "there is no schema secret@1")
    expect_problem(await operating.ask("POST", "/schemas", {"content": content, "tenant": "other"}), 409, "does not belong to tenant")
    seen = {}
    for name, key in keys.items():
        listed = (await operating.http.get("/v1/schemas", headers={"X-API-Key": key}, params={"limit": 1000})).json()["schemas"]
        seen[name] = {each["schema"]: (each["own"], each["in_force"]) for each in listed}
        shown = await operating.http.get("/v1/schemas/secret", headers={"X-API-Key": key})
        assert shown.status_code == (200 if name == "owner" else 404)
        assert (await operating.http.get("/v1/schemas/companion@1", headers={"X-API-Key": key})).status_code == 200
    assert seen["owner"]["secret@1"] == (True, True)
    assert seen["other"]["companion@1"] == (False, True)
    assert "secret@1" not in seen["other"]


async def test_a_change_returns_its_position(operating: Operating) -> None:
    made = await operating.done("POST", "/tenants", {"id": "placed"})
    place = await operating.done("GET", "/control", position=made["position"])
    assert place["position"] >= made["position"]
    assert place["lease_s"] == LEASE_S
    assert place["reached"]
    assert not (await operating.done("GET", "/control", position=made["position"] + 1000, wait_s=0.1))["reached"]
    audit_page = await operating.done("GET", "/audit", subject="tenant/placed")
    (record,) = audit_page["records"]
    (admin,) = [each for each in (await read_control(operating.settings)).operators.keys if each.hash == hash_key(operating.keys["admin"])]
    assert (record["action"], record["by"], record["before"], audit_page["total"]) == ("tenant add", f"operator {admin.id}", None, 1)
    check, _ = await read_audit(operating.settings)
    verdict = await operating.done("GET", "/audit/verify", expect=check.digest)
    assert (verdict["digest"], verdict["problems"]) == (check.digest, [])
    assert "was not found" in (await operating.done("GET", "/audit/verify", expect="0" * 63))["problems"][0]
