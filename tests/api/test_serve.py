"""The query service as a separate process."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.waiting import until
from varve.embedded.ports import free_port

pytestmark = pytest.mark.integration

SERVE = "from api.serve import serve; from runtime.settings import Settings; serve(Settings())"
DEADLINE_S = 60


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_it_starts_without_kafka_and_stops_cleanly(tmp_path: Path, stop: signal.Signals) -> None:
    port = free_port()
    environment = {
        **os.environ,
        "VARVE_DATA": str(tmp_path),
        "VARVE_SERVICE__PORT": str(port),
        "VARVE_SERVICE__PRODUCE_TIMEOUT_S": "1",
        "VARVE_KAFKA__BOOTSTRAP": f"127.0.0.1:{free_port()}",
        "VARVE_LOG__FORMAT": "json",
    }
    process = subprocess.Popen([sys.executable, "-c", SERVE], env=environment, stderr=subprocess.PIPE, text=True)
    try:

        def has_come_up() -> bool:
            assert process.poll() is None, process.communicate()[1]
            return _answers(port)

        until(has_come_up, deadline_s=DEADLINE_S)
        process.send_signal(stop)
        _, log = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == 0, log
        assert "kafka_unavailable" in log
        assert "Traceback" not in log
    finally:
        process.kill()
        process.wait()


def test_a_signal_during_the_start_stops_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute_broker:
        environment = {**os.environ, "VARVE_DATA": str(tmp_path), "VARVE_KAFKA__BOOTSTRAP": f"127.0.0.1:{mute_broker.getsockname()[1]}"}
        process = subprocess.Popen([sys.executable, "-c", SERVE], env=environment, stderr=subprocess.PIPE, text=True)
        try:
            mute_broker.settimeout(DEADLINE_S)
            connection, _ = mute_broker.accept()  # it is opening its dependencies now, and would wait for a response
            with connection:
                process.send_signal(signal.SIGTERM)
                _, log = process.communicate(timeout=DEADLINE_S)
            assert process.returncode == 0, log
        finally:
            process.kill()
            process.wait()


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=1).status_code == 200
    except httpx.TransportError:
        return False
