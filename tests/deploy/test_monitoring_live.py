"""Rules and dashboards on a real Prometheus that scrapes the real stack under load."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from varve_client import AsyncVarveClient, VarveClientError

from control import ControlWriter
from control.tenant_changes import set_tenant
from deploy.grafana.boards import DASHBOARDS
from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import PROFILES
from memory.schema import sample_conversation
from models.llm.telemetry import LLMMetrics
from runtime.kafka import Producer
from runtime.metrics import Metrics
from runtime.settings import Settings
from tests.streams.harness import until_true
from varve.canary.run import CanaryMetrics
from varve.embedded.lifecycle import temporary_stack
from varve.embedded.ports import free_port
from varve.service_client import service_client
from varve.supervisor.process import ManagedProcess, ProcessSpec
from varve.supervisor.supervisor import Supervisor

pytestmark = [pytest.mark.external, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
PROMETHEUS = ROOT / "deploy" / "prometheus"


@pytest.fixture(scope="module")
def programs() -> Path:
    folder = os.environ.get("VARVE_TEST_PROMETHEUS")
    if folder is None:
        pytest.skip("no Prometheus: make test-dashboards")
    return Path(folder)


def promtool(programs: Path, *arguments: str | Path, text: str = "") -> str:
    done = subprocess.run((programs / "promtool", *arguments), input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_each_alert_fires_only_in_its_case(programs: Path) -> None:
    promtool(programs, "test", "rules", PROMETHEUS / "tests" / "alerts.yaml")


def test_prometheus_takes_its_configuration(programs: Path) -> None:
    promtool(programs, "check", "config", PROMETHEUS / "prometheus.yml")


def test_metrics_are_named_as_prometheus_wants(programs: Path) -> None:
    metrics = Metrics()
    LLMMetrics(metrics.registry)
    CanaryMetrics(metrics.registry)
    assert promtool(programs, "check", "metrics", text=metrics.render().decode()) == ""


@dataclass(frozen=True)
class Watched:
    """A stack that a Prometheus scrapes, and that somebody uses all the time."""

    settings: Settings
    supervisor: Supervisor
    service: AsyncVarveClient
    prometheus: httpx.AsyncClient
    pages: Mapping[str, str]
    """Where each process shows its metrics."""

    async def ask(self, expr: str) -> list[dict[str, Any]]:
        answer: dict[str, Any] = (await self.prometheus.get("/api/v1/query", params={"query": expr})).json()
        assert answer["status"] == "success", answer
        return [each for each in answer["data"]["result"] if each["value"][1] != "NaN"]


@asynccontextmanager
async def watched_stack(programs: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Watched]:
    async with LLMSimulator(profile=PROFILES["prompt"]) as llm:
        monkeypatch.setenv("VARVE_LLM__BASE_URL", llm.base_url)
        monkeypatch.setenv("VARVE_LLM__MODEL", "simulated")
        async with (
            temporary_stack(folder / "stack", tenant="acme") as running,
            service_client(running.settings) as service,
            a_canary(running.settings, folder) as canary,
            scraping(programs, folder / "prometheus", {**running.file.probes, "canary": canary}) as address,
            httpx.AsyncClient(base_url=address) as prometheus,
        ):
            pages = {**running.file.probes, "canary": canary}
            watched = Watched(running.settings, running.supervisor, service, prometheus, pages)
            # The load waits for nothing. After it, the facts of the canary would be found too late to be measured.
            await until_true(lambda: nonempty(watched, "sum(rate(varve_canary_freshness_seconds_count[15m])) > 0"), deadline_s=120.0)
            loading = asyncio.create_task(load(service))
            try:
                yield watched
            finally:
                loading.cancel()
                await asyncio.wait([loading])


@asynccontextmanager
async def a_canary(settings: Settings, folder: Path) -> AsyncIterator[str]:
    """A canary that uses the service; gives the address of its page."""
    assert settings.client.api_key is not None
    page = f"http://127.0.0.1:{(port := free_port())}"

    async def answers() -> bool:
        async with httpx.AsyncClient() as http:
            try:
                return (await http.get(f"{page}/readyz")).is_success
            except httpx.TransportError:
                return False

    process = ManagedProcess(
        ProcessSpec(
            name="canary",
            command=(sys.executable, "-m", "varve", "canary"),
            environment={
                "VARVE_CLIENT__URL": settings.client.url or "",
                "VARVE_CLIENT__API_KEY": settings.client.api_key.get_secret_value(),
                "VARVE_METRICS_PORT": str(port),
                "VARVE_CANARY__INTERVAL_S": "1",
            },
            log=folder / "canary.log",
            ready=answers,
            start_deadline_s=120.0,
        )
    )
    await process.start()
    try:
        yield page
    finally:
        await process.stop()


async def load(service: AsyncVarveClient) -> None:
    """Sends conversations and asks for them."""
    for number in count():
        messages = [{**each, "session": f"session-{number}", "id": f"{number}-{each['id']}"} for each in sample_conversation("companion")]
        with suppress(VarveClientError):
            await service.send(messages)
            await service.flush(f"session-{number}")
            await service.recall("What does Mara love?")


def configuration(folder: Path, pages: Mapping[str, str]) -> Path:
    """The repository's configuration with these pages, and with shorter waits."""
    config = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    folder.mkdir()
    for path in (PROMETHEUS / "rules").glob("*.yaml"):
        # Minutes that an alert waits for are seconds here: what it asks for stays as it is.
        (folder / path.name).write_text(re.sub(r"(for: \d+)m$", r"\1s", path.read_text(), flags=re.MULTILINE))
    config["rule_files"] = [str(folder / path.name) for path in (PROMETHEUS / "rules").glob("*.yaml")]
    targets = [{"targets": [page.removeprefix("http://")], "labels": {"component": name}} for name, page in pages.items()]
    config["scrape_configs"] = [{"job_name": "varve", "static_configs": targets}]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    return folder / "prometheus.yml"


@asynccontextmanager
async def scraping(programs: Path, folder: Path, pages: Mapping[str, str]) -> AsyncIterator[str]:
    """A Prometheus with the rules of the repository, every second; gives its address."""
    config = configuration(folder, pages)
    address = f"127.0.0.1:{free_port()}"

    async def ready() -> bool:
        async with httpx.AsyncClient() as http:
            try:
                return (await http.get(f"http://{address}/-/ready")).status_code == 200
            except httpx.TransportError:
                return False

    process = ManagedProcess(
        ProcessSpec(
            name="prometheus",
            command=(
                str(programs / "prometheus"),
                f"--config.file={config}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address={address}",
            ),
            log=folder / "log",
            ready=ready,
            start_deadline_s=60.0,
        )
    )
    await process.start()
    try:
        yield f"http://{address}"
    finally:
        await process.stop()


async def test_every_panel_shows_data_under_load(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [
        (board.name, title, without_fallback(expr.replace("$__rate_interval", "1m")))
        for board in DASHBOARDS
        for title, expr in board.queries()
    ]
    async with watched_stack(programs, tmp_path, monkeypatch) as watched:
        empty = list(asked)

        async def all_show_data() -> bool:
            empty[:] = [each for each in asked if not await watched.ask(each[2])]
            return not empty

        try:
            await until_true(all_show_data, deadline_s=200.0)
        except TimeoutError:
            pytest.fail(f"no data: {empty}")
        for name, page in watched.pages.items():
            async with httpx.AsyncClient() as http:
                shown = (await http.get(f"{page}/metrics")).text
            assert promtool(programs, "check", "metrics", text=shown) == "", name


async def test_alerts_fire_when_things_break(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with watched_stack(programs, tmp_path, monkeypatch) as watched:

        def firing(alert: str, **labels: str) -> Callable[[], Awaitable[bool]]:
            wanted = ",".join(f'{name}="{value}"' for name, value in {"alertname": alert, "alertstate": "firing", **labels}.items())

            async def asks() -> bool:
                return bool(await watched.ask(f"ALERTS{{{wanted}}}"))

            return asks

        await until_true(lambda: nonempty(watched, 'varve_records_total{stage="index"}'), deadline_s=120.0)
        assert await watched.ask('ALERTS{alertstate="firing",alertname=~"VarveDeadLetters|VarveLLMBudgetSpent|VarveTargetDown"}') == []
        topic = watched.settings.topic("messages")
        async with Producer(kafka=watched.settings.kafka) as producer:
            await producer.send(topic, key=b"acme/s", value=b"no message")
        await until_true(firing("VarveDeadLetters", stage="sessions"))
        await ControlWriter(settings=watched.settings).write(
            lambda draft: set_tenant(draft, "acme", budget={"hard_tokens": 1}), action="test", by="a test"
        )
        await until_true(firing("VarveLLMBudgetSpent"))
        [index] = [program.pid for program in watched.supervisor.programs if program.name == "index"]
        assert index is not None
        os.kill(index, signal.SIGSTOP)
        try:
            await until_true(firing("VarveTargetDown", component="index"))
        finally:
            os.kill(index, signal.SIGCONT)


def without_fallback(expr: str) -> str:
    """The query of a canary's panel without the fallback for installations without a canary, which would always show data."""
    return re.sub(r" or vector\(\d\)$", "", expr) if "varve_canary" in expr else expr


async def nonempty(watched: Watched, expr: str) -> bool:
    return bool(await watched.ask(expr))
