"""The built files of the console: their size, and that they are those of the source."""

import gzip
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.console.conftest import ENVIRONMENT

_ROOT: Final = Path(__file__).parents[2]
_BUILT: Final = _ROOT / "api" / "console" / "static"
_MOST_BYTES: Final = 300_000


def _first_load() -> set[Path]:
    """The files that the browser loads with the page: those it names, and the modules that these import at once."""
    files = {_BUILT / "index.html"}
    waiting = [_BUILT / each for each in re.findall(r'(?:src|href)="/console/([^"]+)"', (_BUILT / "index.html").read_text())]
    while waiting:
        file = waiting.pop()
        if file not in files:
            files.add(file)
            if file.suffix == ".js":
                waiting += [file.parent / each for each in re.findall(r'(?:from|import)\s*"\./([^"]+)"', file.read_text())]
    return files


def test_the_first_load_is_small() -> None:
    sizes = {each.name: len(gzip.compress(each.read_bytes())) for each in _first_load()}
    assert len(sizes) > 3
    assert sum(sizes.values()) < _MOST_BYTES, sizes


def test_the_page_has_no_inline_code() -> None:
    page = (_BUILT / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert re.findall(r"<style|\bstyle=|\bon[a-z]+=", page) == []


def test_built_files_name_no_other_host() -> None:
    hosts = {
        host
        for file in _BUILT.rglob("*")
        if file.suffix in {".js", ".css", ".html"}
        for host in re.findall(r"https?://([a-z0-9.-]+)", file.read_text())
    }
    # Names of XML, and addresses in the texts of errors: nothing is loaded from them.
    assert hosts <= {"www.w3.org", "react.dev", "tailwindcss.com", "localhost", "tanstack.com", "radix-ui.com"}, hosts


def test_the_lock_names_no_registry() -> None:
    assert '"resolved"' not in (_ROOT / "console" / "package-lock.json").read_text()


def test_built_files_equal_the_sources(tmp_path: Path) -> None:
    if ENVIRONMENT is None or shutil.which("npx") is None or not (_ROOT / "console" / "node_modules").is_dir():
        pytest.skip("the tools of the console are not installed: make test-console")
    done = subprocess.run(
        ["npx", "vite", "build", "--outDir", str(tmp_path), "--logLevel", "error"],
        cwd=_ROOT / "console",
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    built, again = (
        {each.relative_to(folder): each.read_bytes() for each in folder.rglob("*") if each.is_file()} for folder in (_BUILT, tmp_path)
    )
    assert sorted(map(str, built)) == sorted(map(str, again)), "run: make console"
    assert built == again, "run: make console"
