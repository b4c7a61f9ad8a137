"""Rules and dashboards on a real Prometheus that scrapes the real stack under load."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from deploy.grafana.boards import DASHBOARDS
from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import PROFILES
from memory.schema import sample_conversation
from runtime.settings import Settings
from tests.streams.harness import until_true
from varve.client import ServiceClient
from varve.embedded.lifecycle import running_stack
from varve.embedded.ports import free_port
from varve.embedded.stack import EmbeddedStack
from varve.embedded.tenants import DeveloperTenant
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


def test_each_alert_fires_in_its_case_alone(programs: Path) -> None:
    promtool(programs, "test", "rules", PROMETHEUS / "tests" / "alerts.yaml")


def test_prometheus_takes_its_configuration(programs: Path) -> None:
    promtool(programs, "check", "config", PROMETHEUS / "prometheus.yml")


@asynccontextmanager
async def scraping(programs: Path, folder: Path, pages: Mapping[str, str]) -> AsyncIterator[str]:
    """A Prometheus with the rules of the repository, every second; gives its address."""
    config = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["rule_files"] = [str(PROMETHEUS / "rules" / "*.yaml")]
    targets = [{"targets": [page.removeprefix("http://")], "labels": {"component": name}} for name, page in pages.items()]
    config["scrape_configs"] = [{"job_name": "varve", "static_configs": targets}]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
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
                f"--config.file={folder / 'prometheus.yml'}",
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


async def load(service: ServiceClient, stop: asyncio.Event) -> None:
    """Sends conversations and asks for them, until it is stopped."""
    number = 0
    while not stop.is_set():
        number += 1
        messages = [{**each, "session": f"session-{number}", "id": f"{number}-{each['id']}"} for each in sample_conversation("companion")]
        await service.send(messages)
        await service.flush(f"session-{number}")
        await service.recall("What does Mara love?")


async def test_every_panel_shows_data_under_load(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with LLMSimulator(profile=PROFILES["prompt"]) as llm:
        monkeypatch.setenv("VARVE_LLM__BASE_URL", llm.base_url)
        monkeypatch.setenv("VARVE_LLM__MODEL", "simulated")
        stack = EmbeddedStack(settings=Settings(data=tmp_path / "stack"), throwaway=True, tenant=DeveloperTenant("acme", "companion"))
        supervisor = Supervisor(stack.levels(), notice=lambda _: None)
        folder = tmp_path / "prometheus"
        folder.mkdir()
        async with (
            running_stack(stack, supervisor) as running,
            ServiceClient.from_settings(running.settings) as service,
            scraping(programs, folder, stack.probes) as prometheus,
            httpx.AsyncClient(base_url=prometheus) as http,
        ):
            stop = asyncio.Event()
            loading = asyncio.create_task(load(service, stop))
            try:
                empty: list[tuple[str, str, str]] = []

                async def all_show_data() -> bool:
                    if loading.done():
                        loading.result()
                    empty[:] = [each for each in queries() if not await shows_data(http, each[2])]
                    return not empty

                try:
                    await until_true(all_show_data, deadline_s=200.0)
                except TimeoutError:
                    pytest.fail(f"no data: {empty}")
                for name, page in stack.probes.items():
                    async with httpx.AsyncClient() as probe:
                        shown = (await probe.get(f"{page}/metrics")).text
                    assert promtool(programs, "check", "metrics", text=shown) == "", name
            finally:
                stop.set()
                await asyncio.wait([loading], timeout=60)


def queries() -> list[tuple[str, str, str]]:
    return [(board.name, title, expr.replace("$__rate_interval", "1m")) for board in DASHBOARDS for title, expr in board.queries()]


async def shows_data(http: httpx.AsyncClient, expr: str) -> bool:
    answer: dict[str, Any] = (await http.get("/api/v1/query", params={"query": expr})).json()
    assert answer["status"] == "success", answer
    return any(each["value"][1] != "NaN" for each in answer["data"]["result"])
