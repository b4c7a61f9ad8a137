"""The AsyncAPI document by the specification's own parser; ``make test-producers`` brings what it needs."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "reference" / "asyncapi.json"

pytestmark = pytest.mark.external


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the parser is installed in."""
    if "VARVE_TEST_PRODUCERS" not in os.environ or shutil.which("npm") is None:
        pytest.skip("no parser: make test-producers, with Node.js")
    folder = tmp_path_factory.mktemp("asyncapi")
    shutil.copytree(ROOT / "deploy" / "asyncapi", folder, dirs_exist_ok=True)
    installed = run("npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", folder=folder)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    return folder


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=200, check=False)


def findings(checker: Path, document: Path) -> str:
    done = run("node", "check.mjs", str(document), folder=checker)
    assert done.stderr == ""
    assert (done.returncode == 0) == (done.stdout == "")
    return done.stdout


def test_the_document_follows_the_specification(checker: Path) -> None:
    assert findings(checker, DOCUMENT) == ""


@pytest.mark.parametrize(("place", "code"), [("channel", "invalid-ref"), ("action", "asyncapi-document-resolved")])
def test_the_parser_notices_a_defect(checker: Path, tmp_path: Path, place: str, code: str) -> None:
    document: Any = json.loads(DOCUMENT.read_text())
    operation = document["operations"]["produceMessages"]
    operation[place] = {"$ref": "#/channels/nowhere"} if place == "channel" else "shout"
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(document))
    assert code in findings(checker, broken)
