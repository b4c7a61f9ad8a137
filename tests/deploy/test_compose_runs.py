"""The Compose file with images that are built on this machine: all parts become healthy, and a smoke load is remembered and recalled.

``VARVE_TEST_COMPOSE`` names podman-compose, and ``VARVE_TEST_IMAGE`` the built image. Kafka and Redis come from packages
(``tests/deploy/compose``), the engine of Qdrant runs in a process of its own, and Grafana is left out.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest
from varve_client import AsyncVarveClient

from runtime.settings import Settings
from streams.stages.catalog import STAGES
from tests.waiting import until_async
from varve.embedded import jars
from varve.embedded.ports import HOST

ROOT: Final = Path(__file__).parents[2]
IMAGES: Final = ROOT / "tests" / "deploy" / "compose"
BASE: Final = ("buildah", "bud", "--isolation", "chroot", "--network", "host", "--format", "docker", "--pull-never")
STAND_INS: Final = {"Kafka": "apache/kafka:4.3.0", "Redis": "redis:7", "Edge": "localhost/varve-edge"}
SERVICES: Final = ("service", *STAGES)
USERS: Final = 20
MESSAGES: Final = 400

pytestmark = [pytest.mark.external, pytest.mark.timeout(1500)]


def run(*command: str, **environment: str) -> str:
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {(done.stdout + done.stderr)[-4000:]}"
    return done.stdout


@dataclass(frozen=True, slots=True)
class Compose:
    """A project of podman-compose."""

    program: str
    project: str

    def call(self, *arguments: str) -> str:
        files = (word for each in ("deploy/compose.yaml", "tests/deploy/compose/local.yaml") for word in ("-f", each))
        podman = ("--podman-path", str(IMAGES / "podman"), "--in-pod", "false")
        return run(self.program, *podman, "-p", self.project, *files, *arguments)


@pytest.fixture(scope="module")
def compose(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compose]:
    """The running project."""
    program, image = os.environ.get("VARVE_TEST_COMPOSE"), os.environ.get("VARVE_TEST_IMAGE")
    if program is None or image is None:
        pytest.skip("no podman-compose or image: set VARVE_TEST_COMPOSE and VARVE_TEST_IMAGE")
    context = tmp_path_factory.mktemp("images")
    shutil.copytree(IMAGES, context, dirs_exist_ok=True)
    cache = Settings().cache_path
    jars.fetch(cache)
    shutil.copytree(jars.jar_folder(cache), context / "jars")
    run("buildah", "tag", image, "localhost/varve")
    for name, tag in STAND_INS.items():
        run(*BASE, "-t", tag, "-f", str(context / name), str(context))
    found = Compose(program, f"varve-test-{uuid4().hex[:6]}")
    try:
        found.call("up", "--detach", "--no-build", *SERVICES)
        yield found
    finally:
        found.call("down", "--volumes")


async def test_a_smoke_load_is_remembered(compose: Compose) -> None:
    key = re.search(r"vk_\S+", compose.call("exec", "-T", "service", "varve", "tenants", "add", "acme", "--schema", "companion"))
    assert key is not None
    async with AsyncVarveClient(f"http://{HOST}:8080", api_key=key[0]) as client:
        for number in range(MESSAGES // USERS):
            said = f"On day {number} I bought {number + 2} kilograms of pears for the market in Bergen."
            await client.send([{"user": f"u{user}", "session": f"s{user}", "role": "user", "text": said} for user in range(USERS)])
        await client.flush()

        async def is_recalled() -> bool:
            found = [await client.recall("What did I buy for the market?", user=f"u{user}") for user in range(USERS)]
            return all(any("pears" in each.content for each in answer.results) for answer in found)

        await until_async(is_recalled)
    assert set(re.findall(r"^(\w+) +0\b", compose.call("exec", "-T", "service", "varve", "status"), re.MULTILINE)) >= STAGES.keys()
