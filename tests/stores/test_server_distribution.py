"""The distribution of a collection over a cluster's nodes is set when the collection is created."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from aiohttp import web
from pydantic import ValidationError
from qdrant_client import grpc as wire

from runtime.settings import Settings, StoreSettings
from stores.build import build_store
from stores.errors import StoreRejectedError


async def created_with(**options: Any) -> wire.CreateCollection:
    async with recording_creations() as (port, created):
        store = build_store(Settings(_env_file=None, store=StoreSettings(kind="server", grpc_port=port, **options)))
        with pytest.raises(StoreRejectedError):
            await store.prepare(model="m", dimension=4, late_dimension=4)
        await store.close()
    return created[0]


async def test_replication_and_shards_follow_the_settings() -> None:
    created = await created_with(replication_factor=3, write_consistency_factor=2, shard_number=6)
    assert (created.replication_factor, created.write_consistency_factor, created.shard_number) == (3, 2, 6)


async def test_unset_options_are_left_to_the_server() -> None:
    created = await created_with()
    assert created.collection_name == "varve"
    assert not any(created.HasField(each) for each in ("replication_factor", "write_consistency_factor", "shard_number"))


async def test_tenants_share_shards_that_have_keys() -> None:
    async with member_of_a_cluster(enabled=True) as url:
        created = await created_with(url=url, tenant_shards=4)
    assert created.sharding_method == wire.Custom
    assert created.shard_number == 1
    assert created.metadata["tenant_shards"].integer_value == 4


async def test_shards_by_tenant_take_a_cluster() -> None:
    async with member_of_a_cluster(enabled=False) as url, recording_creations() as (port, created):
        settings = StoreSettings(kind="server", url=url, grpc_port=port, tenant_shards=4)
        store = build_store(Settings(_env_file=None, store=settings))
        with pytest.raises(StoreRejectedError, match="QDRANT__CLUSTER__ENABLED=true"):
            await store.prepare(model="m", dimension=4, late_dimension=4)
        await store.close()
    assert created == []


async def test_vectors_are_kept_in_the_datatypes_of_the_settings() -> None:
    vectors = (await created_with(dense_datatype="float16", late_datatype="float32")).vectors_config.params_map.map
    assert (vectors["dense"].datatype, vectors["late"].datatype) == (wire.Float16, wire.Float32)


async def test_vectors_take_a_byte_or_half_unless_set() -> None:
    vectors = (await created_with()).vectors_config.params_map.map
    assert (vectors["dense"].datatype, vectors["late"].datatype) == (wire.Turbo8, wire.Turbo4)


def test_points_are_placed_in_one_way() -> None:
    with pytest.raises(ValidationError, match="set one of them"):
        StoreSettings(shard_number=2, tenant_shards=2)


def test_more_copies_than_there_are_can_take_no_write() -> None:
    with pytest.raises(ValidationError, match="makes 2 copies: no write could ever count"):
        StoreSettings(replication_factor=2, write_consistency_factor=3)


def test_a_url_names_one_node_or_several() -> None:
    assert StoreSettings().addresses == ("http://127.0.0.1:6333",)
    assert StoreSettings(url="http://q1:6333, https://q2").addresses == ("http://q1:6333", "https://q2")


@pytest.mark.parametrize("second", ["", "q2:6333", "redis://q2", "http://", "//q2"])
def test_an_address_without_scheme_or_host_is_refused(second: str) -> None:
    with pytest.raises(ValidationError, match="address 2 has no scheme or host"):
        StoreSettings(url=f"http://q1:6333,{second}")


@asynccontextmanager
async def member_of_a_cluster(*, enabled: bool) -> AsyncIterator[str]:
    """The address of an HTTP port that reports, as Qdrant does, whether the server is part of a cluster."""
    raft = {"term": 1, "commit": 1, "pending_operations": 0, "is_voter": True}
    thread = {"consensus_thread_status": "working", "last_update": "2026-01-01T00:00:00Z"}
    of_one = {"peer_id": 1, "peers": {}, "raft_info": raft, "consensus_thread_status": thread, "message_send_failures": {}}
    result = {"status": "enabled", **of_one} if enabled else {"status": "disabled"}

    async def status(_: web.Request) -> web.Response:
        return web.json_response({"result": result, "status": "ok", "time": 0.0})

    app = web.Application()
    app.router.add_get("/cluster", status)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def recording_creations() -> AsyncIterator[tuple[int, list[wire.CreateCollection]]]:
    """A port where a collection is created, and then nothing is known: no Qdrant server is at hand."""
    created: list[wire.CreateCollection] = []

    async def health(_: object, context: object) -> object:
        return wire.HealthCheckReply(title="qdrant", version="1.20.0")

    async def exists(_: object, context: object) -> object:
        return wire.CollectionExistsResponse(result=wire.CollectionExists(exists=False))

    async def create(request: wire.CreateCollection, context: object) -> object:
        created.append(request)
        return wire.CollectionOperationResponse(result=True)

    server = grpc.aio.server()
    unary = grpc.unary_unary_rpc_method_handler
    qdrant = {"HealthCheck": unary(health, wire.HealthCheckRequest.FromString, wire.HealthCheckReply.SerializeToString)}
    collections = {
        "CollectionExists": unary(exists, wire.CollectionExistsRequest.FromString, wire.CollectionExistsResponse.SerializeToString),
        "Create": unary(create, wire.CreateCollection.FromString, wire.CollectionOperationResponse.SerializeToString),
    }
    server.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler("qdrant.Qdrant", qdrant),
            grpc.method_handlers_generic_handler("qdrant.Collections", collections),
        )
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield port, created
    finally:
        await server.stop(None)
