"""The client of the query service, against a real HTTP server that refuses at first."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from aiohttp import web

from tests.http_server import serving_posts
from varve.client import BATCH_SIZE, MAX_ATTEMPTS, ServiceClient
from varve.errors import ServiceError


class Refusing:
    """Answers so many requests with a status and ``Retry-After``, and then that all is well."""

    def __init__(self, times: int, status: int, retry_after: str) -> None:
        self.times = times
        self.status = status
        self.retry_after = retry_after
        self.asked = 0

    async def answer(self, request: web.Request) -> web.Response:
        self.asked += 1
        if self.asked > self.times:
            return web.json_response({"results": [{"id": "m"}]})
        problem = {"detail": "10 recalls a second are used up"}
        return web.json_response(problem, status=self.status, headers={"Retry-After": self.retry_after})


async def recall(server: Refusing) -> list[dict[str, object]]:
    async with serving_posts("/v1/recall", server.answer) as url, ServiceClient(url=url, api_key="k") as client:
        return await client.recall("x")


@pytest.mark.parametrize("status", [429, 503])
async def test_a_refusal_for_now_is_waited_out(status: int) -> None:
    server = Refusing(2, status, "0")
    assert await recall(server) == [{"id": "m"}]
    assert server.asked == 3


@pytest.mark.parametrize(("times", "status", "retry_after", "asked"), [(99, 429, "0", MAX_ATTEMPTS), (1, 429, "3600", 1), (1, 507, "0", 1)])
async def test_a_refusal_that_lasts_is_told(times: int, status: int, retry_after: str, asked: int) -> None:
    server = Refusing(times, status, retry_after)
    with pytest.raises(ServiceError, match=f"answered {status}: 10 recalls a second are used up"):
        await recall(server)
    assert server.asked == asked


@pytest.mark.parametrize("retry_after", ["Mon, 06 May 2024 12:00:00 GMT", "soon", "nan"])
async def test_any_retry_after_is_waited_out(retry_after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("varve.client._PLAIN_WAIT_S", 0.0)
    assert await recall(Refusing(1, 503, retry_after)) == [{"id": "m"}]


async def test_a_batch_bears_one_key_through_its_retries() -> None:
    tries: list[tuple[str, int]] = []
    statuses = iter([503, 409, 200, 429, 200])

    async def answer(request: web.Request) -> web.Response:
        batch = await request.json()
        tries.append((request.headers["Idempotency-Key"], len(batch)))
        status = next(statuses)
        content = {"items": [{"index": index, "status": 200} for index, _ in enumerate(batch)]} if status == 200 else {"detail": "in work"}
        return web.json_response(content, status=status, headers={} if status == 200 else {"Retry-After": "0"})

    async with serving_posts("/v1/messages", answer) as url, ServiceClient(url=url, api_key="k") as client:
        assert await client.send([{"user": "ann", "session": "s", "text": "x"}] * (BATCH_SIZE + 1)) == BATCH_SIZE + 1
    assert [size for _, size in tries] == [BATCH_SIZE] * 3 + [1] * 2
    keys = [key for key, _ in tries]
    assert (len(set(keys)), len({*keys[:3]}), len({*keys[3:]})) == (2, 1, 1), "one a batch, made before its first try"


async def test_a_change_that_does_not_fit_is_told() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"detail": "it does not fit"}, status=409)

    async with serving_posts("/v1/flush", answer) as url, ServiceClient(url=url, api_key="k") as client:
        with pytest.raises(ServiceError, match="answered 409: it does not fit"):
            await client.flush()


async def test_what_an_entity_says_is_told_behind_the_results() -> None:
    async def answer(request: web.Request) -> web.Response:
        assert await request.json() == {"query": "x", "user": "ann"}
        return web.json_response({"results": [{"id": "event", "score": 0.5}], "entities": [{"id": "profile"}]})

    async with serving_posts("/v1/recall", answer) as url, ServiceClient(url=url, api_key="k") as client:
        found = await client.recall_with_entities("x", user="ann", limit=None)
    assert [each["id"] for each in found] == ["event", "profile"]


@pytest.mark.parametrize(("command", "printed"), [("recall", "Ann moved to Oslo"), ("context", "notes: Ann moved to Oslo")])
async def test_the_command_line_says_what_is_missing(command: str, printed: str, tmp_path: Path) -> None:
    asked: list[object] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(await request.json())
        event = {
            "id": "m",
            "type": "note",
            "kind": "event",
            "content": "Ann moved to Oslo",
            "event_time": "2024-03-02T12:00:00Z",
            "evidence": [],
        }
        found = {"results": [event], "entities": [], "context": "notes: Ann moved to Oslo"}
        return web.json_response({**found, "degraded": ["expansion"]})

    async with serving_posts(f"/v1/{command}", answer) as url:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "varve", command, "Where is Ann?", "--mode", "expand"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "VARVE_DATA": str(tmp_path), "VARVE_CLIENT__URL": url, "VARVE_CLIENT__API_KEY": "k", "COLUMNS": "120"},
        )
        output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    assert asked == [{"query": "Where is Ann?", "mode": "expand"}]
    assert printed in output.decode()
    assert errors.decode().strip() == "answered without: expansion"
