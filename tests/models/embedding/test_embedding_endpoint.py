"""The adapter against a real HTTP server on this machine."""

import json
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from models.embedding.build import build_embedder
from models.embedding.port import Embedder
from models.errors import ModelConfigurationError, ModelError, TransientModelError
from runtime.settings import EmbeddingSettings


class Endpoint:
    """Embeds a text as ``(its length, 1)``, answers in reverse order, and fails as told."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.status = 200
        self.leave_out = 0

    async def embeddings(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        self.requests.append(body)
        self.keys.append(request.headers.get("Authorization"))
        if self.status != 200:
            return web.json_response({"error": {"message": "told to"}}, status=self.status, headers={"Retry-After": "3"})
        data = [{"object": "embedding", "index": place, "embedding": [float(len(text)), 1.0]} for place, text in enumerate(body["input"])]
        data = data[self.leave_out :]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return web.json_response({"object": "list", "model": body["model"], "data": data[::-1], "usage": usage})


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    endpoint = Endpoint()
    app = web.Application()
    app.router.add_post("/v1/embeddings", endpoint.embeddings)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    endpoint.url = f"http://{host}:{port}/v1"
    yield endpoint
    await runner.cleanup()


def settings_for(endpoint: Endpoint, **changes: Any) -> EmbeddingSettings:
    return EmbeddingSettings.model_validate(
        {"kind": "openai", "base_url": endpoint.url, "model": "m", "dimension": 2, "api_key": "secret", **changes}
    )


@pytest.fixture
async def embedder(endpoint: Endpoint, tmp_path: Any) -> AsyncIterator[Embedder]:
    embedder = build_embedder(settings_for(endpoint), cache=tmp_path)
    yield embedder
    await embedder.close()


async def test_vectors_come_back_in_the_order_asked_and_of_unit_length(embedder: Embedder, endpoint: Endpoint) -> None:
    embeddings = await embedder.embed_documents(["aaa", "b", ""])

    np.testing.assert_allclose(
        [each.dense for each in embeddings], [[0.948683, 0.316228], [0.707107, 0.707107], [0.707107, 0.707107]], atol=1e-5
    )
    assert all(each.late is None for each in embeddings)
    assert endpoint.requests[0]["model"] == "m"
    assert endpoint.keys == ["Bearer secret"]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_what_may_pass_is_transient_with_the_endpoints_own_wait(embedder: Embedder, endpoint: Endpoint, status: int) -> None:
    endpoint.status = status

    with pytest.raises(TransientModelError, match=str(status)) as caught:
        await embedder.embed_query("text")

    assert caught.value.retry_after == 3
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 404])
async def test_what_will_not_pass_is_a_fault_of_the_configuration(embedder: Embedder, endpoint: Endpoint, status: int) -> None:
    endpoint.status = status

    with pytest.raises(ModelConfigurationError, match=f"{status}.*told to"):
        await embedder.embed_query("text")


async def test_nobody_listening_is_transient(endpoint: Endpoint, tmp_path: Any, unused_tcp_port: int) -> None:
    embedder = build_embedder(settings_for(endpoint, base_url=f"http://127.0.0.1:{unused_tcp_port}/v1"), cache=tmp_path)

    with pytest.raises(TransientModelError, match="cannot be reached"):
        await embedder.embed_query("text")

    await embedder.close()


async def test_another_dimension_than_configured_is_refused(endpoint: Endpoint, tmp_path: Any) -> None:
    embedder = build_embedder(settings_for(endpoint, dimension=3), cache=tmp_path)

    with pytest.raises(ModelConfigurationError, match="length 2, VARVE_EMBEDDING__DIMENSION says 3"):
        await embedder.embed_query("text")

    await embedder.close()


async def test_a_missing_vector_is_noticed(embedder: Embedder, endpoint: Endpoint) -> None:
    endpoint.leave_out = 1

    with pytest.raises(ModelError, match="1 vectors for 2 texts"):
        await embedder.embed_documents(["a", "bb"])


def test_an_endpoint_without_address_is_refused(tmp_path: Any) -> None:
    with pytest.raises(ModelConfigurationError, match="VARVE_EMBEDDING__BASE_URL"):
        build_embedder(EmbeddingSettings(kind="openai"), cache=tmp_path)


def test_a_fastembed_model_that_is_unknown_or_of_another_dimension_is_refused(tmp_path: Any) -> None:
    pytest.importorskip("fastembed", reason="needs the fastembed extra")

    with pytest.raises(ModelConfigurationError, match="no model 'nobody/nothing'"):
        build_embedder(EmbeddingSettings(kind="fastembed", model="nobody/nothing"), cache=tmp_path)
    with pytest.raises(ModelConfigurationError, match="length 384, VARVE_EMBEDDING__DIMENSION says 5"):
        build_embedder(EmbeddingSettings(kind="fastembed", model="BAAI/bge-small-en-v1.5", dimension=5), cache=tmp_path)
