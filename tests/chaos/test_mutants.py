"""Every mutant applies to the current code; ``make chaos-mutants`` checks whether the suite detects it."""

import ast
from pathlib import Path

import orjson
import pytest

from tests.chaos.faults import FAULTS
from tests.chaos.mutant_report import MutantReport, Result
from tests.chaos.mutants import MUTANTS, Mutant
from tests.chaos.mutation import ROOT, mutated

NOTICED = Result("tests/test_it.py::test_it", problem=None, seconds=1.25)
SURVIVED = Result(None, problem="survived", seconds=60.0)
README = (ROOT / "tests" / "chaos" / "README.md").read_text()


def _may_notice(name: str, mutant: Mutant) -> bool:
    """Whether there is such a test or fault among those that a mutant names."""
    targets = [ROOT / test.partition("::")[0] for test in mutant.tests]
    files = [file for target in targets for file in (target.glob("test_*.py") if target.is_dir() else [target])]
    return name in mutant.faults or any(f"def {name}(" in file.read_text() for file in files)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: str(mutant.name))
def test_a_mutant_applies_to_the_code(mutant: Mutant) -> None:
    source = (ROOT / mutant.file).read_text()
    assert ast.dump(ast.parse(mutated(source, mutant))) != ast.dump(ast.parse(source))
    assert all((ROOT / test.partition("::")[0]).exists() for test in mutant.tests)
    assert set(mutant.faults) <= FAULTS.keys()
    assert mutant.tests or mutant.faults, "something should notice it"


def test_the_readme_names_every_fault() -> None:
    assert [name for name in FAULTS if f"`{name}`" not in README] == []


def test_the_test_that_noticed_a_mutant_exists() -> None:
    assert [(mutant.name, mutant.noticed_by) for mutant in MUTANTS if not _may_notice(mutant.noticed_by, mutant)] == []


def test_mutants_have_distinct_names() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_a_report_is_whole_after_each_mutant(tmp_path: Path) -> None:
    path = tmp_path / "reports" / "mutants.json"
    report = MutantReport(path, keep=["first", "second"])
    report.write("second", "code", SURVIVED)
    report.write("first", "code", NOTICED)
    rows = orjson.loads(path.read_bytes())["mutants"]
    assert [(row["mutant"], row["noticed_by"]) for row in rows] == [("first", NOTICED.noticed_by), ("second", None)]


def test_a_run_continues_an_earlier_report(tmp_path: Path) -> None:
    path = tmp_path / "mutants.json"
    earlier = MutantReport(path, keep=["noticed", "gone", "alive"])
    earlier.write("noticed", "code", NOTICED)
    earlier.write("gone", "code", NOTICED)
    earlier.write("alive", "code", SURVIVED)
    report = MutantReport(path, keep=["noticed", "alive", "new"])
    assert report.is_noticed("noticed", "code")
    assert not report.is_noticed("noticed", "other code"), "it says nothing of code that has changed"
    assert not report.is_noticed("alive", "code"), "what survived is tried again"
    assert report.unnoticed(["noticed", "alive", "new"]) == ["alive", "new"]
    report.write("new", "code", NOTICED)
    assert [row["mutant"] for row in orjson.loads(path.read_bytes())["mutants"]] == ["noticed", "alive", "new"]
