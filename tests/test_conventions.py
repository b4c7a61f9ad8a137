"""Conventions that no linter checks: documented arguments, names of log events and tests, the share of one package."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = ("varve", "api", "streams", "retrieval", "extraction", "stores", "control", "operators", "models", "runtime", "memory")
BESIDE = ("evaluation", "training", "loadtest", "benchmarks", "deploy")
LOG_METHODS = {"debug", "info", "warning", "error", "exception", "critical"}
MOST_WORDS = 9
LARGEST_SHARE = 0.35

Function = ast.FunctionDef | ast.AsyncFunctionDef


def files_of(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@cache
def nodes_of(package: str) -> list[tuple[str, Function | ast.ClassDef | ast.Call]]:
    """The code that the conventions apply to, with its place. Reading a package takes seconds."""
    return [
        (f"{path.relative_to(ROOT)}:{node.lineno}", node)
        for path in files_of(package)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, Function | ast.ClassDef | ast.Call)
    ]


def parameters_of(function: Function) -> list[str]:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [each.arg for each in named if each.arg not in ("self", "cls")]


def documents_its_arguments(function: Function) -> bool:
    """Whether the docstring lists them, or names the port that does. A decorated function's docstring is its command's or route's text."""
    docstring = ast.get_docstring(function) or ""
    refers = re.search(r"\b([Aa]s|[Ss]ee) :(meth|class|func|data):", docstring)
    return bool(function.decorator_list or refers) or "Args:" in docstring


@cache
def imported_from_other_packages() -> frozenset[tuple[str, str]]:
    """Module and name of everything that one package imports from another."""
    return frozenset(
        (node.module, alias.name)
        for package in (*CORE, *BESIDE)
        for path in files_of(package)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.split(".")[0] not in (package, "__future__")
        for alias in node.names
    )


def interface_functions(package: str) -> Iterator[tuple[str, Function]]:
    """The public functions and methods that other packages may call, with their place."""
    outside = imported_from_other_packages()
    for path in files_of(package):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.parse(path.read_text()).body:
            if not isinstance(node, Function | ast.ClassDef) or (module, node.name) not in outside:
                continue
            for each in node.body if isinstance(node, ast.ClassDef) else [node]:
                if isinstance(each, Function) and not each.name.startswith("_"):
                    yield f"{path.relative_to(ROOT)}:{each.lineno} {each.name}", each


@pytest.mark.parametrize("package", [*CORE, *BESIDE])
def test_interface_functions_document_their_arguments(package: str) -> None:
    missing = [where for where, node in interface_functions(package) if len(parameters_of(node)) > 2 and not documents_its_arguments(node)]
    assert missing == []


def documented_arguments(node: ast.AST) -> list[str] | None:
    """The names that a docstring lists under ``Args:``; None if it lists none."""
    docstring = ast.get_docstring(node) or "" if isinstance(node, Function | ast.ClassDef) else ""
    section = re.search(r"^Args:\n((?:(?: {4}.*)?\n?)+)", docstring, re.MULTILINE)
    return re.findall(r"^ {4}\*{0,2}(\w+):", section[1], re.MULTILINE) if section else None


def taken_arguments(node: ast.AST) -> list[str]:
    """The parameters of a function or of a class: its constructor's, or its own fields."""
    if isinstance(node, Function):
        rest = (node.args.vararg, node.args.kwarg)
        return parameters_of(node) + [each.arg for each in rest if each is not None]
    body = node.body if isinstance(node, ast.ClassDef) else []
    for each in body:
        if isinstance(each, Function) and each.name == "__init__":
            return taken_arguments(each)
    return [each.target.id for each in body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)]


@pytest.mark.parametrize("package", [*CORE, *BESIDE])
def test_documented_arguments_exist(package: str) -> None:
    untrue = []
    for where, node in nodes_of(package):
        documented, taken = documented_arguments(node), taken_arguments(node)
        if documented is not None and (set(documented) - set(taken) or (isinstance(node, Function) and {*taken} - {*documented, "_"})):
            untrue.append(f"{where} {getattr(node, 'name', '')}")
    assert untrue == []


@pytest.mark.parametrize("package", [*CORE, *BESIDE])
def test_constructor_arguments_are_in_the_class_docstring(package: str) -> None:
    astray = [
        where
        for where, node in nodes_of(package)
        if isinstance(node, Function) and node.name == "__init__" and "Args:" in (ast.get_docstring(node) or "")
    ]
    assert astray == [], "Args: belongs to the class's docstring"


@pytest.mark.parametrize("package", [*CORE, *BESIDE])
def test_log_events_are_constants_in_snake_case(package: str) -> None:
    astray = []
    for where, node in nodes_of(package):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOG_METHODS):
            continue
        owner = ast.unparse(node.func.value).lower()
        if not owner.endswith("log"):
            continue
        event = node.args[0] if node.args else None
        if not (isinstance(event, ast.Constant) and re.fullmatch(r"[a-z][a-z0-9_]*", str(event.value))):
            astray.append(where)
        astray += [f"{where} {each.arg}" for each in node.keywords if each.arg in ("why", "reason_", "cause", "exception", "fault")]
    assert astray == [], "an event is a snake_case constant, its cause is the field error="


def test_test_names_are_short() -> None:
    long = [
        f"{where} {node.name}"
        for where, node in nodes_of("tests")
        if isinstance(node, Function) and node.name.startswith("test_") and len(node.name.split("_")) - 1 > MOST_WORDS
    ]
    assert long == []


def test_nothing_follows_the_call_of_a_script() -> None:
    """Names that are defined below ``if __name__ == "__main__":`` do not exist yet when the script runs."""
    late = [
        f"{path.relative_to(ROOT)}:{guard.lineno}"
        for package in (*CORE, *BESIDE, "tests", "examples")
        for path in files_of(package)
        for body in [ast.parse(path.read_text()).body]
        for guard in body[:-1]
        if isinstance(guard, ast.If) and ast.unparse(guard.test) == "__name__ == '__main__'"
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
