"""Edge values of every field of every operation are accepted, or refused with a problem that names the field. Never a defect."""

import asyncio
import re
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import httpx
import pytest

from api.http.request_body import MAX_BYTES
from api.problems import MEDIA_TYPE
from control.access_keys import SCOPES
from runtime.kafka import create_topics
from runtime.settings import Settings, StoreSettings
from tests.api import api_document
from tests.api.edge_values import DIGITS, TOO_LONG, Field, body_with, edge_values, example, fields_of
from tests.api.running_service import ENTITY_KEY, MEMORIES, OSLO, bearer, index
from tests.api.service_process import ServiceProcess, service_process
from tests.control_log import add_key, add_operator, add_tenant
from tests.one_broker import one_broker
from tests.stores.edge_owner_process import EdgeOwnerProcess

DOCUMENT: Final = api_document.PATHS
TIMEOUT_S: Final = 20.0
"""Time limit of one request; a longer one hangs."""

PATHS: Final = {
    "memory_id": OSLO.id,
    "entity_type": "training_log",
    "entity_key": "ann/swimming",
    "tenant": "edges",
    "generation": "v2",
    "partition": "0",
    "offset": "0",
}
QUERIES: Final = {
    "/v1/messages/{session}/{message_id}": {"user": "ann"},
    "/v1/admin/control": {"wait_s": "0"},
    "/v1/admin/apply": {"dry_run": "true"},
    "/v1/admin/keys": {"tenant": "edges"},
    "/v1/admin/keys/{key_id}": {"tenant": "edges"},
    "/v1/admin/generations": {"tenant": "edges"},
    "/v1/admin/holds": {"tenant": "edges"},
    "/v1/admin/trust": {"tenant": "edges"},
    "/v1/admin/reads": {"tenant": "edges", "user": "ann"},
    "/v1/admin/webhooks/{webhook_id}": {"tenant": "edges"},
    "/v1/admin/webhooks/{webhook_id}/dead-letters": {"tenant": "edges"},
    "/v1/blocks/{entity_type}/{property}": {"user": "ann"},
}
"""Fields that a request needs, or that keep it from waiting and from changing the calling tenants."""
BODIES: Final[dict[str, dict[str, Any]]] = {
    "/v1/recall": {"query": "tea", "session": "s", "deadline_ms": 200},
    "/v1/context": {"query": "tea", "session": "s", "deadline_ms": 200},
    "/v1/feedback": {"useful": ["m"]},
    "/v1/messages": {"text": "tea"},
    "/v1/messages/{session}/{message_id}": {"user": "ann", "text": "tea"},
    **{f"/v1/admin/{name}": {"tenant": "edges"} for name in ("keys", "signing", "generations", "generations/switch", "generations/drop")},
    "/v1/admin/keys/{key_id}/rotate": {"tenant": "edges"},
    "/v1/admin/holds": {"tenant": "edges", "reason": "case 17"},
    "/v1/admin/reextractions/estimate": {"tenants": ["edges"]},
    "/v1/admin/reextractions": {"tenants": ["edges"], "generation": "v2"},
    "/v1/admin/trust": {"tenant": "edges", "sources": {"tool:browser": "untrusted"}},
    "/v1/blocks/{entity_type}/{property}/edits": {"user": "ann", "tool": "append", "text": "tea"},
    "/v1/blocks/{entity_type}/{property}/edits/{edit}/undo": {"user": "ann"},
}
LARGE: Final = (
    "/v1/messages",
    "/v1/messages/{session}/{message_id}",
    "/v1/admin/schemas",
    "/v1/admin/apply",
)
ODD_SCHEMAS: Final = ("@1", f"{'x' * 257}@1")
"""Names that no schema can have."""
ODD_PATHS: Final = (
    *(f"/v1/{whose}schemas/{name}" for whose in ("", "admin/") for name in ODD_SCHEMAS),
    "/v1/entities%2Fuser_profile/ann",
    "/v1%2Fentities/user_profile/ann",
    "/v1/entities/user_profile%2Fann",
)
OF_THE_BODY: Final = (
    "the body is not JSON",
    "the body is nested too deeply",
    "the batch has",
    "the body has",
    "a message of",
    "a body may have",
    "a value of",
    "an event without source messages",
)
"""Problems of no single field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service in a separate process, and its keys."""

    process: ServiceProcess
    http: httpx.Client
    tenant_key: str
    operator_key: str

    def key_for(self, path: str) -> dict[str, str]:
        return bearer(self.operator_key if "/admin/" in path else self.tenant_key)


@pytest.fixture(scope="module")
def service(kafka: str, redis_url: str, edge_owner: EdgeOwnerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    prefix = f"t{uuid.uuid4().hex}."
    settings = Settings(kafka=one_broker(bootstrap=kafka, topic_prefix=prefix, partitions=2), store=StoreSettings(socket=edge_owner.socket))
    tenant_key, operator_key = asyncio.run(prepare(settings))
    variables = {
        "VARVE_KAFKA__BOOTSTRAP": kafka,
        "VARVE_KAFKA__TOPIC_PREFIX": prefix,
        "VARVE_KAFKA__PARTITIONS": "2",
        "VARVE_REDIS__URL": redis_url,
        "VARVE_REDIS__PREFIX": prefix,
        "VARVE_STORE__SOCKET": str(edge_owner.socket),
        "VARVE_SERVICE__PRODUCE_TIMEOUT_S": "60",
        "VARVE_SIGNING__SECRET": "5" * 64,
    }
    with (
        service_process(tmp_path_factory.mktemp("edges"), key=tenant_key, **variables) as process,
        httpx.Client(base_url=process.url, timeout=TIMEOUT_S) as http,
    ):
        yield Service(process=process, http=http, tenant_key=tenant_key, operator_key=operator_key)


def operations() -> Iterator[Any]:
    for path, methods in DOCUMENT.items():
        for method, operation in methods.items():
            if [*fields_of(operation)]:
                yield pytest.param(method, path, operation, id=f"{method} {path}")


@pytest.mark.integration
@pytest.mark.parametrize(("method", "path", "operation"), [*operations()])
def test_an_edge_value_is_accepted_or_named(service: Service, method: str, path: str, operation: dict[str, Any]) -> None:
    for field in fields_of(operation):
        for value in edge_values(field):
            try:
                response = send(service, method, path, operation, field, value)
            except httpx.TimeoutException:
                raise AssertionError(f"{field} {value[:60]}") from None
            shown_call = f"{field.where} {'.'.join(map(str, field.path))} = {value[:60]}: {response.status_code} {response.text[:300]}"
            assert response.status_code < 500, shown_call
            if response.status_code < 400:
                continue
            assert response.headers["content-type"] == MEDIA_TYPE, shown_call
            detail = response.json()["detail"]
            is_of_no_field = response.status_code in (404, 409) or detail.startswith(OF_THE_BODY)
            assert is_of_no_field or field.name in detail, shown_call


@pytest.mark.integration
@pytest.mark.parametrize("url", [f"/v1/memories/{TOO_LONG}", f"/v1/schemas?limit={DIGITS * 200}"], ids=["path", "query"])
def test_a_url_of_a_megabyte_is_refused(service: Service, url: str) -> None:
    # It closes the connection before it has read all that was sent, so that its answer may be lost on the way.
    with suppress(ConnectionError):
        answer = service.process.ask(f"GET {url} HTTP/1.1\r\nHost: varve\r\nX-API-Key: {service.tenant_key}\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 4")
    assert service.http.get("/healthz").status_code == 200


@pytest.mark.integration
@pytest.mark.parametrize(
    ("method", "path"), [(method, path) for path, methods in DOCUMENT.items() for method, each in methods.items() if "requestBody" in each]
)
def test_only_few_bodies_may_be_large(service: Service, method: str, path: str) -> None:
    names = {name: PATHS.get(name, "x") for name in re.findall(r"{(\w+)}", path)}
    content = b" " * (MAX_BYTES + 1)
    response = service.http.request(method.upper(), path.format(**names), content=content, headers=service.key_for(path))
    assert response.status_code == (422 if path in LARGE else 413), response.text[:300]


@pytest.mark.integration
@pytest.mark.parametrize("path", ODD_PATHS)
def test_an_odd_path_leads_nowhere(service: Service, path: str) -> None:
    response = service.http.get(path, headers=service.key_for(path))
    assert (response.status_code, response.headers["content-type"]) == (404, MEDIA_TYPE), response.text


@pytest.mark.integration
@pytest.mark.parametrize("schema", ODD_SCHEMAS)
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/admin/tenants", {"id": "odd"}),
        ("PATCH", "/v1/admin/tenants/edges", {}),
        ("POST", "/v1/admin/generations", {"tenant": "edges", "name": "odd"}),
    ],
)
def test_an_odd_schema_is_no_schema(service: Service, method: str, path: str, body: dict[str, str], schema: str) -> None:
    response = service.http.request(method, path, json={**body, "schema": schema}, headers=service.key_for(path))
    assert (response.status_code, response.json()["type"]) == (409, "urn:varve:problem:change-refused"), response.text


@pytest.mark.integration
def test_an_encoded_path_is_the_same_path(service: Service) -> None:
    key = service.key_for("/v1/entities")
    plain, encoded = [service.http.get(f"/v1/{each}/user_profile/{ENTITY_KEY}", headers=key) for each in ("entities", "%65ntities")]
    assert plain.status_code == 200, plain.text
    assert encoded.json() == plain.json()


@pytest.mark.integration
def test_the_service_raised_no_internal_error(service: Service) -> None:
    log = service.process.log.read_text()
    assert "Traceback" not in log, log[-3000:]
    assert "request_failed" not in log


def test_every_kind_of_edge_value_is_tested() -> None:
    fields = [field for methods in DOCUMENT.values() for operation in methods.values() for field in fields_of(operation)]
    kinds = {(field.where, field.schema.get("format") or field.schema.get("type")) for field in fields}
    assert kinds >= {(where, kind) for where in ("body", "query") for kind in ("date-time", "integer", "string", "array")}
    assert all([*edge_values(field)] for field in fields if field.schema.get("type") != "boolean")
    # A neighbour that is wrong itself would be named instead.
    assert all(re.search(field.schema.get("pattern", ""), str(example(field.schema))) for field in fields)


def send(service: Service, method: str, path: str, operation: dict[str, Any], field: Field, value: str) -> httpx.Response:
    names = {name: PATHS.get(name, "x") for name in (each["name"] for each in operation.get("parameters", ()) if each["in"] == "path")}
    known = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}
    queries = {name: text for name, text in QUERIES.get(path, {}).items() if name in known}
    if field.where == "path":
        names[field.name] = value
    if field.where == "query":
        queries[field.name] = value
    query = "&".join(f"{name}={text}" for name, text in queries.items())
    body = body_with(operation, field, value, BODIES.get(path, {})) if "requestBody" in operation else None
    return service.http.request(method.upper(), f"{path.format(**names)}?{query}", content=body, headers=service.key_for(path))


async def prepare(settings: Settings) -> tuple[str, str]:
    """Keys of a tenant and of an operator; the tenant `edges` is there to be changed."""
    await create_topics(settings)
    await index(settings, MEMORIES)
    await add_tenant(settings, "edges", schema="companion")
    await add_tenant(settings, "acme", schema="companion")
    return await add_key(settings, "acme", scopes=SCOPES), await add_operator(settings)
