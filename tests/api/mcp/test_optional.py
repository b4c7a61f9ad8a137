"""The extra ``mcp`` is optional: without its packages the error names the extra.

That nothing imports it without the setting is tested in ``test_facades_are_optional.py``.
"""

import subprocess
import sys
from pathlib import Path

import pytest

_MISSING = """
import sys
sys.modules["mcp"] = None  # as if it were not installed
{statement}
"""
_SERVICE = """
from api.app import create_app
from runtime.settings import McpSettings, Settings
create_app(Settings(mcp=McpSettings(enabled=True)))
"""
_COMMAND = """
sys.argv = ["varve", "mcp"]
from varve.cli import main
main()
"""


def python(code: str, data: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env={"VARVE_DATA": str(data)})


@pytest.mark.parametrize("statement", [_SERVICE, _COMMAND], ids=["service", "command"])
def test_missing_packages_are_named(tmp_path: Path, statement: str) -> None:
    done = python(_MISSING.format(statement=statement), tmp_path)
    assert done.returncode == 1
    assert "pip install 'varve-server[mcp]'" in done.stderr
