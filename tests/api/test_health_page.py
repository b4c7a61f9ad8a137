"""The health page of a service process: its own port, and figures that no caller can swell."""

from collections.abc import Iterator

import httpx
import pytest

from tests.api.service_process import DEADLINE_S, ServiceProcess, service_process

pytestmark = pytest.mark.integration

METHODS = 2000


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with service_process(tmp_path_factory.mktemp("page")) as running:
        yield running


def test_the_public_port_shows_neither_metrics_nor_readiness(service: ServiceProcess) -> None:
    for path in ("/metrics", "/readyz"):
        assert httpx.get(service.url + path).status_code == 404
    assert httpx.get(f"{service.url}/healthz").json() == {"status": "ok"}
    assert "varve_http_requests_total" in service.metrics()
    ready = httpx.get(f"{service.page}/readyz", timeout=DEADLINE_S)
    assert (ready.status_code, set(ready.json()["checks"])) == (
        503,
        {"control", "kafka", "clock", "store", "redis", "embedder", "background_work"},
    )


def test_invented_methods_and_paths_make_no_labels(service: ServiceProcess) -> None:
    before = len(service.metrics())
    with service.connect() as connection:
        for number in range(METHODS):
            path = b"/v1/recall" if number % 2 else b"/invented/%d" % number
            connection.sendall(b"INVENTED%d %s HTTP/1.1\r\nHost: x\r\n\r\n" % (number, path))
            answer = b""
            while b"\r\n\r\n" not in answer or b"trace_id" not in answer:
                answer += connection.recv(65536)
            assert answer.startswith((b"HTTP/1.1 405", b"HTTP/1.1 404"))
    page = service.metrics()
    assert f'varve_http_requests_total{{method="other",route="/v1/recall",status="405"}} {METHODS / 2}' in page
    assert "INVENTED" not in page
    assert len(page) < before + 10_000
    assert "INVENTED" not in service.log.read_text()
