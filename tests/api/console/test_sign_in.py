"""Sign-in to the console: what a browser's session opens, what ends it, and what other sites cannot do with it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.cookies import Morsel, SimpleCookie
from typing import Any

import httpx
import pytest
import pytest_asyncio

from control.access_keys import hash_key, key_id_of
from control.key_changes import revoke_key
from control.tenant_changes import set_tenant
from runtime.settings import ConsoleSettings, McpSettings, Mem0Settings
from tests.api.local_issuer import LocalIssuer, local_issuer
from tests.api.running_service import BERLIN, LIMA, OSLO, RunningService, bearer, expect_problem, serving, when_known
from tests.control_log import add_key, add_operator, add_tenant, write
from tests.streams.harness import until_true

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

SESSION = "/console/session"
QUESTION = {"query": "Where did Ann move?"}


@dataclass(frozen=True, slots=True)
class Browser:
    """A signed-in browser. It sends the cookie, and the token if it is asked to."""

    http: httpx.AsyncClient
    cookie: str
    csrf: str
    body: dict[str, Any]

    async def send(self, method: str, path: str, *, csrf: str | None = None, **more: Any) -> httpx.Response:
        headers = {"Cookie": self.cookie, **({} if csrf is None else {"X-CSRF-Token": csrf}), **more.pop("headers", {})}
        return await self.http.request(method, path, headers=headers, **more)

    async def post(self, path: str, body: Any) -> httpx.Response:
        return await self.send("POST", path, csrf=self.csrf, json=body)


def cookie_of(response: httpx.Response) -> Morsel[str]:
    (cookie,) = SimpleCookie(response.headers["set-cookie"]).values()
    return cookie


async def signed_in(http: httpx.AsyncClient, key: str, **headers: str) -> Browser:
    response = await http.post(SESSION, json={"api_key": key}, headers=headers)
    assert response.status_code == 200, response.text
    cookie, body = cookie_of(response), response.json()
    http.cookies.clear()
    return Browser(http, f"{cookie.key}={cookie.value}", body["csrf_token"], body)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def issuer() -> AsyncIterator[LocalIssuer]:
    async with local_issuer() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(service: RunningService, issuer: LocalIssuer) -> AsyncIterator[httpx.AsyncClient]:
    groups = {
        "console": ConsoleSettings(enabled=True),
        "mcp": McpSettings(enabled=True),
        "mem0": Mem0Settings(enabled=True),
        "oidc": issuer.settings,
    }
    async with serving(service.settings.model_copy(update=groups)) as running:
        yield running


async def test_a_session_recalls_like_its_key(service: RunningService, http: httpx.AsyncClient) -> None:
    browser = await signed_in(http, service.keys["acme"])
    assert browser.body["principal"]["kind"] == "tenant"
    assert (browser.body["principal"]["tenant"], browser.body["principal"]["user"]) == ("acme", None)
    assert "recall" in browser.body["principal"]["scopes"]
    found = (await browser.post("/v1/recall", QUESTION)).json()["results"]
    with_key = await http.post("/v1/recall", json=QUESTION, headers=service.auth("acme"))
    assert [each["id"] for each in found] == [each["id"] for each in with_key.json()["results"]]
    shown = await browser.send("GET", SESSION)
    assert (shown.json()["principal"], shown.json()["csrf_token"]) == (browser.body["principal"], browser.csrf)
    assert shown.headers["cache-control"] == "no-store"


async def test_the_cookie_is_closed_to_scripts_and_sites(service: RunningService, http: httpx.AsyncClient) -> None:
    plain = await http.post(SESSION, json={"api_key": service.keys["acme"]})
    cookie = cookie_of(plain)
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["domain"]) == (True, "strict", "/", "")
    assert 0 < int(cookie["max-age"]) <= 43_200
    assert cookie["secure"] == ""
    assert service.keys["acme"] not in f"{plain.text} {plain.headers}"
    over_tls = await http.post(SESSION, json={"api_key": service.keys["acme"]}, headers={"X-Forwarded-Proto": "https"})
    assert cookie_of(over_tls).key.startswith("__Host-")
    assert cookie_of(over_tls)["secure"] is True
    assert "max-age" in over_tls.headers["strict-transport-security"]
    assert "strict-transport-security" not in plain.headers
    http.cookies.clear()


async def test_a_change_needs_the_csrf_token(service: RunningService, http: httpx.AsyncClient) -> None:
    browser, other = await signed_in(http, service.keys["acme"]), await signed_in(http, service.keys["acme"])
    assert browser.csrf != other.csrf
    for csrf in (None, "", "x", other.csrf, browser.csrf + "x", "é"):
        for method, path in (("POST", "/v1/recall"), ("PATCH", f"/v1/memories/{OSLO.id}"), ("DELETE", f"/v1/memories/{OSLO.id}")):
            given = [] if csrf is None else [(b"X-CSRF-Token", csrf.encode())]
            refused = await http.request(method, path, json=QUESTION, headers=[(b"Cookie", browser.cookie.encode()), *given])
            expect_problem(refused, 403, "X-CSRF-Token")
    assert (await browser.send("GET", f"/v1/memories/{OSLO.id}")).status_code == 200
    expect_problem(await browser.send("DELETE", SESSION, csrf=other.csrf), 403, "X-CSRF-Token")


async def test_sign_out_ends_the_session(service: RunningService, http: httpx.AsyncClient) -> None:
    browser, other = await signed_in(http, service.keys["acme"]), await signed_in(http, service.keys["acme"])
    signed_out = await browser.send("DELETE", SESSION, csrf=browser.csrf)
    assert signed_out.status_code == 204
    assert (cookie_of(signed_out).value, cookie_of(signed_out)["max-age"]) == ("", "0")
    expect_problem(await browser.send("GET", SESSION), 401, "signed in")
    expect_problem(await browser.send("GET", "/v1/status"), 401, "session of the console has ended")
    assert (await other.send("GET", "/v1/status")).status_code == 200


async def test_a_session_sees_only_its_tenant(service: RunningService, http: httpx.AsyncClient) -> None:
    acme, umbrella = await signed_in(http, service.keys["acme"]), await signed_in(http, service.keys["umbrella"])
    bob = await signed_in(http, service.keys["acme/bob"])
    assert bob.body["principal"]["user"] == "bob"
    for browser, own, others in ((acme, OSLO, LIMA), (umbrella, LIMA, OSLO), (bob, BERLIN, OSLO)):
        assert (await browser.send("GET", f"/v1/memories/{own.id}")).status_code == 200
        assert (await browser.send("GET", f"/v1/memories/{others.id}")).status_code == 404
        assert others.id not in (await browser.post("/v1/recall", QUESTION)).text
    for browser in (acme, umbrella, bob):
        assert (await browser.send("GET", "/v1/admin/tenants")).status_code == 401


async def test_a_header_takes_precedence_over_the_cookie(service: RunningService, http: httpx.AsyncClient) -> None:
    browser = await signed_in(http, service.keys["acme"])
    for header in (service.auth("umbrella"), {"X-API-Key": service.keys["umbrella"]}):
        status = await browser.send("GET", "/v1/status", headers=header)
        assert status.json()["tenant"] == "umbrella"
        recalled = await browser.send("POST", "/v1/recall", headers=header, json=QUESTION)
        assert recalled.status_code == 200, "a key in a header needs no token"
    expect_problem(await browser.send("GET", "/v1/status", headers=bearer("vk_wrong")), 401, "no tenant has this API key")
    expect_problem(await browser.send("GET", "/v1/status", headers={"Authorization": "Basic YTpi"}), 401, "send the tenant's API key")


async def test_a_session_opens_only_the_api(service: RunningService, http: httpx.AsyncClient) -> None:
    browser = await signed_in(http, service.keys["acme"])
    call = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    mcp = await browser.send("POST", "/mcp", csrf=browser.csrf, json=call, headers={"Accept": "application/json, text/event-stream"})
    assert mcp.status_code == 401
    assert (await browser.send("GET", "/mem0/v1/ping/", csrf=browser.csrf)).status_code == 401


async def test_a_revoked_key_ends_its_session(service: RunningService, http: httpx.AsyncClient) -> None:
    key = await add_key(service.settings, "acme")

    async def is_known() -> bool:
        return (await http.get("/v1/status", headers=bearer(key))).status_code == 200

    await until_true(is_known)
    browser = await signed_in(http, key)
    assert (await browser.send("GET", "/v1/status")).status_code == 200
    await write(service.settings, lambda draft: revoke_key(draft, "acme", key_id_of(hash_key(key))))

    async def is_refused() -> bool:
        return (await browser.send("GET", "/v1/status")).status_code == 401

    await until_true(is_refused)
    expect_problem(await browser.send("GET", SESSION), 401, "no tenant has this API key")
    expect_problem(await http.post(SESSION, json={"api_key": key}), 401, "no tenant has this API key")


async def test_another_process_knows_the_session(service: RunningService, http: httpx.AsyncClient) -> None:
    browser = await signed_in(http, service.keys["acme"])
    async with serving(service.settings.model_copy(update={"console": ConsoleSettings(enabled=True)})) as restarted:
        again = Browser(restarted, browser.cookie, browser.csrf, browser.body)
        assert (await again.post("/v1/recall", QUESTION)).status_code == 200


async def test_an_operators_session_opens_the_operators_routes(service: RunningService, http: httpx.AsyncClient) -> None:
    key = await add_operator(service.settings, role="viewer")

    async def is_known() -> bool:
        return (await http.get("/v1/admin/tenants", headers=bearer(key))).status_code == 200

    await until_true(is_known)
    browser = await signed_in(http, key)
    principal = browser.body["principal"]
    assert (principal["kind"], principal["tenant"], principal["role"]) == ("operator", None, "viewer")
    listed = await browser.send("GET", "/v1/admin/tenants")
    assert {each["id"] for each in listed.json()["tenants"]} >= {"acme", "umbrella"}
    assert (await browser.post("/v1/admin/dead-letters/redrive", {"all": True})).status_code == 403
    expect_problem(await browser.send("POST", "/v1/admin/schemas", json={}), 403, "X-CSRF-Token")
    assert (await browser.send("GET", f"/v1/memories/{OSLO.id}")).status_code == 401, "operators do not read tenants' memories"


async def test_a_token_signs_in_until_it_ends(http: httpx.AsyncClient, issuer: LocalIssuer) -> None:
    ends_at = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=5)
    browser = await signed_in(http, issuer.token(exp=int(ends_at.timestamp())))
    assert (browser.body["principal"]["tenant"], browser.body["principal"]["user"]) == ("acme", "ann")
    assert datetime.fromisoformat(browser.body["expires_at"]) == ends_at
    assert OSLO.id in (await browser.post("/v1/recall", QUESTION)).text
    expect_problem(await browser.send("POST", "/v1/recall", json=QUESTION), 403, "X-CSRF-Token")
    assert (await browser.send("DELETE", SESSION, csrf=browser.csrf)).status_code == 204
    expired = issuer.token(exp=1)
    expect_problem(await http.post(SESSION, json={"api_key": expired}), 401, "expired")
    ended = Browser(http, f"varve_console={expired}", "", {})
    expect_problem(await ended.send("GET", "/v1/status"), 401, "expired")
    long = issuer.token(groups=["x" * 100] * 40)
    expect_problem(await http.post(SESSION, json={"api_key": long}), 422, "fewer claims")


async def test_wrong_sign_ins_are_refused(service: RunningService, http: httpx.AsyncClient) -> None:
    suspended = await when_known(service, key := await add_tenant(service.settings, "gone", schema="companion"))
    await write(service.settings, lambda draft: set_tenant(draft, "gone", state="suspended"))

    async def is_suspended() -> bool:
        return (await http.get("/v1/status", headers=suspended)).status_code == 403

    await until_true(is_suspended)
    expect_problem(await http.post(SESSION, json={"api_key": key}), 403, "suspended")
    expect_problem(await http.post(SESSION, json={"api_key": "vk_wrong"}), 401, "no tenant has this API key")
    expect_problem(await http.post(SESSION, json={"api_key": ""}), 422, "api_key")
    expect_problem(await http.post(SESSION, json={"api_key": "vk_wrong", "tenant": "acme"}), 422, "tenant")
    expect_problem(await http.post(SESSION, json={"api_key": "x" * 20_000}), 413, "16384")
    own = {"api_key": service.keys["acme"]}
    expect_problem(await http.post(SESSION, json=own, headers={"Sec-Fetch-Site": "cross-site"}), 403, "only the pages of the console")
    expect_problem(await http.post(SESSION, json=own, headers={"Content-Type": "text/plain"}), 415, "application/json")
    nobody = await http.get(SESSION)
    expect_problem(nobody, 401, "signed in")
    assert "frame-ancestors 'none'" in nobody.headers["content-security-policy"]
    for cookie in ("varve_console=x", "varve_console=a.b.c", "varve_console=é", "varve_console="):
        for path in (SESSION, "/v1/status"):
            assert (await http.get(path, headers=[(b"Cookie", cookie.encode())])).status_code == 401


async def test_many_sign_ins_have_to_wait(service: RunningService, issuer: LocalIssuer) -> None:
    settings = service.settings.model_copy(update={"console": ConsoleSettings(enabled=True)})
    alone = settings.redis.model_copy(update={"prefix": f"{settings.redis.prefix}limits:"})
    async with serving(settings.model_copy(update={"redis": alone})) as http:
        answers = [await http.post(SESSION, json={"api_key": "vk_wrong"}) for _ in range(40)]
        assert [each.status_code for each in answers[:30]] == [401] * 30
        assert answers[-1].status_code == 429
        assert int(answers[-1].headers["retry-after"]) > 0
        assert (await http.post(SESSION, json={"api_key": service.keys["acme"]})).status_code == 200, "guesses keep no key's owner out"


async def test_the_key_is_in_no_log(
    service: RunningService, http: httpx.AsyncClient, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    browser = await signed_in(http, service.keys["acme"])
    await http.post(SESSION, json={"api_key": "vk_secret_but_wrong"})
    await browser.send("GET", "/v1/status")
    logged = caplog.text + "".join(capfd.readouterr())
    assert "console_signed_in" in logged
    for secret in (service.keys["acme"], "vk_secret_but_wrong", browser.cookie.partition("=")[2]):
        assert secret not in logged


async def test_nothing_is_served_unless_switched_on(service: RunningService, http: httpx.AsyncClient) -> None:
    browser = await signed_in(http, service.keys["acme"])
    for path in ("/console", "/console/", "/console/session", "/console/assets/index.js"):
        assert (await service.http.get(path)).status_code == 404
    assert (await service.http.post(SESSION, json={"api_key": service.keys["acme"]})).status_code == 404
    expect_problem(await service.http.get("/v1/status", headers={"Cookie": browser.cookie}), 401, "send the tenant's API key")
