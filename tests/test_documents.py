"""What the documents name is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PATH = re.compile(
    r"`((?:\.ci|benchmarks|deploy|docs|evaluation|extraction|loadtest|memory|models|operators|retrieval|runtime|streams|tests|varve)/[\w./-]*)`"
)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_paths_and_links_of_documents_exist(document: Path) -> None:
    text = document.read_text()
    missing = [path for path in PATH.findall(text) if not (ROOT / path).exists()]
    missing += [link for link in LINK.findall(text) if not (document.parent / link).exists()]
    assert missing == []
