"""Both clients against a real HTTP server that refuses, breaks, goes away and comes back: what they repeat, and when they stop."""

import asyncio
import logging
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from aiohttp import web
from varve_client import InvalidArgumentError, RecallResult, SentMessage, ServiceProblemError, ServiceUnreachableError, VarveClient
from varve_client._calls import BATCH_SIZE
from varve_client._retries import MAX_ATTEMPTS, Retries, retry_after_s

from tests.http_server import serving_posts
from tests.varve.varve_process import wait_until
from varve.embedded.ports import free_port

EVENT: Mapping[str, object] = {
    "id": "m",
    "type": "note",
    "kind": "event",
    "content": "Ann moved to Oslo",
    "event_time": "2024-03-02T12:00:00Z",
    "evidence": ["m1"],
    "score": 0.5,
}
MESSAGE: Mapping[str, object] = {"user": "ann", "session": "s", "text": "x"}
READS = {"recall": ("x",), "context": ("x",), "search_events": ("x",)}
"""Methods that post without changing anything."""
REPEATABLE = {"feedback": ("r",), "erase_user": ("ann",)}
"""Methods that lead to the same state when they are called twice."""
ITERATORS = ("all_memories", "whole_entity_history")
"""They only call other methods."""


class Refusing:
    """Refuses a number of requests with a status and ``Retry-After``, then answers."""

    def __init__(self, times: int, status: int, retry_after: str) -> None:
        self.times = times
        self.status = status
        self.retry_after = retry_after
        self.requests = 0

    async def answer(self, request: web.Request) -> web.Response:
        self.requests += 1
        if self.requests > self.times:
            return web.json_response({"results": [EVENT]})
        problem = {"type": "urn:varve:problem:rate-limited", "detail": "10 recalls a second are used up", "trace_id": "t1"}
        return web.json_response(problem, status=self.status, headers={"Retry-After": self.retry_after})


async def recall(server: Refusing, client: Any) -> RecallResult:
    async with serving_posts("/v1/recall", server.answer) as url, client(url, api_key="k") as varve:
        found: RecallResult = await varve.recall("x")
        return found


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_a_temporary_refusal_is_retried(status: int, client: Any) -> None:
    server = Refusing(2, status, "0")
    assert [each.id for each in (await recall(server, client)).results] == ["m"]
    assert server.requests == 3


@pytest.mark.parametrize(("times", "status", "retry_after", "sent"), [(99, 429, "0", MAX_ATTEMPTS), (1, 429, "3600", 1), (1, 507, "0", 1)])
async def test_a_lasting_refusal_is_raised(times: int, status: int, retry_after: str, sent: int, client: Any) -> None:
    server = Refusing(times, status, retry_after)
    with pytest.raises(ServiceProblemError, match=f"answered {status}: 10 recalls a second are used up") as raised:
        await recall(server, client)
    assert server.requests == sent
    assert (raised.value.status, raised.value.kind, raised.value.trace_id) == (status, "rate-limited", "t1")


async def test_one_attempt_is_never_repeated(client: Any) -> None:
    server = Refusing(1, 429, "0")
    async with serving_posts("/v1/recall", server.answer) as url, client(url, api_key="k", max_attempts=1) as varve:
        with pytest.raises(ServiceProblemError, match="answered 429"):
            await varve.recall("x")
    assert server.requests == 1


@pytest.mark.parametrize("retry_after", ["Mon, 06 May 2024 12:00:00 GMT", "soon", "nan"])
async def test_any_retry_after_header_is_survived(retry_after: str, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("varve_client._retries._FIRST_WAIT_S", 0.0)
    assert (await recall(Refusing(1, 503, retry_after), client)).results[0].content == "Ann moved to Oslo"


def test_retry_after_is_read_as_seconds_or_date() -> None:
    now = datetime(2024, 5, 6, 12, tzinfo=UTC)
    later = (now + timedelta(seconds=90)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    assert [retry_after_s(each, now=now) for each in ("7", later, "", None, "soon", "\u00b2")] == [7.0, 90.0, None, None, None, None]


async def test_retries_of_a_batch_share_one_idempotency_key(client: Any) -> None:
    attempts: list[tuple[str, int]] = []
    statuses = iter([503, 409, 200, 429, 200])

    async def answer(request: web.Request) -> web.Response:
        batch = await request.json()
        attempts.append((request.headers["Idempotency-Key"], len(batch)))
        status = next(statuses)
        position = {"topic": "messages", "partition": 0, "offset": 0}
        items = [{"index": index, "status": 200, "id": f"m{index}", "position": position} for index, _ in enumerate(batch)]
        content = {"items": items} if status == 200 else {"detail": "in work"}
        return web.json_response(content, status=status, headers={} if status == 200 else {"Retry-After": "0"})

    batches: list[int] = []
    async with serving_posts("/v1/messages", answer) as url, client(url, api_key="k") as varve:
        sent: list[SentMessage] = await varve.send([MESSAGE] * (BATCH_SIZE + 1), on_batch=batches.append)
    assert (len(sent), batches) == (BATCH_SIZE + 1, [BATCH_SIZE, 1])
    assert [size for _, size in attempts] == [BATCH_SIZE] * 3 + [1] * 2
    keys = [key for key, _ in attempts]
    assert (len(set(keys)), len({*keys[:3]}), len({*keys[3:]})) == (2, 1, 1), "one key per batch, made before its first attempt"


async def test_a_conflict_without_retry_after_is_not_retried(client: Any) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"detail": "it does not fit"}, status=409)

    async with serving_posts("/v1/flush", answer) as url, client(url, api_key="k") as varve:
        with pytest.raises(ServiceProblemError, match="answered 409: it does not fit"):
            await varve.flush()


async def test_a_service_that_comes_back_gets_the_message(client: Any, caplog: pytest.LogCaptureFixture) -> None:
    port = free_port()
    keys: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        keys.append(request.headers["Idempotency-Key"])
        position = {"topic": "messages", "partition": 0, "offset": 0}
        return web.json_response({"items": [{"index": 0, "status": 200, "id": "m1", "position": position}]})

    with caplog.at_level(logging.WARNING, "varve_client"):
        async with client(f"http://127.0.0.1:{port}", api_key="k") as varve:
            sending = asyncio.create_task(varve.send([MESSAGE]))
            failure = "the first attempt has not failed"
            await asyncio.to_thread(wait_until, lambda: bool(caplog.messages), seconds=30, failure=lambda: failure)
            async with serving_posts("/v1/messages", answer, port=port):
                sent: list[SentMessage] = await sending
                assert [each.id for each in sent] == ["m1"]
            assert len(keys) == 1
            assert f"attempt 1 of {MAX_ATTEMPTS} failed (http://127.0.0.1:{port}/v1/messages cannot be reached" in caplog.messages[0]


async def test_a_kept_connection_may_break(client: Any) -> None:
    keys: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        keys.append(request.headers["Idempotency-Key"])
        if len(keys) == 2:
            assert request.transport is not None
            request.transport.abort()
        return web.json_response({})

    async with serving_posts("/v1/flush", answer) as url, client(url, api_key="k") as varve:
        await varve.flush("s")
        await varve.flush("t")
    assert len(keys) == 3
    assert keys[1] == keys[2], "the service recognizes the repetition"


async def test_a_request_that_timed_out_is_not_repeated(client: Any) -> None:
    requests = 0
    done = asyncio.Event()

    async def answer(request: web.Request) -> web.Response:
        nonlocal requests
        requests += 1
        await done.wait()
        return web.json_response({"results": []})

    async with serving_posts("/v1/recall", answer) as url, client(url, api_key="k", timeout_s=1.0) as varve:
        with pytest.raises(ServiceUnreachableError, match="gave no answer in time"):
            await varve.recall("x")
        done.set()
    assert requests == 1


async def test_no_attempt_begins_after_the_deadline(client: Any) -> None:
    server = Refusing(99, 503, "2")
    async with serving_posts("/v1/recall", server.answer) as url, client(url, api_key="k", retry_for_s=1.0) as varve:
        with pytest.raises(ServiceProblemError, match="answered 503"):
            await varve.recall("x")
    assert server.requests == 1


@pytest.mark.parametrize(
    "limit", [{"max_attempts": 0}, {"retry_for_s": -1.0}, {"retry_for_s": math.nan}, {"timeout_s": 0.0}, {"timeout_s": math.nan}]
)
def test_a_limit_that_cannot_be_one_is_refused(limit: dict[str, float], client: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=next(iter(limit))):
        client("http://localhost:8080", api_key="k", **limit)


def test_waits_without_retry_after_grow_with_jitter() -> None:
    lost = httpx.ConnectError("refused", request=httpx.Request("GET", "http://x"))

    def waits(share: float) -> list[float | None]:
        retries = Retries(max_attempts=7, retry_for_s=1000.0)
        return [
            retries.wait_s(lost, attempt=attempt, elapsed_s=0.0, uniform=lambda low, high: low + share * (high - low))
            for attempt in range(1, 8)
        ]

    assert (waits(0.0), waits(1.0)) == ([0.5, 1.0, 2.0, 4.0, 8.0, 10.0, None], [1.0, 2.0, 4.0, 8.0, 16.0, 20.0, None])


async def test_every_method_may_be_repeated(client: Any) -> None:
    """A method that is none of these would need its own rule for requests whose outcome is unknown."""
    asked: list[web.Request] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request)
        return web.json_response({}, status=404)

    writes = {name for name, call in vars(VarveClient).items() if "idempotency_key" in getattr(call, "__annotations__", {})}
    others = {name for name in vars(VarveClient) if not name.startswith("_")} - writes - {*READS, *REPEATABLE, *ITERATORS, "close"}
    arguments = {"block": ("notes", "lines"), "entity": ("profile", ["ann"]), "entity_history": ("profile", ["ann"])}
    async with serving_posts("/{path:.*}", answer, method="*") as url, client(url, api_key="k") as varve:
        for name in others:
            names_one = name in ("memory", "session", "erasure")
            with pytest.raises(ServiceProblemError):
                await getattr(varve, name)(*arguments.get(name, ("x",) if names_one else ()))
    assert {each.method for each in asked} == {"GET"}
