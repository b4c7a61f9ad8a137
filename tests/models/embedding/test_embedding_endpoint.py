"""The adapter against a real HTTP server on this machine."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from models.credentials import credential_watch
from models.embedding.build import build_embedder
from models.embedding.endpoint import EndpointBackend
from models.embedding.port import Embedder
from models.errors import InputRefusedError, ModelConfigurationError, ModelError, TransientModelError
from runtime.settings import EmbeddingSettings
from tests.embedding_endpoint import EmbeddingEndpoint, embedding_endpoint
from tests.models.embedding.replying_endpoint import embedded, replying_endpoint


@pytest.fixture
async def endpoint() -> AsyncIterator[EmbeddingEndpoint]:
    async with embedding_endpoint() as endpoint:
        yield endpoint


def settings_for(endpoint: EmbeddingEndpoint, **changes: Any) -> EmbeddingSettings:
    return EmbeddingSettings.model_validate(
        {"kind": "openai", "base_url": endpoint.url, "model": "m", "dimension": 2, "api_key": "secret", **changes}
    )


@pytest.fixture
async def embedder(endpoint: EmbeddingEndpoint, tmp_path: Any) -> AsyncIterator[Embedder]:
    embedder = build_embedder(settings_for(endpoint), cache=tmp_path)
    yield embedder
    await embedder.close()


async def test_vectors_have_text_order_and_unit_length(embedder: Embedder, endpoint: EmbeddingEndpoint) -> None:
    embeddings = await embedder.embed_documents(["aaa", "b", ""])

    np.testing.assert_allclose(
        [each.dense for each in embeddings], [[0.948683, 0.316228], [0.707107, 0.707107], [0.707107, 0.707107]], atol=1e-5
    )
    assert all(each.late is None for each in embeddings)
    assert endpoint.requests[0]["model"] == "m"
    assert endpoint.keys == ["Bearer secret"]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_transient_errors_carry_the_endpoints_retry_after(embedder: Embedder, endpoint: EmbeddingEndpoint, status: int) -> None:
    endpoint.status = status

    with pytest.raises(TransientModelError, match=str(status)) as caught:
        await embedder.embed_query("text")

    assert caught.value.retry_after == 3
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 404, 413, 422])
async def test_a_refusal_of_every_text_is_a_configuration_error(embedder: Embedder, endpoint: EmbeddingEndpoint, status: int) -> None:
    endpoint.status = status

    with pytest.raises(ModelError, match=f"{status}.*told to") as caught:
        await embedder.embed_query("text")

    assert type(caught.value) is ModelConfigurationError


async def test_a_refused_embedding_key_is_shown_until_accepted(embedder: Embedder, endpoint: EmbeddingEndpoint) -> None:
    endpoint.status = 401
    for number in range(3):
        with pytest.raises(ModelConfigurationError):
            await embedder.embed_query(f"text {number}")
    problem = credential_watch().checks()["embedding_credentials"].problem or ""
    assert endpoint.url in problem
    assert "VARVE_EMBEDDING__API_KEY" in problem

    endpoint.status = 200
    await embedder.embed_query("another text")
    # Other tests of this process may have left their endpoints refused.
    assert endpoint.url not in (credential_watch().checks()["embedding_credentials"].problem or "")


async def test_a_refusal_of_one_text_is_an_input_error(embedder: Embedder, endpoint: EmbeddingEndpoint) -> None:
    endpoint.refused = "text"

    with pytest.raises(InputRefusedError, match=r"400.*told to"):
        await embedder.embed_query("text")


async def test_an_unreachable_endpoint_is_transient(endpoint: EmbeddingEndpoint, tmp_path: Any, unused_tcp_port: int) -> None:
    embedder = build_embedder(settings_for(endpoint, base_url=f"http://127.0.0.1:{unused_tcp_port}/v1"), cache=tmp_path)

    with pytest.raises(TransientModelError, match=r"the connection to .* failed"):
        await embedder.embed_query("text")

    await embedder.close()


async def test_a_wrong_dimension_is_refused(endpoint: EmbeddingEndpoint, tmp_path: Any) -> None:
    embedder = build_embedder(settings_for(endpoint, dimension=3), cache=tmp_path)

    with pytest.raises(ModelConfigurationError, match="length 2, VARVE_EMBEDDING__DIMENSION says 3"):
        await embedder.embed_query("text")

    await embedder.close()


async def test_a_missing_vector_is_an_error(embedder: Embedder, endpoint: EmbeddingEndpoint) -> None:
    endpoint.leave_out = 1

    with pytest.raises(TransientModelError, match="1 vectors for 2 texts"):
        await embedder.embed_documents(["a", "bb"])


def answer(*data: Any) -> bytes:
    return json.dumps({"object": "list", "data": data}).encode()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>Bad gateway</html>", "not JSON.*Bad gateway"),
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b'{"error": {"message": "out of memory"}}', "no list of data.*out of memory"),
        (b'{"data": null}', "no list of data"),
        (b"[]", "no list of data"),
        (b'"ok"', "no list of data"),
        (answer(), "0 vectors for 1 texts"),
        (answer({"index": 1, "embedding": [1, 2]}), "index 1"),
        (answer({"index": "0", "embedding": [1, 2]}), "index '0'"),
        (answer(None), "not a list of numbers"),
        (answer({"index": 0}), "not a list of numbers"),
        (answer({"index": 0, "embedding": "AACAPwAAAE"}), "not a list of numbers"),
        (answer({"index": 0, "embedding": [None, 1.0]}), "not a finite number"),
        (answer({"index": 0, "embedding": [1e39, 1.0]}), "not a finite number"),
        (answer({"index": 0, "embedding": [3e38, 3e38]}), "not a finite number"),
        (answer({"index": 0, "embedding": [float("nan"), 1.0]}), "not a finite number"),
        (answer({"index": 0, "embedding": [{}, 1.0]}), "not a number"),
        (answer({"index": 0, "embedding": ["x", 1.0]}), "not a number"),
        (answer({"index": 0, "embedding": [[1.0], [2.0]]}), "not a finite number"),
        (answer({"index": 0, "embedding": [[1.0], 2.0]}), "not a number"),
    ],
)
async def test_an_unusable_response_is_transient(embedder: Embedder, endpoint: EmbeddingEndpoint, body: bytes, said: str) -> None:
    endpoint.body = body

    with pytest.raises(TransientModelError, match=f"(?s)gave no usable answer: .*{said}"):
        await embedder.embed_query("text")


async def test_a_repeated_index_is_an_error(embedder: Embedder, endpoint: EmbeddingEndpoint) -> None:
    endpoint.body = answer({"index": 1, "embedding": [1, 2]}, {"index": 1, "embedding": [3, 4]})

    with pytest.raises(TransientModelError, match="index 1"):
        await embedder.embed_documents(["a", "bb"])


async def test_a_long_text_is_truncated(endpoint: EmbeddingEndpoint) -> None:
    backend = EndpointBackend(base_url=endpoint.url, model="m", dimension=2, max_chars=5)

    await backend.documents(["é" * 5, "abcdefg"])
    await backend.close()

    assert endpoint.requests[0]["input"] == ["ééééé", "abcde"]


async def test_the_maximum_text_length_is_a_setting(endpoint: EmbeddingEndpoint, tmp_path: Any) -> None:
    embedder = build_embedder(settings_for(endpoint).model_copy(update={"max_chars": 7}), cache=tmp_path)

    await embedder.embed_query("x" * 100)
    await embedder.close()

    assert endpoint.requests[0]["input"] == ["x" * 7]


async def test_a_hanging_query_blocks_none_of_three_others(tmp_path: Any) -> None:
    hangs = asyncio.Event()
    under_way = asyncio.Semaphore(0)

    async def reply(payload: dict[str, Any]) -> web.Response:
        if payload["input"][0].startswith("hangs"):
            under_way.release()
            await hangs.wait()
        return embedded(payload)

    async with replying_endpoint(reply) as (url, requests):
        settings = EmbeddingSettings(kind="openai", base_url=url, model="m", dimension=2, batch_size=1)
        embedder = build_embedder(settings, cache=tmp_path)
        stuck = []
        for number in range(3):
            stuck.append(asyncio.create_task(embedder.embed_query(f"hangs {number}")))
            await asyncio.wait_for(under_way.acquire(), 5)
        await asyncio.wait_for(embedder.embed_query("quick"), 5)
        stuck.append(asyncio.create_task(embedder.embed_query("hangs 3")))
        await asyncio.wait_for(under_way.acquire(), 5)
        waiting_query = asyncio.create_task(embedder.embed_query("waits its turn"))
        await asyncio.wait_for(embedder.embed_documents(["a document"]), 5)
        assert ["waits its turn"] not in [each["input"] for each in requests]

        hangs.set()
        await asyncio.gather(*stuck, waiting_query)
        await embedder.close()


def test_an_endpoint_without_an_address_is_refused(tmp_path: Any) -> None:
    with pytest.raises(ModelConfigurationError, match="VARVE_EMBEDDING__BASE_URL"):
        build_embedder(EmbeddingSettings(kind="openai"), cache=tmp_path)


def test_an_unfit_fastembed_model_is_refused(tmp_path: Any) -> None:
    pytest.importorskip("fastembed", reason="needs the fastembed extra")

    with pytest.raises(ModelConfigurationError, match="no model 'nobody/nothing'"):
        build_embedder(EmbeddingSettings(kind="fastembed", model="nobody/nothing"), cache=tmp_path)
    with pytest.raises(ModelConfigurationError, match="length 384, VARVE_EMBEDDING__DIMENSION says 5"):
        build_embedder(EmbeddingSettings(kind="fastembed", model="BAAI/bge-small-en-v1.5", dimension=5), cache=tmp_path)
