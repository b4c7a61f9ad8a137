"""Conventions that no linter checks: documented arguments, names of log events and tests, the share of one package."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.conftest import LONGEST_FILES

ROOT: Final = Path(__file__).parents[1]
CORE: Final = ("varve", "api", "streams", "retrieval", "extraction", "stores", "control", "operators", "models", "runtime", "memory")
BESIDE: Final = ("evaluation", "training", "loadtest", "benchmarks", "deploy")
LOG_METHODS: Final = frozenset({"debug", "info", "warning", "error", "exception", "critical"})
MOST_WORDS: Final = 9
LARGEST_SHARE: Final = 0.35
TEST: Final = re.compile(r"^ *(?:async )?def (test_\w+)", re.MULTILINE)
FROM_TEST: Final = re.compile(r"^ *(?:from|import) (tests\.(?:\w+\.)*test_\w+)", re.MULTILINE)
AFTER_SCRIPT: Final = re.compile(r"^if __name__ == .__main__.:.*\n(?:[ #].*\n|\n)*(?P<rest>[^\s#].*)", re.MULTILINE)

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Facts(NamedTuple):
    """The parts of a package's code that the conventions are about. Its syntax trees take too much memory to be kept."""

    imported: frozenset[tuple[str, str]]
    """Module and name of everything that the package imports from another."""
    undocumented: list[tuple[tuple[str, str], str]]
    """Public functions with several arguments that no docstring lists: module and name of what has them, and their place."""
    untrue_arguments: list[str]
    """Docstrings whose arguments are not those of the code."""
    constructor_arguments: list[str]
    """Constructors whose own docstrings list arguments."""
    odd_events: list[str]
    """Calls of a log whose event is no name, or whose error has another name."""


def files_of(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def place_of(path: Path, node: Function | ast.ClassDef | ast.Call) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno} {getattr(node, 'name', '')}"


@cache
def facts_of(package: str) -> Facts:
    """The facts of a package; each of its files is parsed once."""
    imported: set[tuple[str, str]] = set()
    undocumented, untrue, constructors, events = [], [], [], []
    for path in files_of(package):
        tree = ast.parse(path.read_text())
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        undocumented += [((module, name), place_of(path, node)) for name, node in public_functions(tree) if lacks_arguments(node)]
        for node in ast.walk(tree):
            match node:
                case ast.ImportFrom(module=str(source)) if source.split(".")[0] not in (package, "__future__"):
                    imported |= {(source, alias.name) for alias in node.names}
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if not has_true_arguments(node):
                    untrue.append(place_of(path, node))
                case ast.Call() if not has_usual_event(node):
                    events.append(place_of(path, node))
            if isinstance(node, ast.FunctionDef) and node.name == "__init__" and "Args:" in (ast.get_docstring(node) or ""):
                constructors.append(place_of(path, node))
    return Facts(frozenset(imported), undocumented, untrue, constructors, events)


def public_functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """The public functions and methods of a module, each with the name that others import."""
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef):
            members = node.body if isinstance(node, ast.ClassDef) else [node]
            yield from ((node.name, each) for each in members if isinstance(each, Function) and not each.name.startswith("_"))


def lacks_arguments(node: Function) -> bool:
    """Whether it takes several arguments that its docstring neither lists nor says where they are listed.

    A decorated function's docstring is its command's or route's text.
    """
    docstring = ast.get_docstring(node) or ""
    refers = re.search(r"\b([Aa]s|[Ss]ee) :(meth|class|func|data):", docstring)
    return len(parameters_of(node)) > 2 and not (node.decorator_list or refers or "Args:" in docstring)


def has_true_arguments(node: Function | ast.ClassDef) -> bool:
    """Whether the arguments that a docstring lists are those that the function or the constructor takes."""
    documented, taken = documented_arguments(node), taken_arguments(node)
    if documented is None:
        return True
    return not (set(documented) - set(taken) or (isinstance(node, Function) and {*taken} - {*documented, "_"}))


def has_usual_event(node: ast.Call) -> bool:
    """Whether a call logs nothing, or an event with a name, and a cause as its error."""
    if not (
        isinstance(node.func, ast.Attribute) and node.func.attr in LOG_METHODS and ast.unparse(node.func.value).lower().endswith("log")
    ):
        return True
    event = node.args[0] if node.args else None
    is_name = isinstance(event, ast.Constant) and re.fullmatch(r"[a-z][a-z0-9_]*", str(event.value)) is not None
    return is_name and not any(each.arg in ("why", "reason_", "cause", "exception", "fault") for each in node.keywords)


def parameters_of(function: Function) -> list[str]:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [each.arg for each in named if each.arg not in ("self", "cls")]


def documented_arguments(node: Function | ast.ClassDef) -> list[str] | None:
    """The names that a docstring lists under ``Args:``; None if it lists none."""
    section = re.search(r"^Args:\n((?:(?: {4}.*)?\n?)+)", ast.get_docstring(node) or "", re.MULTILINE)
    return re.findall(r"^ {4}\*{0,2}(\w+):", section[1], re.MULTILINE) if section else None


def taken_arguments(node: Function | ast.ClassDef) -> list[str]:
    """The parameters of a function or of a class: its constructor's, or its own fields."""
    if isinstance(node, Function):
        rest = (node.args.vararg, node.args.kwarg)
        return parameters_of(node) + [each.arg for each in rest if each is not None]
    for each in node.body:
        if isinstance(each, Function) and each.name == "__init__":
            return taken_arguments(each)
    return [each.target.id for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)]


@pytest.mark.parametrize("package", [*CORE, *BESIDE])
def test_interface_functions_document_their_arguments(package: str) -> None:
    """Those that other packages import."""
    outside = frozenset[tuple[str, str]]().union(*(facts_of(each).imported for each in (*CORE, *BESIDE) if each != package))
    assert [place for owner, place in facts_of(package).undocumented if owner in outside] == []


@pytest.mark.parametrize("package", [*CORE, *BESIDE])
def test_documented_arguments_exist(package: str) -> None:
    assert facts_of(package).untrue_arguments == []


@pytest.mark.parametrize("package", [*CORE, *BESIDE])
def test_constructor_arguments_are_in_the_class_docstring(package: str) -> None:
    assert facts_of(package).constructor_arguments == [], "Args: belongs to the class's docstring"


@pytest.mark.parametrize("package", [*CORE, *BESIDE])
def test_log_events_are_constants_in_snake_case(package: str) -> None:
    assert facts_of(package).odd_events == [], "an event is a snake_case constant, its cause is the field error="


def test_test_names_are_short() -> None:
    names = [(path, name) for path in files_of("tests") for name in TEST.findall(path.read_text())]
    assert len(names) > 1000
    assert [f"{path.relative_to(ROOT)} {name}" for path, name in names if len(name.split("_")) - 1 > MOST_WORDS] == []


def test_no_test_imports_from_another_test() -> None:
    """Helpers have their own modules: an import of a test module also runs its set-up, and moves with its tests."""
    found = [f"{path.relative_to(ROOT)} imports {name}" for path in files_of("tests") for name in FROM_TEST.findall(path.read_text())]
    assert found == [], "move what both use to a module without test_"


def test_nothing_follows_the_call_of_a_script() -> None:
    """Names that are defined below ``if __name__ == "__main__":`` do not exist yet when the script runs."""
    late = [
        f"{path.relative_to(ROOT)}: {found['rest']}"
        for package in (*CORE, *BESIDE, "tests", "examples")
        for path in files_of(package)
        if (found := AFTER_SCRIPT.search(path.read_text()))
    ]
    assert late == [], f"move these to the end of their files: {late}"


def test_no_package_has_over_a_third_of_the_lines() -> None:
    lines = {package: sum(len(path.read_text().splitlines()) for path in files_of(package)) for package in CORE}
    shares = {package: count / sum(lines.values()) for package, count in lines.items()}
    assert max(shares.values()) <= LARGEST_SHARE, shares


def test_docstrings_refer_to_files_in_the_repository() -> None:
    astray = [str(path.relative_to(ROOT)) for package in (*CORE, *BESIDE, "tests") for path in files_of(package) if names_design(path)]
    assert astray == [], "name docs/internals/architecture.md and its invariants"


def names_design(path: Path) -> bool:
    return path != Path(__file__) and re.search(r"\bDESIGN\b", path.read_text()) is not None


def test_the_longest_test_files_exist() -> None:
    assert [name for name in LONGEST_FILES if not (ROOT / name).is_file()] == []
