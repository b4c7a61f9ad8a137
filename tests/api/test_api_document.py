"""The OpenAPI document against the service: whatever is sent, it answers what the document says, and never with a defect.

``VARVE_TEST_API_CASES`` says how many generated requests each operation gets (a run of some 3,000 in all: 70).
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from schemathesis import BaseSchema, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api.examples import EXAMPLES
from api.problems import MEDIA_TYPE
from api.response_models.recalls import MemoryView
from api.routes.messages import MessageBody
from memory.records import Memory, Message
from runtime.kafka import create_topics
from runtime.settings import Settings, StoreSettings
from tests.api import api_document
from tests.api.running_service import MEMORIES, bearer, index
from tests.control_log import add_operator, add_tenant
from tests.one_broker import one_broker
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.varve.varve_process import wait_until
from varve.embedded.ports import free_port

CASES: Final = int(os.environ.get("VARVE_TEST_API_CASES", "8"))
SERVE: Final = "from api.serve import serve; from runtime.settings import Settings; serve(Settings())"
CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
"""It does not check that a body of the document's form is accepted: the limits of `memory/records/limits.py` are stricter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service in a separate process."""

    url: str
    tenant_key: str
    operator_key: str
    log: Path

    def key_for(self, path: str) -> dict[str, str]:
        return bearer(self.operator_key if "/admin/" in path else self.tenant_key)


@pytest.fixture(scope="module")
def service(kafka: str, redis_url: str, edge_owner: EdgeOwnerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data = tmp_path_factory.mktemp("document")
    prefix, port = f"t{uuid.uuid4().hex}.", free_port()
    settings = Settings(
        data=data, kafka=one_broker(bootstrap=kafka, topic_prefix=prefix, partitions=2), store=StoreSettings(socket=edge_owner.socket)
    )
    asyncio.run(prepare(settings))
    environment = {
        **os.environ,
        "VARVE_DATA": str(data),
        "VARVE_KAFKA__BOOTSTRAP": kafka,
        "VARVE_KAFKA__TOPIC_PREFIX": prefix,
        "VARVE_KAFKA__PARTITIONS": "2",
        "VARVE_REDIS__URL": redis_url,
        "VARVE_REDIS__PREFIX": prefix,
        "VARVE_STORE__SOCKET": str(edge_owner.socket),
        "VARVE_SERVICE__PORT": str(port),
        "VARVE_SERVICE__PRODUCE_TIMEOUT_S": "60",
        "VARVE_SIGNING__SECRET": "5" * 64,
    }
    running = Service(
        url=f"http://127.0.0.1:{port}",
        tenant_key=asyncio.run(add_tenant(settings, "acme", schema="companion")),
        operator_key=asyncio.run(add_operator(settings)),
        log=data / "service.log",
    )
    with running.log.open("wb") as log:
        process = subprocess.Popen([sys.executable, "-c", SERVE], env=environment, stdout=log, stderr=log)
    try:
        wait_until(lambda: answers(running) or process.poll() is not None, seconds=120, failure=running.log.read_text)
        assert process.poll() is None, running.log.read_text()
        yield running
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def document(service: Service) -> BaseSchema:
    return schemathesis.openapi.from_url(f"{service.url}/openapi.json")


def operations() -> Iterator[Any]:
    for path, methods in api_document.PATHS.items():
        for method, operation in methods.items():
            yield pytest.param(method, path, operation, id=f"{method} {path}")


each_operation = pytest.mark.parametrize(("method", "path", "operation"), [*operations()])


# Hypothesis marks only tests that are decorated with `given` themselves, and `make properties` runs what has its mark.
@pytest.mark.hypothesis
@pytest.mark.integration
@pytest.mark.timeout(1800)
@each_operation
def test_every_answer_is_described_in_the_document(
    service: Service, document: BaseSchema, method: str, path: str, operation: dict[str, Any]
) -> None:
    described, key = document[path][method.upper()], service.key_for(path)
    cases = st.one_of(*(described.as_strategy(generation_mode=mode) for mode in GenerationMode))

    @given(cases)
    @examples(max_examples=CASES, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck), derandomize=True)
    def check(case: Any) -> None:
        if path.endswith("/apply"):
            # An empty file would remove the key that is asked with.
            case.query["dry_run"] = True
        if path.endswith("/control") and isinstance(case.query.get("position"), int):
            # The service would wait for a later one.
            case.query["position"] = min(case.query["position"], 1)
        response = case.call(headers=key, timeout=60)
        case.validate_response(response, checks=CHECKS, headers=key)
        assert "/v1/" not in path or case.call(timeout=60).status_code in {401, 404}, "without a key nothing is answered"

    check()


@pytest.mark.integration
def test_the_service_raised_no_internal_error(service: Service) -> None:
    log = service.log.read_text()
    assert "Traceback" not in log, log[-3000:]
    assert "request_failed" not in log


@each_operation
def test_every_refusal_is_declared_as_a_problem(method: str, path: str, operation: dict[str, Any]) -> None:
    statuses = {int(status): response for status, response in operation["responses"].items()}
    refusals = {status for status in statuses if status >= 400}
    assert refusals >= ({408, 500, 503} if path == "/healthz" else {401, 403, 408, 413, 422, 429, 500, 503})
    assert all(list(statuses[status]["content"]) == [MEDIA_TYPE] for status in refusals)
    assert all(statuses[status]["content"]["application/json"]["schema"] for status in statuses if status < 400)


@each_operation
def test_every_parameter_has_a_bound(method: str, path: str, operation: dict[str, Any]) -> None:
    for parameter in operation.get("parameters", ()):
        schema = parameter["schema"]
        for each in schema.get("anyOf", [schema]):
            is_bounded = {"maxLength", "maximum", "enum", "format", "maxItems"} & set(each) or each["type"] in ("null", "boolean")
            assert is_bounded or parameter["name"] == "Idempotency-Key", parameter


@each_operation
def test_every_operation_has_a_valid_example(method: str, path: str, operation: dict[str, Any]) -> None:
    contents = [operation["requestBody"]["content"]["application/json"]] if "requestBody" in operation else []
    success = min(status for status in operation["responses"] if status.startswith("2"))
    for content in (*contents, operation["responses"][success]["content"]["application/json"]):
        jsonschema_rs.validate(content["schema"], content["example"])


def test_operation_ids_are_unique_and_readable() -> None:
    ids = [operation["operationId"] for methods in api_document.PATHS.values() for operation in methods.values()]
    assert sorted(ids) == sorted(EXAMPLES)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)+", each) for each in ids)


def test_no_two_models_share_a_name() -> None:
    # Of two models with one name, each gets its module's name in front, in every generated client.
    assert [name for name in api_document.DOCUMENT["components"]["schemas"] if "__" in name] == []


def test_schemas_are_components() -> None:
    assert len(api_document.DOCUMENT["components"]["schemas"]) > 80
    text = json.dumps(api_document.DOCUMENT)
    assert "$defs" not in text
    assert len(text) < 490_000


def test_the_models_have_the_fields_of_the_records() -> None:
    own = {"schema_version", "tenant", "message_ids", "search_text"}
    assert MemoryView.model_fields.keys() == (Memory.model_fields.keys() - own) | {"evidence"}
    assert MessageBody.model_fields.keys() == (Message.model_fields.keys() - {"tenant"}) | {"content", "name", "tool_call_id"}


BOUNDED_BY_SIZE: Final = {"/v1/messages": "VARVE_SERVICE__MAX_BATCH", "/v1/admin/apply": "VARVE_SERVICE__MAX_BODY_BYTES"}
"""Bodies with lists whose bound is a setting, which is not known where the document is made."""


@each_operation
def test_every_list_of_a_body_has_a_bound(method: str, path: str, operation: dict[str, Any]) -> None:
    unbounded = [each for each in lists_in(operation.get("requestBody", {})) if not {"maxItems", "enum"} & set(each)]
    assert bool(unbounded) == (path in BOUNDED_BY_SIZE), unbounded


def lists_in(part: Any) -> Iterator[dict[str, Any]]:
    """The schemas of lists that are in a part of the document."""
    if isinstance(part, dict) and part.get("type") == "array":
        yield part
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from lists_in(each)


def answers(service: Service) -> bool:
    try:
        return httpx.get(f"{service.url}/healthz").status_code == 200
    except httpx.TransportError:
        return False


async def prepare(settings: Settings) -> None:
    await create_topics(settings)
    await index(settings, MEMORIES)
