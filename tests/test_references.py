"""Names of code in documents and docstrings exist: symbols, files, make's targets."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = (
    *("varve", "api", "streams", "retrieval", "extraction", "stores", "control", "operators", "models", "runtime", "memory"),
    *("evaluation", "training", "loadtest", "benchmarks", "deploy"),
)
# An ADR describes the code at the time of its decision.
DOCUMENTS: Final = [
    *sorted(ROOT.glob("*.md")),
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "adr"),
]
REFERENCE: Final = re.compile(r":(?:func|class|meth|attr|data|mod):`~?([\w.]+)`")
OF_OTHERS: Final = ("datetime.", "uvicorn.")
SYMBOL_IN_FILE: Final = re.compile(r"`([\w/]+\.py)`: `([A-Za-z_][\w.]*)`")
SPAN: Final = re.compile(r"`([^`\n]+)`")
SOURCE_FILE: Final = re.compile(r"(?<![\w*/.-])[\w-]+\.py\b")
MAKE: Final = re.compile(r"(?:^|`|\$ )make ([a-z-]+)", re.MULTILINE)


@cache
def names_in(path: Path) -> frozenset[str]:
    """The names that a module defines or imports: functions, classes, constants, and members of classes, as ``Class.member`` and alone."""
    tree = ast.parse(path.read_text())
    found = set(bound_by(tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            members = {*bound_by(node.body), *attributes_of(node)}
            found |= {node.name, *members, *(f"{node.name}.{each}" for each in members)}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            found |= {each.asname or each.name for each in node.names}
    return frozenset(found)


def bound_by(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (each.id for each in targets if isinstance(each, ast.Name))


def attributes_of(node: ast.ClassDef) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store) and isinstance(each.value, ast.Name):
            yield each.attr


def sources() -> list[Path]:
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


@cache
def all_names() -> frozenset[str]:
    return frozenset[str]().union(*map(names_in, sources()))


def is_there(reference: str) -> bool:
    """Whether a reference leads anywhere: by its full path, or by a name that some module has."""
    if reference.startswith(OF_OTHERS):
        return True
    parts = reference.split(".")
    if parts[0] not in PACKAGES or len(parts) == 1:
        return reference in all_names()
    for length in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:length])
        module = place.with_suffix(".py") if place.with_suffix(".py").is_file() else place / "__init__.py"
        if module.is_file():
            rest = parts[length:]
            # A package hands on what a module of it defines: its members are known by that class's name.
            return not rest or (rest[0] in names_in(module) and ".".join(rest) in names_in(module) | all_names())
    return False


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_refer_to_existing_names(package: str) -> None:
    lost = [
        f"{path.relative_to(ROOT)}: {reference}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for reference in REFERENCE.findall(path.read_text())
        if not is_there(reference)
    ]
    assert lost == []


@pytest.mark.parametrize(
    ("reference", "is_right"),
    [
        ("memory.keys.entity_key", True),
        ("memory.keys", True),
        ("Producer.send_many", True),
        ("runtime.kafka.Producer.send", True),
        ("memory.keys.entity_kee", False),
        ("memory.kees.entity_key", False),
        ("Producer.send_few", False),
        ("runtime.kafka.Producer.send_few", False),
    ],
)
def test_a_reference_that_leads_nowhere_is_noticed(reference: str, is_right: bool) -> None:
    assert is_there(reference) is is_right


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_name_only_existing_code(document: Path) -> None:
    text = document.read_text()
    lost = [f"{path}: {name}" for path, name in SYMBOL_IN_FILE.findall(text) if "/" in path and name not in names_in(ROOT / path)]
    files = {path.name for folder in (*PACKAGES, "tests", "docs", "examples") for path in (ROOT / folder).rglob("*.py")}
    lost += [name for span in SPAN.findall(text) for name in SOURCE_FILE.findall(span) if name not in files]
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    lost += [f"make {target}" for target in MAKE.findall(text) if target not in targets]
    assert lost == []
