"""``DELETE /v1/users/{user}`` and ``GET /v1/erasures/{subject}``: which keys may erase whom, and who sees a receipt."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from urllib.parse import quote

import httpx
import pytest

from api.composition import open_dependencies
from control.access_keys import SCOPES
from control.erasure import subject_of
from control.hold_changes import place_hold
from control.unfinished_erasures import UnfinishedErasures
from runtime.redis.client import GuardedRedis, open_redis
from stores.port import MemoryStore
from tests.api.running_service import RunningService, bearer, expect_problem, serving
from tests.control_log import add_key, write
from tests.waiting import until_async

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]


class NotingEraser:
    """Notes whom it is to erase; a test of the stages covers the real one."""

    def __init__(self) -> None:
        self.erased: list[tuple[str, list[str], str]] = []

    async def __call__(self, tenant: str, users: Sequence[str], *, by: str, store: MemoryStore, redis: GuardedRedis) -> None:
        self.erased.append((tenant, [*users], by))


@asynccontextmanager
async def erasing(service: RunningService, eraser: NotingEraser) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(service.settings, open_dependencies=lambda settings: open_dependencies(settings, eraser=eraser)) as http:
        yield http


async def test_a_key_needs_the_scope_erase(service: RunningService) -> None:
    for caller in ("acme", "acme/ann"):
        expect_problem(await service.http.delete("/v1/users/ann", headers=service.auth(caller)), 403, "lacks the scope erase")
        subject = subject_of("acme", "ann")
        expect_problem(await service.http.get(f"/v1/erasures/{subject}", headers=service.auth(caller)), 403, "lacks the scope erase")


async def test_a_process_without_an_eraser_refuses(service: RunningService) -> None:
    key = await add_key(service.settings, "acme", scopes=SCOPES)
    async with serving(service.settings) as http:
        expect_problem(await http.delete("/v1/users/erik", headers=bearer(key)), 409, "runs no erasures")
        subject = subject_of("acme", "erik")
        expect_problem(await http.get(f"/v1/erasures/{subject}", headers=bearer(key)), 404, "no erasure")


@pytest.mark.parametrize("user", ["erik", "erik/2", "Erik Ünal?", "e%2Frik"])
async def test_an_erasure_begins_and_is_shown(service: RunningService, user: str) -> None:
    key = bearer(await add_key(service.settings, "acme", scopes=("erase",), label="privacy"))
    eraser = NotingEraser()
    async with erasing(service, eraser) as http:
        begun = await http.delete(f"/v1/users/{quote(user, safe='')}", headers=key)
        assert begun.status_code == 202, begun.text
        assert (begun.json()["subject"], begun.json()["resumable"]) == (subject_of("acme", user), True)
        assert begun.headers["Location"] == begun.json()["location"] == f"/v1/erasures/{subject_of('acme', user)}"
        shown = await http.get(begun.headers["Location"], headers=key)
        assert (shown.status_code, shown.json()["subject"]) == (200, subject_of("acme", user))
        assert user not in shown.text
        expect_problem(await http.get(begun.headers["Location"], headers=service.auth("umbrella")), 403, "lacks")
        others = bearer(await add_key(service.settings, "umbrella", scopes=SCOPES))
        await known(http, others)
        expect_problem(await http.get(begun.headers["Location"], headers=others), 404, "no erasure")
    (by,) = [by for tenant, users, by in eraser.erased if (tenant, users) == ("acme", [user])]
    assert by.startswith("API key "), "who asked, without a label that may name the user"
    assert "privacy" not in by


async def test_a_hold_refuses_an_erasure_and_keeps_no_name(service: RunningService) -> None:
    key = bearer(await add_key(service.settings, "acme", scopes=SCOPES))
    await write(service.settings, lambda draft: place_hold(draft, "acme", "iris", at=datetime.now(UTC), by="counsel", reason="case 17"))
    eraser = NotingEraser()
    async with erasing(service, eraser) as http:
        await known(http, key)
        expect_problem(await http.delete("/v1/users/iris", headers=key), 409, "legal hold on the user is in force")
        refused = await http.delete("/v1/users/iris", headers=key)
        assert refused.json()["type"] == "urn:varve:problem:legal-hold"
        assert (await http.get(f"/v1/erasures/{subject_of('acme', 'iris')}", headers=key)).status_code == 404
    assert not any("iris" in users for _, users, _ in eraser.erased), "erasures that other tests have begun may be taken up"
    async with open_redis(service.settings.redis) as redis:
        assert [each.user for each in await UnfinishedErasures(redis=redis).every() if each.user == "iris"] == []


async def test_a_bound_key_erases_its_own_user_only(service: RunningService) -> None:
    bound = bearer(await add_key(service.settings, "acme", scopes=SCOPES, user="finn"))
    every = bearer(await add_key(service.settings, "acme", scopes=SCOPES))
    eraser = NotingEraser()
    async with erasing(service, eraser) as http:
        expect_problem(await http.delete("/v1/users/gina", headers=bound), 403, "another user")
        begun = await http.delete("/v1/users/finn", headers=bound)
        assert begun.status_code == 202, begun.text
        expect_problem(await http.get(begun.headers["Location"], headers=bound), 401, "no tenant has this API key")
        receipt = (await http.get(begun.headers["Location"], headers=every)).json()
        assert receipt["found"] == {"api_keys": 1}
        new_key = bearer(await add_key(service.settings, "acme", scopes=SCOPES, user="finn"))
        other = bearer(await add_key(service.settings, "acme", scopes=SCOPES, user="gina"))
        await known(http, new_key)
        await known(http, other)
        assert (await http.get(begun.headers["Location"], headers=new_key)).status_code == 200
        expect_problem(await http.get(begun.headers["Location"], headers=other), 404, "no erasure")
    erased = {name for _, users, _ in eraser.erased for name in users}
    assert "finn" in erased
    assert "gina" not in erased


async def known(http: httpx.AsyncClient, headers: dict[str, str]) -> None:
    """Returns once the service knows a new key."""
    await until_async(lambda: http.get("/v1/status", headers=headers), lambda answer: answer.status_code != 401)
