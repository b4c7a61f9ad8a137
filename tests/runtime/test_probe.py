import httpx
import pytest

from runtime.metrics import Metrics
from runtime.probe import Check, ProbeServer


async def test_it_serves_health_readiness_and_metrics_and_nothing_else() -> None:
    checks = {"assigned": True, "recovered": False}
    metrics = Metrics()
    metrics.dead_letters.labels(stage="sessions", reason="malformed").inc()
    async with (
        ProbeServer(host="127.0.0.1", port=0, ready=lambda: checks, metrics=metrics) as probe,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{probe.port}") as http,
    ):
        assert probe.port != 0
        assert (await http.get("/healthz")).status_code == 200
        waiting = await http.get("/readyz")
        assert (waiting.status_code, waiting.json()) == (503, {"ready": False, "checks": {"assigned": True, "recovered": False}})
        assert 'varve_ready{check="recovered"} 0.0' in (await http.get("/metrics")).text
        checks["recovered"] = True
        assert (await http.get("/readyz")).status_code == 200
        shown = await http.get("/metrics")
        assert shown.headers["content-type"].startswith("text/plain")
        assert 'varve_ready{check="recovered"} 1.0' in shown.text
        assert 'varve_dead_letters_total{reason="malformed",stage="sessions"} 1.0' in shown.text
        assert "process_resident_memory_bytes" in shown.text
        assert (await http.get("/")).status_code == 404
        assert (await http.get("/status")).status_code == 404


async def test_a_status_is_served_if_one_is_given() -> None:
    status = {"partitions": {"0": {"held_by": None}}}
    async with (
        ProbeServer(host="127.0.0.1", port=0, ready=dict, metrics=Metrics(), status=lambda: status) as probe,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{probe.port}") as http,
    ):
        assert (await http.get("/status")).json() == status


async def test_a_port_in_use_is_refused() -> None:
    async with ProbeServer(host="127.0.0.1", port=0, ready=dict, metrics=Metrics()) as first:
        second = ProbeServer(host="127.0.0.1", port=first.port, ready=dict, metrics=Metrics())
        with pytest.raises(OSError, match="address already in use"):
            await second.start()
        await second.stop()
    await first.stop()


async def test_an_optional_dependency_does_not_affect_readiness() -> None:
    checks = {"redis": Check(ok=False, needed=False, problem="away"), "kafka": Check(ok=True)}
    async with (
        ProbeServer(host="127.0.0.1", port=0, ready=lambda: checks, metrics=Metrics()) as probe,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{probe.port}") as http,
    ):
        ready = await http.get("/readyz")
        assert (ready.status_code, ready.json()["checks"]["redis"]) == (200, {"ok": False, "needed": False, "problem": "away"})
        checks["kafka"] = Check(ok=False)
        assert (await http.get("/readyz")).status_code == 503
