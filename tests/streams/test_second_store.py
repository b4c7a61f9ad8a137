"""A second store with another embedding model is filled while the first serves, and takes its place."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from models.embedding.build import build_embedder
from retrieval.pipeline import RecallPipeline
from retrieval.request import RecallRequest
from runtime.clocks import SystemClock
from runtime.settings import EmbeddingSettings, Settings, StoreSettings
from stores.build import open_store
from stores.errors import ModelMismatchError
from stores.filters import MemoryFilter
from stores.port import TenantScope
from streams.operations.rebuild import digest
from streams.operations.reindex import plan_reindex, read_reindex
from streams.run import serve_stage
from tests.embedding_endpoint import embedding_endpoint
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.stores.store_kinds import DENSE, SERVER
from tests.streams.flow import DEADLINE_S, POLL_S, TENANT, caught_up, flush, send_sample, serving

pytestmark = pytest.mark.integration

NAME = "other"


async def _found(settings: Settings) -> tuple[int, float | None]:
    """The number of hits of a recall, and its confidence."""
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    try:
        async with open_store(settings) as store:
            pipeline = RecallPipeline(store=store, embedder=embedder, settings=settings.recall, clock=SystemClock())
            asked = RecallRequest(filter=MemoryFilter(scope=TenantScope(TENANT, user="ada")), query="What does she drink?")
            response = await pipeline.recall(asked)
    finally:
        await embedder.close()
    return len(response.hits), response.confidence


async def _filled(settings: Settings) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not (await read_reindex(settings, NAME)).is_complete:  # noqa: ASYNC110 - a broker has no event
            await asyncio.sleep(POLL_S)


@contextmanager
def _second_store(kind: str, folder: Path) -> Iterator[StoreSettings]:
    """The settings of an empty store: Edge, or a new collection of the server that is named."""
    if kind == "edge":
        with EdgeOwnerProcess(folder / "edge-other") as edge:
            yield StoreSettings(socket=edge.socket)
        return
    assert SERVER is not None
    grpc_port = int(SERVER.rpartition(":")[2]) + 1
    yield StoreSettings(kind="server", url=SERVER, grpc_port=grpc_port, collection=f"test-{uuid4().hex}", dense_datatype=DENSE)


@pytest.mark.parametrize("kind", ["edge", *(["server"] if SERVER else [])])
async def test_second_store_is_filled_while_the_first_serves(kind: str, flow: Settings, tmp_path: Path) -> None:
    await send_sample(flow, session="s-1")
    await flush(flow)
    with _second_store(kind, tmp_path) as second_store:
        async with serving(flow), embedding_endpoint(dimension=8) as endpoint:
            await caught_up(flow)
            embedding = EmbeddingSettings(kind="openai", base_url=endpoint.url, model="another", dimension=8)
            other = flow.model_copy(update={"embedding": embedding, "store": second_store, "data": tmp_path / "other"})
            plan = await plan_reindex(other)
            async with open_store(flow) as store:
                count = await store.count(TenantScope(TENANT))
            assert plan.dimension == 8
            assert count <= plan.memories
            assert not (await read_reindex(other, NAME)).is_complete
            stop = asyncio.Event()
            second = asyncio.create_task(serve_stage("index", other, stop, second=NAME))
            await _filled(other)
            hits, confidence = await _found(flow)
            assert hits
            assert confidence is not None
            await send_sample(flow, session="s-2", user="bob")  # the second store follows the first
            await flush(flow)
            await caught_up(flow)
            await _filled(other)
            async with open_store(flow) as first, open_store(other) as filled:
                assert await digest(first, TENANT) == await digest(filled, TENANT)
            hits, confidence = await _found(other)
            assert hits
            assert confidence is None, "it is not calibrated for this model"
            with pytest.raises(ModelMismatchError):
                await _found(other.model_copy(update={"store": flow.store}))
            stop.set()
            await second
        # The live workers take the second store over: its marks cover what they have handled.
        async with embedding_endpoint(dimension=8) as endpoint:
            moved = EmbeddingSettings(kind="openai", base_url=endpoint.url, model="another", dimension=8)
            switched = flow.model_copy(update={"embedding": moved, "store": other.store})
            await send_sample(switched, session="s-3", user="cleo")
            await flush(switched)
            async with serving(switched):
                await caught_up(switched)
                async with open_store(switched) as store:
                    assert await store.count(TenantScope(TENANT, user="cleo"))
