"""The Compose file with images that are built on this machine: a smoke load survives a replacement, an upgrade, and ``down`` and ``up``.

``VARVE_TEST_COMPOSE`` names podman-compose, ``VARVE_TEST_IMAGE`` the built image, and ``VARVE_TEST_PREVIOUS_IMAGE`` the image from which
the upgrade begins; buildah keeps their health check only with ``--format docker``. Kafka, Redis and Prometheus come from packages
(``tests/deploy/compose``), the engine of Qdrant runs in a separate process, and Grafana is left out. The ports are free ones.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import aiohttp
import pytest
from varve_client import AsyncVarveClient

from runtime.settings import Settings
from streams.stages.catalog import STAGES
from tests.waiting import until_async
from varve.embedded import jars
from varve.embedded.ports import HOST, free_port

ROOT: Final = Path(__file__).parents[2]
IMAGES: Final = ROOT / "tests" / "deploy" / "compose"
BASE: Final = ("buildah", "bud", "--isolation", "chroot", "--network", "host", "--format", "docker", "--pull-never")
STAND_INS: Final = {
    "Kafka": "apache/kafka:4.3.0",
    "Redis": "redis:7",
    "Prometheus": "prom/prometheus:v3.5.0",
    "Edge": "localhost/varve-edge",
}
ROLES: Final = ("service", *STAGES)
SERVICES: Final = (*ROLES, "prometheus")
USERS: Final = 20
MESSAGES: Final = 400

pytestmark = [pytest.mark.external, pytest.mark.timeout(1500)]


def run(*command: str, **environment: str) -> str:
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {(done.stdout + done.stderr)[-4000:]}"
    return done.stdout


@dataclass(frozen=True, slots=True)
class Compose:
    """A project of podman-compose, and the images of Varve that it runs."""

    program: str
    project: str
    image: str
    previous: str
    service_port: int
    prometheus_port: int

    def client(self, key: str) -> AsyncVarveClient:
        """A client of the query service."""
        return AsyncVarveClient(f"http://{HOST}:{self.service_port}", api_key=key)

    def call(self, *arguments: str) -> str:
        files = (word for each in ("deploy/compose.yaml", "tests/deploy/compose/local.yaml") for word in ("-f", each))
        podman = ("--podman-path", str(IMAGES / "podman"), "--in-pod", "false")
        ports = {"SERVICE_PORT": str(self.service_port), "PROMETHEUS_PORT": str(self.prometheus_port)}
        return run(self.program, *podman, "-p", self.project, *files, *arguments, **ports)

    def varve(self, *arguments: str) -> str:
        """Runs a command of Varve in the service's container."""
        return self.call("exec", "-T", "service", "varve", *arguments)

    def container(self, service: str) -> str:
        return f"{self.project}_{service}_1"

    def inspect(self, service: str, form: str) -> str:
        return run("podman", "inspect", "--format", form, self.container(service)).strip()

    def wait(self, services: Sequence[str]) -> None:
        """Waits until services are healthy."""
        run(str(IMAGES / "podman"), "wait", "--condition=healthy", *map(self.container, services))

    def up(self) -> None:
        self.call("up", "--detach", "--no-build", *SERVICES)
        self.wait(SERVICES)

    def replace(self, service: str) -> None:
        """Stops a service by SIGTERM, which must end by itself, and starts a new container of the image that is tagged now."""
        self.call("stop", service)
        code = self.inspect(service, "{{.State.ExitCode}}")
        assert code == "0", f"{service} ended with {code}: {run('podman', 'logs', '--tail', '20', self.container(service))}"
        self.call("up", "--detach", "--no-build", "--no-deps", "--force-recreate", service)
        self.wait([service])


@pytest.fixture(scope="module")
def compose(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compose]:
    """The running project, of the previous image."""
    program, image = os.environ.get("VARVE_TEST_COMPOSE"), os.environ.get("VARVE_TEST_IMAGE")
    if program is None or image is None:
        pytest.skip("no podman-compose or image: set VARVE_TEST_COMPOSE and VARVE_TEST_IMAGE")
    previous = os.environ.get("VARVE_TEST_PREVIOUS_IMAGE", image)
    for each in (image, previous):
        check = run("podman", "image", "inspect", "--format", "{{if .HealthCheck}}yes{{end}}", each).strip()
        assert check, f"the image {each} has no health check: build it with --format docker"
    context = tmp_path_factory.mktemp("images")
    shutil.copytree(IMAGES, context, dirs_exist_ok=True)
    cache = Settings().cache_path
    jars.fetch(cache)
    shutil.copytree(jars.jar_folder(cache), context / "jars")
    project = f"varve-test-{uuid4().hex[:6]}"
    found = Compose(program, project, image, previous, service_port=free_port(), prometheus_port=free_port())
    run("buildah", "tag", found.previous, "localhost/varve")
    for name, tag in STAND_INS.items():
        run(*BASE, "-t", tag, "-f", str(context / name), str(context))
    try:
        found.up()
        yield found
    finally:
        found.call("down", "--volumes")


@pytest.fixture(scope="module")
def key(compose: Compose) -> str:
    """The API key of a tenant."""
    found = re.search(r"vk_\S+", compose.varve("tenants", "add", "acme", "--schema", "companion"))
    assert found is not None
    return found[0]


async def remember(client: AsyncVarveClient, thing: str) -> None:
    """Sends a few messages of each user about a thing, and waits until each user's recall finds it."""
    for number in range(MESSAGES // USERS):
        said = f"On day {number} I bought {number + 2} kilograms of {thing} for the market in Bergen."
        await client.send([{"user": f"u{user}", "session": f"{thing}-{user}", "role": "user", "text": said} for user in range(USERS)])
    await client.flush()
    await until_async(lambda: is_recalled(client, thing))


async def is_recalled(client: AsyncVarveClient, thing: str) -> bool:
    """Whether a recall of each user finds a thing."""
    found = [await client.recall(f"When did I buy {thing} for the market?", user=f"u{user}") for user in range(USERS)]
    return all(any(thing in each.content for each in answer.results) for answer in found)


async def test_a_smoke_load_is_remembered(compose: Compose, key: str) -> None:
    async with compose.client(key) as client:
        await remember(client, "pears")
    assert set(re.findall(r"^(\w+) +0\b", compose.varve("status"), re.MULTILINE)) >= STAGES.keys()


async def test_prometheus_reads_every_process(compose: Compose, key: str) -> None:
    async def healthy() -> set[str]:
        async with aiohttp.ClientSession() as http, http.get(f"http://{HOST}:{compose.prometheus_port}/api/v1/targets") as response:
            targets = json.loads(await response.text())["data"]["activeTargets"]
        return {each["labels"]["component"] for each in targets if each["health"] == "up"}

    await until_async(healthy, set(ROLES).issubset)


async def test_messages_during_a_replacement_are_remembered(compose: Compose, key: str) -> None:
    async with compose.client(key) as client:
        await asyncio.gather(asyncio.to_thread(compose.replace, "extraction"), remember(client, "plums"))


async def test_an_upgrade_keeps_memories(compose: Compose, key: str) -> None:
    run("buildah", "tag", compose.image, "localhost/varve")
    for role in ROLES:
        await asyncio.to_thread(compose.replace, role)
    wanted = run("podman", "image", "inspect", "--format", "{{.Id}}", compose.image).strip()
    assert {role: compose.inspect(role, "{{.Image}}") for role in ROLES} == dict.fromkeys(ROLES, wanted)
    async with compose.client(key) as client:
        assert await is_recalled(client, "pears")
        assert await is_recalled(client, "plums")
        await remember(client, "quinces")


async def test_memories_survive_down_and_up(compose: Compose, key: str) -> None:
    compose.call("down")
    compose.up()
    async with compose.client(key) as client:
        assert await is_recalled(client, "pears")
        assert await is_recalled(client, "quinces")
        await remember(client, "cherries")
