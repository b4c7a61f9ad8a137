"""Clients in two languages are generated from the OpenAPI document and compiled; ``make test-openapi`` brings the generators."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from api.app import create_app
from runtime.settings import Settings

ROOT: Final = Path(__file__).parents[2]
ENVIRONMENT: Final = os.environ.get("VARVE_TEST_OPENAPI")

pytestmark = pytest.mark.external


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if ENVIRONMENT is None:
        pytest.skip("no generators: make test-openapi")
    path = tmp_path_factory.mktemp("openapi") / "openapi.json"
    path.write_text(json.dumps(create_app(Settings()).openapi()))
    return path


def run(*command: str, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_python_client_is_generated_without_warnings(document: Path, tmp_path: Path) -> None:
    generator = Path(str(ENVIRONMENT)) / "bin" / "openapi-python-client"
    path = f"{generator.parent.resolve()}{os.pathsep}{os.environ['PATH']}"
    run("env", f"PATH={path}", str(generator.resolve()), "generate", "--path", str(document), "--fail-on-warning", folder=tmp_path)
    package = tmp_path / "varve-client" / "varve_client"
    run(sys.executable, "-m", "compileall", "-q", str(package), folder=tmp_path)
    assert {"recall_memories.py", "build_context.py"} <= {each.name for each in (package / "api" / "read").iterdir()}


def test_typescript_types_are_generated_and_compile(document: Path, tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("Node.js is not installed, with npm")
    shutil.copytree(ROOT / "deploy" / "openapi", tmp_path, dirs_exist_ok=True)
    run("npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", folder=tmp_path)
    run("npx", "openapi-typescript", str(document), "--output", "varve.ts", folder=tmp_path)
    (tmp_path / "use.ts").write_text(
        'import type { components, operations } from "./varve";\n'
        'const body: components["schemas"]["RecallBody"] = { query: "Where?", user: "ann", limit: 5 } as never;\n'
        'type Found = operations["recall_memories"]["responses"][200]["content"]["application/json"];\n'
        "export const first = (found: Found): string => `${body.query}${found.results[0].content}`;\n"
    )
    run("npx", "tsc", "--strict", "--noEmit", "--skipLibCheck", "use.ts", folder=tmp_path)
