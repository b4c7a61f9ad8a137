"""``python -m tests.chaos.mutation``: puts one defect after the other into a copy of the tree, and runs what should notice it.

Exits with 1 if a mutant survives. The tree itself is never changed.
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

import orjson

from tests.chaos.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]

_NOT_COPIED = (".git", ".venv", "build", "__pycache__", ".mypy_cache", ".ruff_cache")
_TESTS_S = 300.0
_FAULT_S = 600.0
_FAILED = 1
_PASSED = 0


class Copy:
    """A copy of the tree, in which one mutant lives at a time.

    Args:
        path: Where it is made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        shutil.copytree(ROOT, path, ignore=shutil.ignore_patterns(*_NOT_COPIED), symlinks=True)

    def notice(self, mutant: Mutant, *, with_faults: bool) -> str | None:
        """What notices a mutant; None where it survives.

        Args:
            mutant: The mutant.
            with_faults: Whether chaos is run where no test notices.
        """
        file = self._path / mutant.file
        intact = file.read_text()
        file.write_text(mutated(intact, mutant))
        try:
            return self.failing_test(mutant.tests) or (self._failing_fault(mutant.faults) if with_faults else None)
        finally:
            file.write_text(intact)

    def failing_test(self, tests: Sequence[str]) -> str | None:
        """The first of some tests that fails, or does not end; None where all pass."""
        if not tests:
            return None
        # Python 3.11 cannot parse the sources of some deep tracebacks: pytest's own ones crash it there.
        code, output = self._run(("pytest", "-q", "-x", "-rfE", "--tb=native", "-p", "no:cacheprovider", *tests), _TESTS_S)
        if code == _PASSED:
            return None
        if code is None:
            return f"{' '.join(tests)} does not end"
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
        if code != _FAILED or failed is None:
            raise RuntimeError(f"pytest ended with {code} and names no failed test:\n{output[-3000:]}")
        return failed[1]

    def _failing_fault(self, faults: Sequence[str]) -> str | None:
        for fault in faults:
            code, output = self._run(("tests.chaos", "--no-rebuild", "--seed", "11", "--faults", fault), _FAULT_S)
            if code is None:
                return f"the fault {fault} does not end"
            if code != _PASSED and f'"fault":"{fault}"' in output:
                return f"the fault {fault}"
            if code != _PASSED:
                raise RuntimeError(f"chaos ended with {code} and no verdict:\n{output[-3000:]}")
        return None

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
    arguments = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if mutant.name in arguments.only]
    with tempfile.TemporaryDirectory(prefix="varve-mutants-") as folder:
        copy = Copy(Path(folder) / "tree")
        noticed: dict[str, str | None] = {}
        for target in sorted({test for mutant in chosen for test in mutant.tests}):
            if (failed := copy.failing_test([target])) is not None:
                sys.exit(f"{failed} fails on the code as it is: it can notice no mutant")
        for mutant in chosen:
            started = time.monotonic()
            noticed[mutant.name] = copy.notice(mutant, with_faults=not arguments.no_faults)
            print(f"{mutant.name}: {noticed[mutant.name] or 'SURVIVED'} ({time.monotonic() - started:.0f} s)", flush=True)
            _write(arguments.report, noticed)
    sys.exit(1 if None in noticed.values() else 0)


def _write(report: Path, noticed: dict[str, str | None]) -> None:
    rows = [{"mutant": name, "noticed_by": by} for name, by in noticed.items()]
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_bytes(orjson.dumps({"mutants": rows}, option=orjson.OPT_INDENT_2))


if __name__ == "__main__":
    main()
