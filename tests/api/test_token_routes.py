"""Routes and ``/mcp`` with tokens of an identity provider, next to API keys."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from runtime.settings import McpSettings
from tests.api.local_issuer import LocalIssuer, local_issuer
from tests.api.running_service import BERLIN, CAT, OSLO, RunningService, bearer, expect_problem, serving
from tests.streams.harness import until_true

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

PUBLIC = "https://memory.example/mcp"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def issuer() -> AsyncIterator[LocalIssuer]:
    async with local_issuer() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(service: RunningService, issuer: LocalIssuer) -> AsyncIterator[httpx.AsyncClient]:
    oidc = issuer.settings.model_copy(update={"resource": PUBLIC})
    async with serving(service.settings.model_copy(update={"oidc": oidc, "mcp": McpSettings(enabled=True)})) as running:
        yield running


async def test_a_token_reads_only_its_user(service: RunningService, http: httpx.AsyncClient, issuer: LocalIssuer) -> None:
    anns = bearer(issuer.token())
    found = await http.post("/v1/recall", json={"query": "Where did Ann move?"}, headers=anns)
    assert {each["id"] for each in found.json()["results"]} >= {OSLO.id, CAT.id}
    assert BERLIN.id not in found.text
    expect_problem(await http.post("/v1/recall", json={"query": "x", "user": "bob"}, headers=anns), 403, "another user")
    expect_problem(await http.get(f"/v1/memories/{BERLIN.id}", headers=anns), 404, "no memory")
    status = (await http.get("/v1/status", headers=anns)).json()
    assert (status["tenant"], status["user"], status["scopes"]) == ("acme", "ann", ["recall"])
    assert (await http.get("/v1/status", headers=service.auth("acme"))).status_code == 200, "API keys stay valid"


async def test_a_token_has_only_its_rights(http: httpx.AsyncClient, issuer: LocalIssuer) -> None:
    message = {"session": "talk", "text": "I moved."}
    expect_problem(await http.post("/v1/messages", json=message, headers=bearer(issuer.token())), 403, "lacks the scope ingest")
    writes = bearer(issuer.token(scope="varve:ingest"))
    assert (await http.post("/v1/messages", json=message, headers=writes)).status_code == 200
    expect_problem(await http.post("/v1/recall", json={"query": "x"}, headers=writes), 403, "lacks the scope recall")
    expect_problem(await http.post("/v1/recall", json={"query": "x"}, headers=bearer(issuer.token(exp=1))), 401, "expired")
    unknown = bearer(issuer.token(tenant="nobody"))

    async def refused() -> bool:
        """The service may have to read the control log first: the tenant could be new."""
        return (await http.post("/v1/recall", json={"query": "x"}, headers=unknown)).status_code == 401

    await until_true(refused)
    expect_problem(await http.post("/v1/recall", json={"query": "x"}, headers=unknown), 401, "is not a tenant")
    expect_problem(await http.get("/v1/admin/tenants", headers=bearer(issuer.token(scope="varve:admin"))), 401, "not an operator's key")


async def test_mcp_names_the_issuer(http: httpx.AsyncClient, issuer: LocalIssuer) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accepts = {"Accept": "application/json, text/event-stream"}
    for headers in ({}, bearer(issuer.token(exp=1)), bearer("vk_wrong")):
        refused = await http.post("/mcp", json=ping, headers={**accepts, **headers})
        assert refused.status_code == 401
        metadata = 'Bearer resource_metadata="https://memory.example/.well-known/oauth-protected-resource/mcp"'
        assert refused.headers["WWW-Authenticate"] == metadata
    assert (await http.post("/mcp", json=ping, headers={**accepts, **bearer(issuer.token())})).status_code == 200
    for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"):
        published = (await http.get(path)).json()
        assert (published["resource"], published["authorization_servers"]) == (PUBLIC, [issuer.url])
        assert "varve:recall" in published["scopes_supported"]


async def test_nothing_is_published_without_an_issuer(service: RunningService, issuer: LocalIssuer) -> None:
    assert (await service.http.get("/.well-known/oauth-protected-resource")).status_code == 404
    expect_problem(await service.http.get("/v1/status", headers=bearer(issuer.token())), 401, "no tenant has this API key")
