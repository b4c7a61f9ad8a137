"""The TypeScript client: its build, its own tests against a whole stack with an LLM, its generated types. ``make test-typescript``."""

import asyncio
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from control.access_keys import SCOPES
from loadtest.llm_simulator import LLMSimulator
from tests.control_log import add_key
from varve.embedded.lifecycle import temporary_stack

ROOT: Final = Path(__file__).parents[3]
CLIENT: Final = ROOT / "clients" / "typescript"
PAGE: Final = ROOT / "docs" / "build" / "typescript-client.md"
OLDEST_NODE: Final = 20

pytestmark = [pytest.mark.external, pytest.mark.timeout(600)]


def npm(*arguments: str, **environment: str) -> str:
    """Runs npm in the package, and returns its output."""
    done = subprocess.run(
        ["npm", *arguments], cwd=CLIENT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    """Installs the pinned development packages and builds the package."""
    if os.environ.get("VARVE_TEST_TYPESCRIPT") is None:
        pytest.skip("the TypeScript client is not installed: make test-typescript")
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("Node.js 20 or newer is not installed, with npm")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip(f"Node.js 20 or newer is not installed, only {version.strip()}")
    npm("ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund")
    npm("run", "build")


def test_the_sources_pass_the_linter() -> None:
    npm("run", "lint")


def test_generated_types_match_the_openapi_document(tmp_path: Path) -> None:
    npm("run", "generate", "--", str(tmp_path / "schema.ts"))
    assert (tmp_path / "schema.ts").read_text() == (CLIENT / "src" / "schema.ts").read_text(), (
        "run `npm run generate` in clients/typescript"
    )


def test_the_package_has_its_builds_and_no_dependency(tmp_path: Path) -> None:
    npm("pack", "--ignore-scripts", "--pack-destination", str(tmp_path))
    [archive] = tmp_path.glob("*.tgz")
    project = tmp_path / "project"
    project.mkdir()
    (project / "package.json").write_text('{"private": true}')
    install = ["npm", "install", "--offline", "--no-audit", "--no-fund", str(archive)]
    subprocess.run(install, cwd=project, check=True, capture_output=True, timeout=120)
    assert [path.name for path in (project / "node_modules").iterdir() if not path.name.startswith(".")] == ["varve-client"]
    for script in (
        'import("varve-client").then((m) => console.log(typeof m.VarveClient))',
        'console.log(typeof require("varve-client").VarveClient)',
    ):
        shown = subprocess.run(["node", "-e", script], cwd=project, check=True, capture_output=True, text=True, timeout=60)
        assert shown.stdout == "function\n"
    (project / "use.ts").write_text(
        'import { VarveClient } from "varve-client";\nexport const memory: VarveClient = new VarveClient("", { apiKey: "" });\n'
    )
    compiler = CLIENT / "node_modules" / "typescript" / "bin" / "tsc"
    for module in ("NodeNext", "ESNext"):
        options = ["--strict", "--noEmit", "--target", "ES2022", "--module", module]
        resolution = ["--moduleResolution", "NodeNext" if module == "NodeNext" else "Bundler"]
        subprocess.run(["node", str(compiler), *options, *resolution, "use.ts"], cwd=project, check=True, timeout=120)


def output_of_page(url: str, key: str) -> str:
    """Runs the program of the documentation, compiled as in a strict application, and returns its output."""
    [program] = re.findall(r"^```ts\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert "http://127.0.0.1:8080" in program
    folder = CLIENT / "build"  # inside the package, so that it finds the package by its name
    folder.mkdir(exist_ok=True)
    (folder / "page.mts").write_text(program.replace("http://127.0.0.1:8080", url))
    options = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"]
    options += ["--target", "ES2022", "--module", "NodeNext", "--types", "node"]
    compiler = CLIENT / "node_modules" / "typescript" / "bin" / "tsc"
    for command in (["node", str(compiler), *options, "page.mts"], ["node", "page.mjs"]):
        environment = {**os.environ, "VARVE_CLIENT__API_KEY": key}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


async def test_both_builds_work_against_a_whole_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with LLMSimulator() as llm:
        monkeypatch.setenv("VARVE_LLM__BASE_URL", llm.base_url)
        monkeypatch.setenv("VARVE_LLM__MODEL", "simulated")
        async with temporary_stack(tmp_path) as running:
            key = await add_key(running.settings, "dev", scopes=SCOPES)
            address = {"VARVE_CLIENT__URL": running.file.service_url, "VARVE_CLIENT__API_KEY": key}
            output = await asyncio.to_thread(npm, "test", **address)
            printed = await asyncio.to_thread(output_of_page, running.file.service_url, key)
    assert "[ 'm1' ]" in printed
    assert llm.requests != []
    assert "# fail 0\n# cancelled 0\n# skipped 0\n" in output
