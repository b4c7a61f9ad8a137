"""The operators' routes, which only an operator's key opens."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from asgi_lifespan import LifespanManager
from starlette.requests import Request
from starlette.types import Message

from api.app import create_app
from api.limits.admission import TOPIC_RESULTS, Admission
from memory.keys import encode_key
from runtime.kafka import Producer, create_topics, read_topic
from runtime.settings import ServiceSettings, Settings, StoreSettings
from streams.engine.failures.dead_letters import SMALLEST_LIMIT as LIMIT
from streams.engine.failures.dead_letters import dead_letter
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Rejection
from tests.api.running_service import InProcessTransport, bearer
from tests.control_log import add_operator, add_tenant, known_tenants
from tests.one_broker import one_broker

pytestmark = pytest.mark.integration

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
PATH = "/v1/admin/dead-letters"
OWN_PATH = "/v1/dead-letters"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorClient:
    """A running service with two tenants' dead letters."""

    settings: Settings
    http: httpx.AsyncClient
    admission: Admission
    tenant_key: str
    places: dict[str, str]


@pytest.fixture
async def operator(kafka: str, redis_url: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[OperatorClient]:
    settings = Settings(
        data=tmp_path,
        kafka=one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2),
        store=StoreSettings(socket=tmp_path / "nobody"),
        service=ServiceSettings(read_queue_timeout_s=0.2),
    )
    settings = settings.model_copy(update={"redis": settings.redis.model_copy(update={"url": redis_url})})
    await create_topics(settings)
    tenant_key = await add_tenant(settings, "acme", schema="companion")
    admin_key = await add_operator(settings)
    async with Producer(kafka=settings.kafka) as producer:
        places = {tenant: await _refuse(settings, producer, tenant) for tenant in ("acme", "umbrella")}
    async with (
        LifespanManager(app := create_app(settings), startup_timeout=60) as manager,
        httpx.AsyncClient(transport=InProcessTransport(app=manager.app), base_url="http://varve", headers=bearer(admin_key)) as http,
    ):
        admission = app.state.dependencies.admission
        yield OperatorClient(settings=settings, http=http, admission=admission, tenant_key=tenant_key, places=places)


async def _refuse(settings: Settings, producer: Producer, tenant: str) -> str:
    key, value = encode_key(tenant, "s"), b"\xff"
    position = await producer.send(settings.topic("messages"), key=key, value=value)
    source = ConsumedRecord(settings.topic("messages"), position.partition, position.offset, key, value, (), 0.0)
    (letter,) = dead_letter(
        settings.topic("dead-letters"),
        Rejection(source, "malformed", "not JSON"),
        limit=LIMIT,
        stage="sessions",
        attempts=1,
        first_attempt_at=NOON,
        last_attempt_at=NOON,
    )
    place = await producer.send(letter.topic, key=key, value=value, headers=letter.headers)
    return f"{place.partition}/{place.offset}"


async def test_operators_list_show_redrive_and_purge(operator: OperatorClient) -> None:
    http, places = operator.http, operator.places
    listed = (await http.get(PATH)).json()
    assert {letter["place"]: letter["tenant"] for letter in listed["dead_letters"]} == {place: tenant for tenant, place in places.items()}
    only = (await http.get(PATH, params={"tenant": "acme", "stage": "sessions", "since": NOON.isoformat()})).json()
    assert [letter["place"] for letter in only["dead_letters"]] == [places["acme"]]
    shown = (await http.get(f"{PATH}/{places['acme']}")).json()
    assert (shown["value_base64"], shown["reason"], shown["state"]) == ("/w==", "malformed", "open")
    assert (await http.get(f"{PATH}/0/999")).status_code == 404

    assert (await http.post(f"{PATH}/redrive", json={})).status_code == 422
    driven = await http.post(f"{PATH}/redrive", json={"at": [places["acme"]]})
    assert driven.json() == {"redriven": 1, "superseded": 0, "refused": []}
    topic = operator.settings.topic("messages")
    assert len([record async for record in read_topic(topic, operator.settings.kafka) if record.key == encode_key("acme", "s")]) == 2
    assert (await http.get(PATH, params={"state": "redriven"})).json()["total"] == 1

    assert (await http.post(f"{PATH}/purge", json={"tenant": "umbrella"})).json() == {"purged": 1}
    assert (await http.post(f"{PATH}/purge", json={"all": True, "state": ["redriven"]})).json() == {"purged": 1}
    assert (await http.get(PATH, params={"state": ["open", "redriven"]})).json() == {"dead_letters": [], "total": 0}


async def test_tenants_and_operators_keys_open_only_their_routes(operator: OperatorClient) -> None:
    tenant = bearer(operator.tenant_key)
    for method, path in (("GET", PATH), ("GET", f"{PATH}/0/0"), ("POST", f"{PATH}/redrive"), ("POST", f"{PATH}/purge")):
        for headers in (tenant, {"Authorization": ""}):
            answer = await operator.http.request(method, path, headers=headers, json={"all": True} if method == "POST" else None)
            assert answer.status_code == 401, (method, path)
            assert "malformed" not in answer.text
    assert (await operator.http.post("/v1/recall", json={"query": "tea?"})).status_code == 401


async def test_a_tenant_handles_only_its_own_dead_letters(operator: OperatorClient) -> None:
    http, places = operator.http, operator.places
    tenant = bearer(operator.tenant_key)
    listed = (await http.get(OWN_PATH, headers=tenant)).json()
    assert ([letter["place"] for letter in listed["dead_letters"]], listed["total"]) == ([places["acme"]], 1)
    assert (await http.get(f"{OWN_PATH}/{places['acme']}", headers=tenant)).json()["value_base64"] == "/w=="
    assert (await http.get(f"{OWN_PATH}/{places['umbrella']}", headers=tenant)).status_code == 404

    assert (await http.post(f"{OWN_PATH}/purge", json={}, headers=tenant)).status_code == 422
    assert (await http.post(f"{OWN_PATH}/purge", json={"tenant": "umbrella"}, headers=tenant)).status_code == 422
    for command in ("redrive", "purge"):
        others = await http.post(f"{OWN_PATH}/{command}", json={"at": [places["umbrella"]]}, headers=tenant)
        assert not any(others.json().values()), "it has no letter there"
    driven = await http.post(f"{OWN_PATH}/redrive", json={"all": True}, headers=tenant)
    assert driven.json() == {"redriven": 1, "superseded": 0, "refused": []}
    assert (await http.post(f"{OWN_PATH}/purge", json={"all": True, "state": ["redriven"]}, headers=tenant)).json() == {"purged": 1}
    left = (await http.get(PATH, params={"state": ["open", "redriven"]})).json()
    assert [letter["place"] for letter in left["dead_letters"]] == [places["umbrella"]], "another's are as they were"


@asynccontextmanager
async def crowded(operator: OperatorClient) -> AsyncIterator[None]:
    """A service that admits only small reads."""

    async def stays() -> Message:
        await asyncio.Event().wait()
        return {}

    others = known_tenants({"flood": "companion", "quiet": "companion"})
    asked = Request({"type": "http"}, stays)
    async with (
        operator.admission.turn(asked, others.get("flood"), results=TOPIC_RESULTS),
        operator.admission.turn(asked, others.get("quiet")),
    ):
        assert (await operator.http.get("/v1/admin/tenants")).status_code == 200, "a small read is admitted"
        yield


async def test_reading_the_control_log_needs_a_large_turn(operator: OperatorClient) -> None:
    file = (await operator.http.get("/v1/admin/export")).json()

    async def statuses() -> dict[str, int]:
        asked = {each: await operator.http.get(f"/v1/admin/{each}") for each in ("export", "audit", "audit/verify")}
        asked["apply"] = await operator.http.post("/v1/admin/apply", params={"dry_run": True}, json=file)
        return {name: answer.status_code for name, answer in asked.items()}

    async with crowded(operator):
        assert set((refused := await statuses()).values()) == {429}, refused
    assert set((admitted := await statuses()).values()) == {200}, admitted


async def test_reading_all_dead_letters_needs_a_large_turn(operator: OperatorClient) -> None:
    tenant = bearer(operator.tenant_key)
    requests = [
        (method, f"{path}{rest}", headers)
        for path, headers in ((PATH, None), (OWN_PATH, tenant))
        for method, rest in (("GET", ""), ("GET", f"/{operator.places['acme']}"), ("POST", "/redrive"), ("POST", "/purge"))
    ]

    async def statuses() -> set[int]:
        body = {"stage": "sessions", "state": ["purged"]}
        return {
            (await operator.http.request(method, path, headers=headers, json=body if method == "POST" else None)).status_code
            for method, path, headers in requests
        }

    async with crowded(operator):
        assert await statuses() == {429}
    assert await statuses() == {200}


async def test_a_service_without_an_eraser_refuses_erasures(operator: OperatorClient) -> None:
    refused = await operator.http.post("/v1/admin/erasures", json={"tenant": "acme", "user": "ann"})
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:varve:problem:not-equipped")
    listed = await operator.http.get("/v1/admin/erasures", params={"tenant": "acme"})
    assert listed.json() == {"erasures": []}, "nothing was begun"


async def test_a_tenant_key_cannot_erase(operator: OperatorClient) -> None:
    headers = bearer(operator.tenant_key)
    refused = await operator.http.post("/v1/admin/erasures", json={"tenant": "acme", "user": "ann"}, headers=headers)
    assert refused.status_code in (401, 403)
