"""The requests that a tenant may have in progress."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Any, Final

import httpx
import pytest
import pytest_asyncio

from api.limits.requests_in_progress import RequestsInProgress
from api.problems import ProblemError
from tests.api.running_service import RunningService, expect_problem, serving

MOST: Final = 3


def test_each_tenant_has_its_own_count() -> None:
    requests = RequestsInProgress(most=1)
    with requests.one_of("acme"):
        with pytest.raises(ProblemError, match="1 requests of the tenant are in progress"), requests.one_of("acme"):
            pass
        with requests.one_of("umbrella"):
            pass
    with requests.one_of("acme"):
        pass


def test_a_failed_request_is_not_in_progress() -> None:
    requests = RequestsInProgress(most=1)
    for _ in range(2):
        with pytest.raises(LookupError), requests.one_of("acme"):
            raise LookupError


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(service: RunningService) -> AsyncIterator[httpx.AsyncClient]:
    limited = service.settings.service.model_copy(update={"max_requests_of_tenant": MOST})
    async with serving(service.settings.model_copy(update={"service": limited})) as http:
        yield http


@pytest.mark.integration
@pytest.mark.asyncio(loop_scope="module")
async def test_waiting_recalls_leave_room_for_other_tenants(service: RunningService, http: httpx.AsyncClient) -> None:
    position = {"topic": service.settings.topic("messages"), "partition": 0, "offset": 2**40}
    body = {"query": "tea", "session": "s", "deadline_ms": 4000, "after": {"id": "never", "position": position}}

    def recall(tenant: str, body: dict[str, Any]) -> Awaitable[httpx.Response]:
        return http.post("/v1/recall", json=body, headers=service.auth(tenant))

    assert (await recall("acme", {"query": "tea"})).status_code == 200
    waiting = [asyncio.ensure_future(recall("acme", body)) for _ in range(2 * MOST)]
    refused, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    problem = expect_problem(refused.pop().result(), 429, f"{MOST} requests of the tenant are in progress")
    assert problem["type"] == "urn:varve:problem:too-many-requests"
    assert (await recall("umbrella", {"query": "tea"})).status_code == 200
    answers = [each.status_code for each in await asyncio.gather(*waiting)]
    assert sorted(answers) == [200] * MOST + [429] * MOST
    assert (await recall("acme", {"query": "tea"})).status_code == 200
