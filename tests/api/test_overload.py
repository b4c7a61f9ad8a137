"""A service process whose store is frozen: which requests wait or are refused, and its recovery; with a real Edge owner and Redis."""

import asyncio
import socket
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from runtime.kafka import create_topics
from runtime.redis.client import open_redis
from runtime.redis.session_tail import SessionTail, SessionView, TailUpdate, TailWindow
from runtime.settings import RedisSettings, Settings, StoreSettings
from tests.api.running_service import MEMORIES, expect_problem, index
from tests.api.service_process import DEADLINE_S, ServiceProcess, service_process
from tests.control_log import add_operator, add_tenant
from tests.one_broker import one_broker
from tests.stores.edge_owner_process import EdgeOwnerProcess, standing_still
from tests.waiting import until_async

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

QUESTION = {"query": "Where does Ann live now?"}
WAITING = 3


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EdgeOwnerProcess]:
    with EdgeOwnerProcess(tmp_path_factory.mktemp("overload-edge")) as process:
        yield process


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def indexed(owner: EdgeOwnerProcess) -> None:
    await index(Settings(store=StoreSettings(socket=owner.socket)), MEMORIES)


@dataclass(frozen=True)
class Known:
    """The tenants in the control log of a real broker, and the broker's settings."""

    key: str
    other_key: str
    operator_key: str
    variables: dict[str, str]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def known(kafka: str) -> Known:
    settings = Settings(kafka=one_broker(bootstrap=kafka, topic_prefix=f"t{uuid.uuid4().hex}.", partitions=1))
    await create_topics(settings)
    variables = {
        "VARVE_KAFKA__BOOTSTRAP": kafka,
        "VARVE_KAFKA__TOPIC_PREFIX": settings.kafka.topic_prefix,
        "VARVE_SERVICE__PRODUCE_TIMEOUT_S": str(DEADLINE_S),
    }
    key, other_key = [await add_tenant(settings, tenant, schema="companion") for tenant in ("acme", "umbrella")]
    return Known(key, other_key, await add_operator(settings), variables)


@contextmanager
def service_on(owner: EdgeOwnerProcess, data: Path, known: Known, **variables: str) -> Iterator[ServiceProcess]:
    with service_process(data, key=known.key, VARVE_STORE__SOCKET=str(owner.socket), **known.variables, **variables) as service:
        yield service


@asynccontextmanager
async def client(service: ServiceProcess, key: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=service.url, headers={"X-API-Key": key}, timeout=DEADLINE_S) as http:
        yield http


async def shows(service: ServiceProcess, *lines: str) -> None:
    """Waits until the metrics have these lines."""
    async with httpx.AsyncClient(timeout=DEADLINE_S) as http:

        async def shown() -> set[str]:
            return set((await http.get(f"{service.page}/metrics")).text.splitlines())

        await until_async(shown, set(lines).issubset, deadline_s=DEADLINE_S)


async def test_reads_wait_in_bounded_queues_and_are_answered(owner: EdgeOwnerProcess, indexed: None, known: Known, tmp_path: Path) -> None:
    variables = {
        "VARVE_SERVICE__READS_AT_ONCE": "1",
        "VARVE_SERVICE__MAX_QUEUED_READS_OF_TENANT": str(WAITING),
        "VARVE_SERVICE__READ_QUEUE_TIMEOUT_S": "60",
        "VARVE_SERVICE__PROBE_INTERVAL_S": "60",
        "VARVE_SERVICE__PROBE_TIMEOUT_S": "30",
        "VARVE_STORE__TIMEOUT_S": "60",
    }
    with service_on(owner, tmp_path, known, **variables) as service:
        async with (
            client(service, service.key) as flood,
            client(service, known.other_key) as other,
            client(service, known.operator_key) as operator,
        ):
            assert (await flood.post("/v1/recall", json=QUESTION)).status_code == 200
            with standing_still(owner):
                running = asyncio.create_task(flood.post("/v1/recall", json=QUESTION))
                await shows(service, "varve_reads_running 1.0")
                waiting = [asyncio.create_task(flood.post("/v1/recall", json=QUESTION)) for _ in range(WAITING)]
                await shows(service, f"varve_reads_waiting {WAITING}.0")
                refused = await flood.post("/v1/recall", json=QUESTION)
                expect_problem(refused, 429, "too many reads wait")
                assert int(refused.headers["retry-after"]) > 0
                expect_problem(await flood.post("/v1/recall", content=b"not looked at"), 429, "too many reads wait")
                others = asyncio.create_task(other.get(f"/v1/memories/{uuid.uuid4()}"))
                listing = asyncio.create_task(operator.get("/v1/admin/tenants"))
                await shows(service, f"varve_reads_waiting {WAITING + 2}.0")
                waiting.pop().cancel()  # its client hangs up, and waits no more
                await shows(service, f"varve_reads_waiting {WAITING + 1}.0", 'varve_reads_total{outcome="hung_up"} 1.0')
            answers = await asyncio.gather(running, *waiting)
            assert {answer.status_code for answer in answers} == {200}
            assert (await others).status_code == 404
            assert (await listing).status_code == 200
        await shows(service, "varve_reads_waiting 0.0", "varve_reads_running 0.0", 'varve_reads_total{outcome="refused_full"} 2.0')
        assert "Traceback" not in service.log.read_text()


async def test_a_read_without_a_turn_in_time_is_refused(owner: EdgeOwnerProcess, indexed: None, known: Known, tmp_path: Path) -> None:
    variables = {
        "VARVE_SERVICE__READS_AT_ONCE": "1",
        "VARVE_SERVICE__READ_QUEUE_TIMEOUT_S": "0.2",
        "VARVE_SERVICE__PROBE_INTERVAL_S": "60",
        "VARVE_SERVICE__PROBE_TIMEOUT_S": "30",
        "VARVE_STORE__TIMEOUT_S": "60",
    }
    with service_on(owner, tmp_path, known, **variables) as service:
        async with client(service, service.key) as http:
            assert (await http.post("/v1/recall", json=QUESTION)).status_code == 200
            with standing_still(owner):
                running = asyncio.create_task(http.post("/v1/recall", json=QUESTION))
                await shows(service, "varve_reads_running 1.0")
                refused = await http.post("/v1/recall", json=QUESTION)
                expect_problem(refused, 429, "did not start within 0.2 s")
            assert (await running).status_code == 200


async def test_a_deadline_bounds_the_wait_for_a_turn(owner: EdgeOwnerProcess, indexed: None, known: Known, tmp_path: Path) -> None:
    variables = {
        "VARVE_SERVICE__READS_AT_ONCE": "1",
        "VARVE_SERVICE__READ_QUEUE_TIMEOUT_S": "3600",
        "VARVE_SERVICE__PROBE_INTERVAL_S": "60",
        "VARVE_SERVICE__PROBE_TIMEOUT_S": "30",
        "VARVE_STORE__TIMEOUT_S": "60",
    }
    written = {"id": "m1", "position": {"topic": f"{known.variables['VARVE_KAFKA__TOPIC_PREFIX']}messages", "partition": 0, "offset": 0}}
    with service_on(owner, tmp_path, known, **variables) as service:
        async with client(service, service.key) as http:
            assert (await http.post("/v1/recall", json=QUESTION)).status_code == 200
            with standing_still(owner):
                running = asyncio.create_task(http.post("/v1/recall", json={**QUESTION, "deadline_ms": 60_000}))
                await shows(service, "varve_reads_running 1.0")
                for path in ("/v1/recall", "/v1/context"):
                    for asked in ({}, {"session": "s", "after": written}):
                        refused = await http.post(path, json={**QUESTION, **asked, "deadline_ms": 50})
                        expect_problem(refused, 429, "did not start by the request's deadline")
                        assert int(refused.headers["retry-after"]) > 0
                assert not running.done()
            assert (await running).status_code == 200


async def test_a_hanging_store_costs_one_time_out(
    owner: EdgeOwnerProcess, indexed: None, known: Known, redis_url: str, tmp_path: Path
) -> None:
    prefix = f"{uuid.uuid4()}:"
    variables = {
        "VARVE_REDIS__URL": redis_url,
        "VARVE_REDIS__PREFIX": prefix,
        "VARVE_STORE__TIMEOUT_S": "2",
        "VARVE_SERVICE__PROBE_TIMEOUT_S": "1",
        "VARVE_SERVICE__PROBE_INTERVAL_S": "600",
        "VARVE_DELIVERY__BREAKER_RESET_S": "0.1",
    }
    async with open_redis(RedisSettings(url=redis_url, prefix=prefix, timeout_s=60.0)) as redis:
        await SessionTail(redis=redis).write([TailUpdate("acme", "talk", SessionView(open=TailWindow(0, (b'{"text":"hello"}',))), 0, 0)])
    with service_on(owner, tmp_path, known, **variables) as service:
        async with client(service, service.key) as http:
            assert (await http.post("/v1/recall", json=QUESTION)).json()["results"]
            with standing_still(owner):
                expect_problem(await http.post("/v1/recall", json=QUESTION), 503, "vector store does not answer")
                await logs(service, "dependency_lost")
                started = time.monotonic()
                for _ in range(20):
                    refused = await http.post("/v1/recall", json=QUESTION)
                    expect_problem(refused, 503, "vector store does not answer")
                    assert int(refused.headers["retry-after"]) > 0
                    answer = (await http.post("/v1/recall", json={**QUESTION, "session": "talk"})).json()
                    assert (answer["degraded"], answer["results"]) == (["memories"], [])
                    assert answer["session"]["messages"][0]["message"] == {"text": "hello"}
                # Of forty time-outs there is none.
                assert time.monotonic() - started < 20
            await logs(service, "dependency_recovered")
            answer = (await http.post("/v1/recall", json={**QUESTION, "session": "talk"})).json()
            assert answer["results"]
            assert answer["degraded"] == []


async def test_recalls_do_not_wait_for_a_hanging_embedder(known: Known, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute_endpoint:
        variables = {
            "VARVE_EMBEDDING__KIND": "openai",
            "VARVE_EMBEDDING__BASE_URL": f"http://127.0.0.1:{mute_endpoint.getsockname()[1]}/v1",
            "VARVE_EMBEDDING__MODEL": "any",
            "VARVE_SERVICE__EMBEDDING_TIMEOUT_S": "2",
            "VARVE_SERVICE__PROBE_TIMEOUT_S": "1",
        }
        with service_process(tmp_path, key=known.key, **known.variables, **variables) as service:
            await logs(service, "dependency_lost")
            async with client(service, service.key) as http:
                started = time.monotonic()
                for number in range(20):
                    refused = await http.post("/v1/recall", json={"query": f"question {number}"})
                    expect_problem(refused, 503, "embedding model does not answer")
                assert time.monotonic() - started < 20


async def logs(service: ServiceProcess, event: str) -> None:
    """Waits until the service's log has an event."""
    await until_async(lambda: asyncio.to_thread(service.log.read_text), lambda log: event in log, deadline_s=DEADLINE_S)
