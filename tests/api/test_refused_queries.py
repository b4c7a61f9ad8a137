"""A recall whose query cannot be embedded or searched; on a real Kafka, Redis and Edge store, with a real embeddings endpoint."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from runtime.redis.session_tail import SessionView, TailUpdate, TailWindow
from runtime.settings import EmbeddingSettings
from tests.api.running_service import OSLO, RunningService, expect_problem, path_count, serving
from tests.embedding_endpoint import EmbeddingEndpoint, embedding_endpoint

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

PATHS = ("/v1/recall", "/v1/context")
REFUSED = {"query": "against all rules"}


@asynccontextmanager
async def embedding_elsewhere(service: RunningService) -> AsyncIterator[tuple[EmbeddingEndpoint, httpx.AsyncClient]]:
    async with embedding_endpoint() as endpoint:
        embedding = EmbeddingSettings(kind="openai", base_url=endpoint.url, model="any", dimension=2)
        async with serving(service.settings.model_copy(update={"embedding": embedding}), patience_s=0) as http:
            yield endpoint, http


async def expect_the_tail(service: RunningService, http: httpx.AsyncClient, outcome: str) -> None:
    before = {path: path_count(path, outcome) for path in ("memories", "entities")}
    await service.tail.write([TailUpdate("acme", "told", SessionView(open=TailWindow(0, (b'{"text":"hello"}',))), 0, 0)])
    body = {**REFUSED, "user": "ann", "session": "told", "why_not": [OSLO.id]}
    response = await http.post("/v1/recall", json=body, headers=service.auth("acme"))
    assert response.status_code == 200, response.text
    answer = response.json()
    assert (answer["results"], answer["entities"], answer["degraded"]) == ([], [], ["memories", "entities"])
    assert answer["why_not"] == [], "of what was not searched, nobody knows"
    assert answer["session"]["messages"][0]["message"] == {"text": "hello"}
    assert {path: path_count(path, outcome) - count for path, count in before.items()} == {"memories": 1, "entities": 1}


async def test_a_refused_query_is_the_callers_to_change(service: RunningService) -> None:
    async with embedding_elsewhere(service) as (endpoint, http):
        endpoint.refused = REFUSED["query"]
        for path in PATHS:
            for asked in (REFUSED, {**REFUSED, "user": "ann"}, {**REFUSED, "mode": "sift"}):
                problem = expect_problem(await http.post(path, json=asked, headers=service.auth("acme")), 422, "shorten or reword it")
                assert problem["type"] == "urn:varve:problem:query-refused"
                assert endpoint.url not in problem["detail"]
        await expect_the_tail(service, http, "refused")


async def test_a_wrong_key_is_the_operators_to_mend(service: RunningService) -> None:
    async with embedding_elsewhere(service) as (endpoint, http):
        endpoint.status = 401
        for path in PATHS:
            refused = await http.post(path, json=REFUSED, headers=service.auth("acme"))
            expect_problem(refused, 503, "an operator has to correct it")
            assert int(refused.headers["retry-after"]) > 0
        await expect_the_tail(service, http, "failed")


async def test_another_models_store_is_the_operators_to_mend(service: RunningService) -> None:
    async with embedding_elsewhere(service) as (_, http):
        expect_problem(await http.post("/v1/recall", json=REFUSED, headers=service.auth("acme")), 503, "an operator has to correct it")
        await expect_the_tail(service, http, "failed")
