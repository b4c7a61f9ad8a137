"""The refusals of an endpoint: of one text, of a form of request, or of everything for now."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from models.embedding.embedder import BatchedEmbedder
from models.embedding.endpoint import EndpointBackend
from models.errors import InputRefusedError, ModelConfigurationError, OverloadedError, TransientModelError
from tests.models.embedding.replying_endpoint import Reply, answered, embedded, refused, replying_endpoint, vector


class Clock:
    """A clock that only the test advances."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@asynccontextmanager
async def embedder_of(
    reply: Reply, *, clock: Clock | None = None, batch_size: int = 8
) -> AsyncIterator[tuple[BatchedEmbedder, list[dict[str, Any]]]]:
    async with replying_endpoint(reply) as (url, requests):
        backend = EndpointBackend(base_url=url, model="m", dimension=2, monotonic=clock or Clock())
        embedder = BatchedEmbedder(backend=backend, batch_size=batch_size, cache_entries=100)
        yield embedder, requests
        await embedder.close()


def unless(bad: Callable[[str], bool], refusal: Callable[[], web.Response]) -> Reply:
    return lambda payload: refusal() if any(map(bad, payload["input"])) else embedded(payload)


def longer_than(chars: int) -> Callable[[str], bool]:
    return lambda text: len(text) > chars


async def test_nothing_is_sent_during_a_pause() -> None:
    clock = Clock()
    busy = True

    def reply(payload: dict[str, Any]) -> web.Response:
        return refused(429, "slow down", **{"Retry-After": "30"}) if busy else embedded(payload)

    async with embedder_of(reply, clock=clock) as (embedder, requests):
        with pytest.raises(OverloadedError, match="slow down"):
            await embedder.embed_query("first")
        clock.seconds += 12
        with pytest.raises(OverloadedError) as meanwhile:
            await embedder.embed_documents(["another"])
        assert meanwhile.value.retry_after_s == pytest.approx(18)
        assert len(requests) == 1

        clock.seconds += 18
        busy = False
        await embedder.embed_query("first")


@pytest.mark.parametrize(("headers", "seconds"), [({}, 1.0), ({"Retry-After": "86400"}, 60.0), ({"Retry-After": "0"}, 1.0)])
async def test_a_pause_lasts_a_second_to_a_minute(headers: dict[str, str], seconds: float) -> None:
    clock = Clock()
    async with embedder_of(lambda _: refused(429, "slow down", **headers), clock=clock) as (embedder, requests):
        for moment, sent in ((0.0, 1), (seconds - 0.1, 1), (seconds, 2)):
            clock.seconds = 100.0 + moment
            with pytest.raises(OverloadedError):
                await embedder.embed_query("text")
            assert len(requests) == sent


@pytest.mark.parametrize(
    "refusal",
    [
        lambda: web.json_response({"detail": "Value error, encoding_format must be 'base64'."}, status=400),
        lambda: web.json_response({"detail": [{"loc": ["body", "encoding_format"], "msg": "extra fields not permitted"}]}, status=422),
    ],
)
async def test_a_refused_encoding_format_is_not_sent_again(refusal: Callable[[], web.Response]) -> None:
    def reply(payload: dict[str, Any]) -> web.Response:
        return refusal() if "encoding_format" in payload else embedded(payload)

    async with embedder_of(reply) as (embedder, requests):
        await embedder.embed_query("one")
        await embedder.embed_query("two")

    assert [each.get("encoding_format") for each in requests] == ["float", None, None]
    assert requests[-1] == {"model": "m", "input": ["two"]}


async def test_the_encoding_format_is_kept_until_proved_wrong() -> None:
    refusals = 2

    def reply(payload: dict[str, Any]) -> web.Response:
        nonlocal refusals
        refusals -= 1
        return refused(503 if refusals == 0 else 400, "encoding_format") if refusals >= 0 else embedded(payload)

    async with embedder_of(reply) as (embedder, requests):
        with pytest.raises(TransientModelError, match="503"):
            await embedder.embed_query("one")
        await embedder.embed_query("one")

    assert [each.get("encoding_format") for each in requests] == ["float", None, "float"]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (413, "`inputs` must have less than 512 tokens"),
        (400, "This model's maximum context length is 8192 tokens"),
        (400, "Input is too long"),
        (422, "the text exceeds what the model takes"),
        (500, "input is too large to process. increase the physical batch size"),
    ],
)
async def test_a_text_too_long_for_the_model_is_halved(status: int, words: str) -> None:
    async with embedder_of(unless(longer_than(25), lambda: refused(status, words))) as (embedder, requests):
        embeddings = await embedder.embed_documents(["short", "x" * 100, "y" * 20])

    expected = np.array([vector("short"), vector("x" * 25), vector("y" * 20)])
    np.testing.assert_allclose([each.dense for each in embeddings], expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-5)
    assert ["x" * 25] in [each["input"] for each in requests]


@pytest.mark.parametrize(("status", "requests_sent"), [(500, 7), (502, 7), (503, 1), (429, 1)])
async def test_a_500_of_one_text_fails_no_other(status: int, requests_sent: int) -> None:
    async with embedder_of(unless("bad".__eq__, lambda: refused(status, "it failed"))) as (embedder, requests):
        texts = ["a", "bad", "cccc", "ddddd", "eeeeee", "fffffff", "gggggggg", "hhhhhhhhh"]
        outcomes = await asyncio.gather(*(embedder.embed_documents([text]) for text in texts), return_exceptions=True)

    failed = [text for text, each in zip(texts, outcomes, strict=True) if isinstance(each, TransientModelError)]
    assert failed == (["bad"] if requests_sent > 1 else texts)
    assert len(requests) == requests_sent


async def test_a_text_too_long_after_four_halvings_is_refused() -> None:
    async with embedder_of(unless(longer_than(10), lambda: refused(413, "too large"))) as (embedder, requests):
        await embedder.embed_documents(["short"])
        requests.clear()
        with pytest.raises(InputRefusedError, match=r"413.*too large"):
            await embedder.embed_documents(["x" * 1600])

    assert [len(each["input"][0]) for each in requests] == [1600, 800, 400, 200, 100, len("ping")]


@pytest.mark.parametrize(
    "refusal",
    [
        lambda: refused(500, "failed to encode response: json: unsupported value: NaN"),
        lambda: refused(500, "Out of range float values are not JSON compliant"),
        lambda: web.Response(text='{"data": [{"index": 0, "embedding": [NaN, 1.0]}]}', content_type="application/json"),
        lambda: answered([{"index": 0, "embedding": [None, 1.0]}]),
    ],
)
async def test_only_the_text_without_a_finite_vector_is_refused(refusal: Callable[[], web.Response]) -> None:
    def reply(payload: dict[str, Any]) -> web.Response:
        texts = payload["input"]
        if "tower" not in texts:
            return embedded(payload)
        if len(texts) == 1:
            return refusal()
        return answered([{"index": index, "embedding": [None, 1] if text == "tower" else vector(text)} for index, text in enumerate(texts)])

    texts = ["one", "two", "tower", "three", "four"]
    async with embedder_of(reply) as (embedder, _):
        with pytest.raises(InputRefusedError):
            await embedder.embed_documents(texts)
        await embedder.embed_documents([text for text in texts if text != "tower"])
        with pytest.raises(InputRefusedError):
            await embedder.embed_documents(["tower"])


async def test_a_model_without_any_finite_vector_is_an_outage() -> None:
    async with embedder_of(lambda _: refused(500, "unsupported value: NaN")) as (embedder, requests):
        with pytest.raises(TransientModelError, match="NaN"):
            await embedder.embed_documents(["one", "two"])

    assert len(requests) == 3


@pytest.mark.parametrize(
    "refusal",
    [
        lambda: web.json_response([{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}], status=400),
        lambda: refused(400, "Invalid model: m"),
        lambda: refused(400, "Budget has been exceeded"),
        lambda: refused(413, "the proxy takes no bodies"),
    ],
)
async def test_an_endpoint_refusing_everything_blames_no_text(refusal: Callable[[], web.Response]) -> None:
    clock = Clock()
    is_refusing = False

    def reply(payload: dict[str, Any]) -> web.Response:
        return refusal() if is_refusing else embedded(payload)

    async with embedder_of(reply, clock=clock, batch_size=32) as (embedder, requests):
        await embedder.embed_documents(["accepted just before"])
        is_refusing = True
        requests.clear()
        texts = [f"text {number}" for number in range(64)]
        for calls in (12, 13, 14):
            with pytest.raises(ModelConfigurationError) as caught:
                await embedder.embed_documents(texts)
            assert type(caught.value) is ModelConfigurationError
            assert len(requests) <= calls

        is_refusing = False
        assert len(await embedder.embed_documents(texts)) == 64


async def test_a_text_is_blamed_once_the_endpoint_recovers() -> None:
    clock = Clock()
    takes_none = True

    def reply(payload: dict[str, Any]) -> web.Response:
        return refused(400, "no") if takes_none or "bad" in payload["input"] else embedded(payload)

    async with embedder_of(reply, clock=clock) as (embedder, _):
        with pytest.raises(ModelConfigurationError):
            await embedder.embed_documents(["bad"])
        takes_none = False
        clock.seconds += 6
        with pytest.raises(InputRefusedError):
            await embedder.embed_documents(["bad"])


async def test_a_refusal_is_transient_while_the_probe_fails() -> None:
    def reply(payload: dict[str, Any]) -> web.Response:
        return refused(503, "away") if payload["input"] == ["ping"] else refused(400, "no")

    async with embedder_of(reply) as (embedder, _):
        with pytest.raises(TransientModelError, match="503"):
            await embedder.embed_documents(["bad"])


async def test_a_lone_surrogate_affects_no_other_text() -> None:
    async with embedder_of(embedded) as (embedder, requests):
        await embedder.embed_documents(["good", "bad \ud800"])

    assert requests[0]["input"] == ["good", "bad ?"]
