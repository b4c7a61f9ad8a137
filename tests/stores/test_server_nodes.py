"""Several nodes of one Qdrant server: the next one is asked when one fails or hangs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import grpc
import pytest
from qdrant_client import AsyncQdrantClient
from qdrant_client import grpc as wire

from runtime.settings import StoreSettings
from stores.errors import StoreRejectedError, StoreUnavailableError
from stores.server.connection import connected
from stores.server.nodes import QdrantNodes
from tests.stores.closed_port import closed_port
from tests.waiting import until_async

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")


class Node:
    """A node that can only name its version, which is its host's last number. A real Qdrant node has a program that no package carries."""

    def __init__(self, host: str) -> None:
        self.version = host.rpartition(".")[2]
        self.asked = 0
        self.fails_with: grpc.StatusCode | None = None
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def requests(self) -> int:
        return self.asked

    async def health(self, _: object, context: grpc.aio.ServicerContext[object, object]) -> object:
        self.asked += 1
        await self.may_answer.wait()
        if self.fails_with is not None:
            await context.abort(self.fails_with, "told to")
        return wire.HealthCheckReply(title="qdrant", version=self.version)


@asynccontextmanager
async def running(node: Node, host: str, port: int) -> AsyncIterator[None]:
    """The node, listening. Its connections end with the block."""
    serialize, parse = wire.HealthCheckReply.SerializeToString, wire.HealthCheckRequest.FromString
    handler = grpc.unary_unary_rpc_method_handler(node.health, parse, serialize)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("qdrant.Qdrant", {"HealthCheck": handler}),))
    server.add_insecure_port(f"{host}:{port}")
    await server.start()
    try:
        yield
    finally:
        await server.stop(None)


@asynccontextmanager
async def nodes_at(port: int, *hosts: str) -> AsyncIterator[QdrantNodes]:
    url = ",".join(f"http://{host}:{port}" for host in hosts)
    nodes = QdrantNodes(connected(StoreSettings(kind="server", url=url, grpc_port=port, timeout_s=60)), collection="c")
    try:
        yield nodes
    finally:
        await nodes.close()


async def answered_by(nodes: QdrantNodes) -> str:
    return await nodes.ask(_version)


async def _version(client: AsyncQdrantClient) -> str:
    return (await client.info()).version


async def test_the_next_node_answers_for_one_that_is_lost() -> None:
    port, made = closed_port(), [Node(host) for host in HOSTS]
    async with nodes_at(port, *HOSTS) as nodes, AsyncExitStack() as first, running(made[1], HOSTS[1], port):
        await first.enter_async_context(running(made[0], HOSTS[0], port))
        assert await answered_by(nodes) == "1"
        await first.aclose()
        assert [await answered_by(nodes) for _ in range(3)] == ["2", "2", "2"]


async def test_a_returned_node_serves_after_the_other_fails() -> None:
    port, first, second = closed_port(), Node(HOSTS[0]), Node(HOSTS[1])
    async with nodes_at(port, *HOSTS[:2]) as nodes:
        async with running(second, HOSTS[1], port):
            assert await answered_by(nodes) == "2"
        async with running(first, HOSTS[0], port), asyncio.timeout(30):
            while True:  # the connection is tried again after a growing wait
                try:
                    assert await answered_by(nodes) == "1"
                    return
                except StoreUnavailableError:
                    await asyncio.sleep(0.05)


async def test_a_caller_that_stops_waiting_leaves_a_hanging_node() -> None:
    port, first, second = closed_port(), Node(HOSTS[0]), Node(HOSTS[1])
    first.may_answer.clear()
    async with nodes_at(port, *HOSTS[:2]) as nodes, running(first, HOSTS[0], port), running(second, HOSTS[1], port):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await answered_by(nodes)
        async with asyncio.timeout(10):  # far less than the time-out of a request
            assert await answered_by(nodes) == "2"


async def test_a_late_failure_does_not_leave_another_node() -> None:
    port, made = closed_port(), [Node(host) for host in HOSTS]
    made[0].may_answer.clear()
    made[1].fails_with = grpc.StatusCode.UNAVAILABLE
    async with nodes_at(port, *HOSTS) as nodes, AsyncExitStack() as all_nodes:
        for node, host in zip(made, HOSTS, strict=True):
            await all_nodes.enter_async_context(running(node, host, port))
        late, stopped = (asyncio.create_task(answered_by(nodes)) for _ in range(2))
        await until_async(made[0].requests, lambda asked: asked == 2)
        stopped.cancel()
        await asyncio.wait([stopped])
        assert await answered_by(nodes) == "3"
        made[1].fails_with = None
        late.cancel()
        await asyncio.wait([late])
        assert await answered_by(nodes) == "3"


async def test_a_refusal_is_not_repeated_at_another_node() -> None:
    port, first, second = closed_port(), Node(HOSTS[0]), Node(HOSTS[1])
    first.fails_with = grpc.StatusCode.INVALID_ARGUMENT
    async with nodes_at(port, *HOSTS[:2]) as nodes, running(first, HOSTS[0], port), running(second, HOSTS[1], port):
        with pytest.raises(StoreRejectedError, match="told to"):
            await answered_by(nodes)
        assert (first.asked, second.asked) == (1, 0)


async def test_without_any_node_the_store_is_unavailable() -> None:
    async with nodes_at(closed_port(), *HOSTS) as nodes:
        with pytest.raises(StoreUnavailableError, match="collection 'c'"):
            await answered_by(nodes)
        with pytest.raises(StoreUnavailableError):
            await nodes.answering()


async def test_a_series_of_requests_uses_an_answering_node() -> None:
    port, second = closed_port(), Node(HOSTS[1])
    async with nodes_at(port, *HOSTS) as nodes, running(second, HOSTS[1], port):
        client = await nodes.answering()
        assert [await _version(client) for _ in range(2)] == ["2", "2"]
