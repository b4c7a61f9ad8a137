"""Every role of the image in a container: unprivileged, on a read-only root file system, against a real broker, Redis and Qdrant Edge.

``make test-image`` builds the image and runs this where podman or Docker is installed. ``VARVE_TEST_IMAGE`` names a built image instead,
and ``VARVE_TEST_PREVIOUS_IMAGE`` the image from which the upgrade begins. The containers use the host's network.
"""

import asyncio
import os
import re
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from uuid import uuid4

import aiohttp
import pytest
from varve_client import AsyncVarveClient

from benchmarks.processes import broker_and_redis
from benchmarks.service import SOCKET, edge_owner
from runtime.settings import Settings
from streams.stages.catalog import STAGES
from tests.waiting import until_async
from varve.embedded.ports import HOST, free_port

ROOT: Final = Path(__file__).parents[2]
ROLES: Final[Mapping[str, tuple[str, ...]]] = {**{each: ("worker", each) for each in STAGES}, "service": ("serve",)}
HARDENED: Final = ("--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
GRACE_S: Final = 70
HEALTH: Final = "import urllib.request; urllib.request.urlopen('http://127.0.0.1:{port}/readyz', timeout=4)"

pytestmark = pytest.mark.external


@pytest.fixture(scope="module")
def engine() -> str:
    """The command of the container engine."""
    found = os.environ.get("VARVE_TEST_CONTAINER_ENGINE")
    if not found:
        pytest.skip("no container engine: install podman or Docker, and run make test-image")
    return found


@pytest.fixture(scope="module")
def image(engine: str) -> str:
    """The image's name; it is built unless ``VARVE_TEST_IMAGE`` names one."""
    if given := os.environ.get("VARVE_TEST_IMAGE"):
        return given
    command = [engine, "build", "-f", "deploy/Dockerfile", "-t", "varve-test", "."]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.fail(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}", pytrace=False)
    return "varve-test"


@dataclass(frozen=True, slots=True)
class Containers:
    """Containers of one stack: their engine, the volume of their data, and their settings."""

    engine: str
    folder: Path
    name: str
    settings: Settings
    service_port: int

    async def call(self, *arguments: str) -> str:
        """Runs the engine's command; returns its output."""
        done = await asyncio.to_thread(
            subprocess.run, [self.engine, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
        assert done.returncode == 0, f"{' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def options(self, metrics_port: int) -> list[str]:
        environment = {
            "VARVE_KAFKA__BOOTSTRAP": self.settings.kafka.bootstrap,
            "VARVE_KAFKA__REPLICATION_FACTOR": "1",
            "VARVE_KAFKA__MIN_INSYNC_REPLICAS": "1",
            "VARVE_REDIS__URL": self.settings.redis.url,
            "VARVE_STORE__KIND": "edge",
            "VARVE_STORE__SOCKET": f"/run/varve/{SOCKET}",
            "VARVE_SERVICE__PORT": str(self.service_port),
            "VARVE_METRICS_PORT": str(metrics_port),
        }
        mounts = ["--volume", f"{self.name}:/data", "--volume", f"{self.folder}:/run/varve"]
        return ["--network", "host", *HARDENED, *mounts, *(word for each in environment.items() for word in ("--env", "=".join(each)))]

    async def once(self, image: str, *arguments: str) -> str:
        """Runs a command of the image to its end."""
        return await self.call("run", "--rm", *self.options(free_port()), image, *arguments)

    @asynccontextmanager
    async def running(self, image: str) -> AsyncIterator[Mapping[str, int]]:
        """Runs all roles during a block, each ready; yields their metrics ports. Then each is stopped by SIGTERM, and ends by itself."""
        ports = {role: free_port() for role in ROLES}
        names = {role: f"{self.name}-{role}" for role in ROLES}
        try:
            for role, words in ROLES.items():
                await self.call(
                    "run", "--detach", "--restart", "on-failure", "--name", names[role], *self.options(ports[role]), image, *words
                )
            for role in ROLES:
                try:
                    await until_async(partial(self._is_healthy, names[role], ports[role]))
                except TimeoutError:
                    pytest.fail(f"{role} is not ready: {await self.logs(names[role])}")
            yield ports
            began = time.monotonic()
            await asyncio.gather(*(self.call("stop", "--time", str(GRACE_S), name) for name in names.values()))
            assert time.monotonic() - began < GRACE_S, "a container was killed"
            for role, name in names.items():
                state = await self.call("inspect", "--format", "{{.State.ExitCode}}", name)
                assert state == "0", f"{role} ended with {state}"
        finally:
            await asyncio.to_thread(subprocess.run, [self.engine, "rm", "--force", *names.values()], capture_output=True, check=False)

    async def logs(self, name: str) -> str:
        """The end of what a container wrote."""
        done = await asyncio.to_thread(subprocess.run, [self.engine, "logs", name], capture_output=True, text=True, check=False)
        return (done.stdout + done.stderr)[-3000:]

    async def _is_healthy(self, name: str, port: int) -> bool:
        """The image's health check, on the port of this container."""
        done = await asyncio.to_thread(
            subprocess.run, [self.engine, "exec", name, "python", "-c", HEALTH.format(port=port)], capture_output=True, check=False
        )
        return done.returncode == 0


def open_to_others(folder: Path) -> None:
    """The containers' user is not the one who owns the Edge's socket."""
    folder.chmod(0o755)
    (folder / SOCKET).chmod(0o666)


@pytest.fixture
async def containers(engine: str) -> AsyncIterator[Containers]:
    async with AsyncExitStack() as resources:
        folder = Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="varve-")))
        servers = await resources.enter_async_context(broker_and_redis(folder))
        await resources.enter_async_context(edge_owner(folder))
        open_to_others(folder)
        name = f"varve-test-{uuid4().hex[:8]}"
        found = Containers(engine, folder, name, servers.settings, free_port())
        yield found
        await found.call("volume", "rm", "--force", name)


async def remember(client: AsyncVarveClient, user: str, text: str, question: str, word: str) -> None:
    """Sends a message, closes its session's window, and waits until a recall finds it."""
    await client.send([{"user": user, "session": f"s-{uuid4().hex[:6]}", "role": "user", "text": text}])
    await client.flush()

    async def is_recalled() -> bool:
        found = await client.recall(question, user=user)
        return any(word in each.content for each in found.results)

    await until_async(is_recalled)


async def test_an_upgrade_of_all_roles_keeps_memories(containers: Containers, image: str) -> None:
    previous = os.environ.get("VARVE_TEST_PREVIOUS_IMAGE", image)
    await containers.once(previous, "topics", "create")
    key = re.search(r"vk_\S+", await containers.once(previous, "tenants", "add", "acme", "--schema", "companion"))
    assert key is not None
    client = AsyncVarveClient(f"http://{HOST}:{containers.service_port}", api_key=key[0])
    async with client:
        async with containers.running(previous):
            await remember(
                client, "ann", "My daughter Mira plays the cello in a school orchestra.", "Which instrument does Mira play?", "cello"
            )
        async with containers.running(image) as ports:
            found = await client.recall("Which instrument does Mira play?", user="ann")
            assert any("cello" in each.content for each in found.results)
            await remember(client, "ann", "My brother Olaf moved to Bergen last month.", "Where does Olaf live?", "Bergen")
            async with aiohttp.ClientSession() as http, http.get(f"http://{HOST}:{ports['index']}/metrics") as response:
                assert "varve_" in await response.text()


async def test_the_image_runs_as_any_user_id(containers: Containers, image: str) -> None:
    """The root file system is read-only, and the user owns /data alone."""
    script = "id -u; touch /x 2>/dev/null || echo refused; touch /data/x && echo written"
    output = await containers.call("run", "--rm", *containers.options(free_port()), "--entrypoint", "sh", image, "-c", script)
    assert output.split() == ["10001", "refused", "written"]
