"""Clients that hold a connection without using it, and bodies of callers without a key, on a service process."""

import asyncio
import select
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import httpx
import pytest

from runtime.kafka import create_topics
from runtime.settings import Settings
from tests.api.service_process import DEADLINE_S, ServiceProcess, read_to_end, service_process
from tests.control_log import add_tenant
from tests.one_broker import one_broker
from tests.waiting import until

pytestmark = pytest.mark.integration

HEAD_S, BODY_S, WRITE_S, IDLE_S = 1.0, 2.0, 2.0, 1
CONNECTIONS = 40
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
def service(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    reached = one_broker(bootstrap=kafka, topic_prefix=f"t{uuid.uuid4().hex}.", partitions=1)
    key = asyncio.run(_with_tenant(Settings(kafka=reached)))
    with service_process(
        tmp_path_factory.mktemp("slow"),
        key=key,
        VARVE_KAFKA__BOOTSTRAP=reached.bootstrap,
        VARVE_KAFKA__TOPIC_PREFIX=reached.topic_prefix,
        VARVE_SERVICE__PRODUCE_TIMEOUT_S=str(DEADLINE_S),
        VARVE_SERVICE__HEAD_TIMEOUT_S=str(HEAD_S),
        VARVE_SERVICE__BODY_TIMEOUT_S=str(BODY_S),
        VARVE_SERVICE__WRITE_TIMEOUT_S=str(WRITE_S),
        VARVE_SERVICE__IDLE_TIMEOUT_S=str(IDLE_S),
        VARVE_SERVICE__MAX_CONNECTIONS=str(CONNECTIONS),
    ) as running:
        yield running


async def _with_tenant(settings: Settings) -> str:
    await create_topics(settings)
    return await add_tenant(settings, "acme", schema="companion")


def post(service: ServiceProcess, path: str, *, length: int, key: str | None = None) -> bytes:
    """The head of a request."""
    key_line = b"" if key is None else b"X-API-Key: %s\r\n" % key.encode()
    return b"POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n" % (path.encode(), key_line, length)


def closed_count(service: ServiceProcess, reason: str) -> float:
    lines = service.metrics().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(f'varve_http_connections_closed_total{{reason="{reason}"}}'))


@pytest.mark.parametrize("head", [b"", b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_a_head_that_never_ends_is_cut_off(service: ServiceProcess, head: bytes) -> None:
    before = closed_count(service, "head")
    with service.connect() as connection:
        connection.sendall(head)
        answer = read_to_end(connection)
    assert answer.startswith(b"HTTP/1.1 408") if head else answer == b""
    assert closed_count(service, "head") == before + 1


def test_a_head_in_drops_is_cut_off(service: ServiceProcess) -> None:
    with service.connect() as connection:
        connection.sendall(HEALTH[:-2])
        assert drip_until_closed(connection, b"X: y\r\n").startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + HEALTH,
        HEALTH.replace(b"\r\n", b"\n") + HEALTH,
    ],
)
def test_a_request_with_two_readings_is_answered_400(service: ServiceProcess, sent: bytes) -> None:
    with service.connect() as connection:
        connection.sendall(sent)
        answer = read_to_end(connection)
    assert answer.startswith(b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1") == 1, "what follows is not read as a request"


def test_a_body_that_never_ends_is_answered_408(service: ServiceProcess) -> None:
    with service.connect() as connection:
        connection.sendall(post(service, "/v1/messages", length=1000, key=service.key) + b"[")
        answer = read_to_end(connection)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"application/problem+json" in answer
    assert b"send smaller batches" in answer
    log = service.log.read_text()
    assert "Traceback" not in log
    assert '"status": 499' in log or '"status":499' in log


def test_a_connection_with_nothing_left_is_closed(service: ServiceProcess) -> None:
    assert service.ask(HEALTH).startswith(b"HTTP/1.1 200")


def test_a_silent_connection_is_closed_in_its_time(service: ServiceProcess) -> None:
    with service.connect() as silent, service.connect() as slow:
        slow.sendall(post(service, "/v1/messages", length=1000, key=service.key) + b"[")
        silent.sendall(HEALTH)
        answer = b""
        while not answer.endswith(b"}"):
            answer += silent.recv(65536)
        # One timer of the service is half as long as the other.
        assert select.select([silent, slow], [], [], DEADLINE_S)[0] == [silent]
        assert silent.recv(65536) == b""


def test_no_body_is_read_without_a_valid_key(service: ServiceProcess) -> None:
    paths = httpx.get(f"{service.url}/openapi.json").json()["paths"]
    posts = [path for path, operations in paths.items() if "post" in operations]
    assert "/v1/recall" in posts
    assert "/v1/admin/dead-letters/redrive" in posts
    for path in posts:
        for key in (None, "vk_wrong"):
            # The body never arrives: a service that waited for it could not respond.
            with service.connect() as connection:
                connection.sendall(post(service, path, length=10_000_000, key=key))
                assert connection.recv(65536).startswith(b"HTTP/1.1 401"), path


def test_a_slow_body_after_a_refusal_is_cut_off(service: ServiceProcess) -> None:
    before = closed_count(service, "body")
    with service.connect() as connection:
        connection.sendall(post(service, "/v1/recall", length=10**9))
        assert drip_until_closed(connection, b"x").startswith(b"HTTP/1.1 401")
    assert closed_count(service, "body") == before + 1


def test_half_open_connections_block_no_client(service: ServiceProcess) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(service.connect()) for _ in range(CONNECTIONS * 3)]
        for connection in held:
            with suppress(OSError):  # it may be closed already, in favour of a newer one
                connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        assert httpx.get(f"{service.url}/healthz", timeout=DEADLINE_S).status_code == 200
    assert closed_count(service, "room") >= CONNECTIONS, "they were closed for others, before their time was over"


def test_bodies_in_drops_block_no_client(service: ServiceProcess) -> None:
    before = closed_count(service, "room")
    with ExitStack() as stack:
        held = [stack.enter_context(service.connect()) for _ in range(CONNECTIONS * 2)]
        for connection in held:
            with suppress(OSError):  # it may be closed already, in favour of a newer one
                connection.sendall(post(service, "/v1/messages", length=1000, key=service.key) + b"[")
        assert httpx.get(f"{service.url}/healthz", timeout=DEADLINE_S).status_code == 200
        # A connection whose request the busy service had not read yet is closed without an answer.
        assert any(each.startswith(b"HTTP/1.1 503") for each in answers_of_closed(held))
    assert closed_count(service, "room") - before >= CONNECTIONS


def answers_of_closed(connections: list[socket.socket]) -> Iterator[bytes]:
    """The answers of the service on the connections that it has closed."""
    readable, _, _ = select.select(connections, [], [], 0)
    for each in readable:
        with suppress(ConnectionResetError):
            yield read_to_end(each)


def test_a_connection_that_reads_no_answer_is_closed(service: ServiceProcess) -> None:
    before = closed_count(service, "answer")
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(DEADLINE_S)
        connection.connect(("127.0.0.1", service.port))
        with suppress(OSError):
            while True:
                connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
    assert closed_count(service, "answer") == before + 1


def test_a_client_that_hangs_up_leaves_no_trace(service: ServiceProcess) -> None:
    for path in ("/v1/messages", "/v1/recall", "/v1/flush"):
        with service.connect() as connection:
            connection.sendall(post(service, path, length=1000, key=service.key) + b'{"query"')
    wanted = [f'route="{path}",status="499"' for path in ("/v1/messages", "/v1/recall", "/v1/flush")]
    until(service.metrics, lambda metrics: all(each in metrics for each in wanted), deadline_s=DEADLINE_S)
    assert "Traceback" not in service.log.read_text()
    assert 'status="500"' not in service.metrics()


def drip_until_closed(connection: socket.socket, drop: bytes) -> bytes:
    """Sends a little again and again; returns what came back once the service has closed the connection."""
    received = b""
    deadline = time.monotonic() + DEADLINE_S
    with suppress(ConnectionError):
        while time.monotonic() < deadline:
            connection.sendall(drop)
            if select.select([connection], [], [], 0.05)[0]:
                if not (block := connection.recv(65536)):
                    return received
                received += block
        raise AssertionError("the service never ends the client's connection")
    return received
