"""``python -m tests.chaos.mutation``: inserts one defect after the other into a copy of the tree, and runs the tests that should detect it.

The result of each mutant is written at once, and an interrupted run continues after it. Exits with 1 if a mutant survives, or if nothing
could be said of one. The tree itself is never changed.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.chaos.mutant_report import MutantReport, Result
from tests.chaos.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]

_NOT_COPIED = (".git", ".venv*", "node_modules", "build", "__pycache__", ".mypy_cache", ".ruff_cache")
_TESTS_S = 240.0
_TEST_S = 60.0
"""Some defects let a test run forever. No test takes a third of this on the correct code."""
_LEAST_TEST_S = 10.0
"""A mutant's test may take twice as long as its whole target took without the defect, but at least so long."""
_FAULT_S = 600.0
_PASSED = 0


class Copy:
    """A copy of the tree, in which one mutant lives at a time.

    Args:
        path: Where it is made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._intact: dict[str, str | None] = {}
        self._limits_s: dict[str, float] = {}
        shutil.copytree(ROOT, path, ignore=shutil.ignore_patterns(*_NOT_COPIED), symlinks=True)

    def try_mutant(self, mutant: Mutant, *, with_faults: bool) -> Result:
        """Runs a mutant's tests in their order, then its faults, until one notices it.

        Args:
            mutant: The mutant.
            with_faults: Whether chaos is run where no test notices.
        """
        started = time.monotonic()
        file = self._path / mutant.file
        intact = file.read_text()
        # Before the defect is put in: a target that fails without it notices nothing.
        broken = [failed for target in mutant.tests if (failed := self._fails_intact(target)) is not None]
        if broken:
            return Result(None, problem=f"fails on the code as it is: {', '.join(broken)}", seconds=time.monotonic() - started)
        file.write_text(mutated(intact, mutant))
        try:
            noticed_by = self._first_notice(mutant, with_faults=with_faults)
            return Result(noticed_by, problem=None if noticed_by else "survived", seconds=time.monotonic() - started)
        except RuntimeError as error:
            return Result(None, problem=str(error), seconds=time.monotonic() - started)
        finally:
            file.write_text(intact)

    def _first_notice(self, mutant: Mutant, *, with_faults: bool) -> str | None:
        for target in mutant.tests:
            if (failed := self._failing_test(target, self._limits_s[target])) is not None:
                return failed
        for fault in mutant.faults if with_faults else ():
            if (failed := self._failing_fault(fault)) is not None:
                return failed
        return None

    def _fails_intact(self, target: str) -> str | None:
        """The failures of a target without mutants, after two attempts, because the machine may be slow. Runs the target only once."""
        if target not in self._intact:
            started = time.monotonic()
            self._intact[target] = self._failing_test(target, _TEST_S) and self._failing_test(target, _TEST_S)
            self._limits_s[target] = min(_TEST_S, max(_LEAST_TEST_S, 2 * (time.monotonic() - started)))
        return self._intact[target]

    def _failing_test(self, target: str, limit_s: float) -> str | None:
        """The first test of a target that fails, or does not end in time; None where all pass."""
        # Python 3.11 cannot parse the sources of some deep tracebacks: pytest's own ones crash it there.
        options = ("-q", "-x", "-rfE", "--tb=native", "-p", "no:cacheprovider", f"--timeout={limit_s:.0f}", "--hypothesis-profile=mutants")
        code, output = self._run(("pytest", *options, target), _TESTS_S)
        if code == _PASSED:
            return None
        if code is None:
            return f"{target} does not end"
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
        if failed is None:
            raise RuntimeError(f"pytest ended with {code} and names no failed test: {output[-1000:]}")
        return failed[1]

    def _failing_fault(self, fault: str) -> str | None:
        code, output = self._run(("tests.chaos", "--no-rebuild", "--seed", "11", "--faults", fault), _FAULT_S)
        if code == _PASSED:
            return None
        if code is None:
            return f"the fault {fault}, which does not end"
        if f'"fault":"{fault}"' not in output:
            raise RuntimeError(f"chaos ended with {code} and no verdict: {output[-1000:]}")
        return f"the fault {fault}"

    def _run(self, module: Sequence[str], limit_s: float) -> tuple[int | None, str]:
        """The exit code and the output of a module; no code where it had to be ended."""
        # Sources of the same size, written in the same second, would be taken from the cache of compiled ones.
        environment = {**os.environ, "PYTHONPATH": str(self._path), "PYTHONDONTWRITEBYTECODE": "1"}
        child = subprocess.Popen(
            (sys.executable, "-m", *module),
            cwd=self._path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = child.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            output, _ = child.communicate()
            return None, output
        return child.returncode, output


def mutated(source: str, mutant: Mutant) -> str:
    """A file's text with the defect in it.

    Raises:
        ValueError: If what the mutant replaces does not stand in the text exactly once.
    """
    if (found := source.count(mutant.old)) != 1:
        raise ValueError(f"{mutant.name!r}: what it replaces stands {found} times in {mutant.file}; put it in the file's words of today")
    return source.replace(mutant.old, mutant.new)


def main() -> None:
    """The command line."""
    names = [mutant.name for mutant in MUTANTS]
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.mutation", description="Breaks the code, and sees what notices it.")
    parser.add_argument("--report", type=Path, default=Path("build/reports/mutants.json"))
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help="; ".join(names))
    parser.add_argument("--no-faults", action="store_true", help="run no chaos: quicker, and some mutants may survive")
    parser.add_argument("--again", action="store_true", help="also mutants that the report has, for the code as it is, as noticed")
    arguments = parser.parse_args()
    report = MutantReport(arguments.report, keep=names)
    chosen = [mutant for mutant in MUTANTS if mutant.name in arguments.only]
    with tempfile.TemporaryDirectory(prefix="varve-mutants-") as folder:
        copy = Copy(Path(folder) / "tree")
        for mutant in chosen:
            code = mutated((ROOT / mutant.file).read_text(), mutant)
            if not arguments.again and report.is_noticed(mutant.name, code):
                continue
            result = copy.try_mutant(mutant, with_faults=not arguments.no_faults)
            report.write(mutant.name, code, result)
            print(f"{mutant.name}: {result.noticed_by or result.problem} ({result.seconds:.0f} s)", flush=True)
    unnoticed = report.unnoticed([mutant.name for mutant in chosen])
    print(f"{len(chosen) - len(unnoticed)} of {len(chosen)} noticed", *unnoticed, sep="\n")
    sys.exit(1 if unnoticed else 0)


if __name__ == "__main__":
    main()
