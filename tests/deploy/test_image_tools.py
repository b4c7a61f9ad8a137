"""The image, checked by tools that know its format, and its content unpacked on this machine. No Docker engine is used."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from streams.stages.catalog import STAGES
from tests.deploy.image_files import IMAGE, SERVICES

ROOT = Path(__file__).parents[2]
USER = 10001

pytestmark = pytest.mark.external


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def image(checks: Path) -> Iterator[Path]:
    """All that the image holds, in a folder that others than its owner can read and not write."""
    python = ROOT / ".venv" / "bin"
    with tempfile.TemporaryDirectory(prefix="varve-image-") as folder:
        Path(folder).chmod(0o755)
        run(ROOT / "deploy" / "install.sh", f"{folder}/varve", PATH=f"{python}:{os.environ['PATH']}", PYTHON=str(python / "python"))
        yield Path(folder) / "varve"


def test_hadolint_finds_nothing(checks: Path) -> None:
    assert run(checks / "hadolint", "deploy/Dockerfile") == ""


def test_the_compose_file_follows_its_specification(checks: Path) -> None:
    run(checks / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", "deploy/compose.yaml", "deploy/compose-settings.yaml")


def test_docker_compose_reads_the_file(checks: Path) -> None:
    plain = json.loads(run(checks / "docker-compose", "-f", "deploy/compose.yaml", "config", "--format", "json"))
    assert plain["services"].keys() == SERVICES.keys() - {"llm", "canary"}
    simulated = run(
        checks / "docker-compose", "--env-file", "deploy/simulated-llm.env", "-f", "deploy/compose.yaml", "config", "--format", "json"
    )
    services = json.loads(simulated)["services"]
    assert services.keys() == SERVICES.keys() - {"canary"}
    assert services["extraction"]["environment"]["VARVE_LLM__BASE_URL"] == "http://llm:8000/v1"


def test_environment_settings_reach_every_process(checks: Path) -> None:
    given = {"VARVE_SIGNING__PREVIOUS_SECRETS": '["old"]', "VARVE_TRACING__HEADERS": "authorization=x"}
    read = json.loads(run(checks / "docker-compose", "-f", "deploy/compose.yaml", "config", "--format", "json", **given))
    for name in (*STAGES, "service", "topics"):
        environment = read["services"][name]["environment"]
        assert given.items() <= environment.items(), name
        assert environment["VARVE_SIGNING__SINCE"] is None, "nobody said it"


def test_the_bill_of_materials_lists_the_installed_packages(image: Path) -> None:
    bill = json.loads((image / "sbom.cdx.json").read_text())
    assert {each["name"].lower().replace("_", "-"): each["version"] for each in bill["components"]} == {**IMAGE, "varve-client": "0.1.0"}
    assert bill["metadata"]["component"]["name"] == "varve-server"
    # Protobuf's metadata names none; its licence file is BSD-3-Clause.
    assert {each["name"] for each in bill["components"] if not each.get("licenses")} <= {"protobuf"}
    assert (image / "licences" / "NOTICE").read_text() == (ROOT / "NOTICE").read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_stranger_to_the_files_can_run_them(image: Path) -> None:
    embed = """
import asyncio
from models.embedding.build import build_embedder
from runtime.settings import settings

embedder = build_embedder(settings().embedding, cache=settings().cache_path)
print(len(asyncio.run(embedder.embed_query("tea")).dense), len(list(settings().cache_path.iterdir())))
"""
    stranger = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs")
    environment = {"VARVE_CACHE": str(image / "cache"), "HOME": "/nowhere", "PYTHONDONTWRITEBYTECODE": "1"}
    assert run(*stranger, image / "venv" / "bin" / "python", "-I", "-c", embed, **environment) == "384 2\n"
    assert "worker" in run(*stranger, image / "venv" / "bin" / "varve", "--help", **environment, PYTHONPATH="")


def test_no_worker_of_the_image_prepares_rules(image: Path) -> None:
    prepare = """
import extraction.build
from extraction.offline.kept_literals import prepare_rules
from memory.texts import required_literals
from runtime.settings import settings

required_literals.required_literals = None  # preparing a rule would call it
prepare_rules(settings().cache_path)
"""
    run(image / "venv" / "bin" / "python", "-I", "-c", prepare, VARVE_CACHE=str(image / "cache"))


def test_slimming_changes_no_other_environments_files(image: Path) -> None:
    """A file with further links is also in the cache of packages, and in each environment that was made from it."""
    assert [each for each in image.rglob("*") if each.is_file() and not each.is_symlink() and each.stat().st_nlink > 1] == []


def test_slimming_keeps_lazily_imported_modules(image: Path) -> None:
    """Clients of models, tokens, spans, checks of redaction and tracebacks import parts of their libraries when they are first used."""
    use = """
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from openai import AsyncOpenAI
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from qdrant_client import AsyncQdrantClient
from rich.console import Console

from memory.redaction import RedactionPolicy
from models.redaction.detection import Detector

client = AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:9")
client.chat.completions.create
client.embeddings.create
text = "+47 22 86 44 00, DE89 3704 0044 0532 0130 00, 4111 1111 1111 1111"
policy = RedactionPolicy(kinds=("phone", "iban", "card", "national_id"))
print("found", sorted({span.kind for span in Detector(policy).spans(text)}))
private = generate_private_key(65537, 2048)
print(jwt.decode(jwt.encode({"sub": "ann"}, private, "RS256"), private.public_key(), ["RS256"]))
AsyncQdrantClient(url="http://127.0.0.1:9", prefer_grpc=True, check_compatibility=False)
with TracerProvider(shutdown_on_exit=False).get_tracer("varve").start_as_current_span("recall") as span:
    pass
print(OTLPSpanExporter(endpoint="http://127.0.0.1:9", timeout=0.1).export([span]))
try:
    raise ValueError("late")
except ValueError:
    Console().print_exception()
"""
    output = run(image / "venv" / "bin" / "python", "-I", "-c", use, VARVE_CACHE=str(image / "cache"))
    assert "found ['card', 'iban', 'phone']" in output
    assert "{'sub': 'ann'}" in output
    assert "SpanExportResult.FAILURE" in output, "it was encoded, and nobody listens"
    assert "ValueError: late" in output
