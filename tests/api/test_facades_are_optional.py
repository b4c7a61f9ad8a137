"""A service without facades imports none of their modules and packages: they cost nothing while they are off."""

import json
import subprocess
import sys
from typing import Final

import pytest

_SCRIPT: Final = """
import json, sys
from api.app import create_app
from runtime.settings import Settings
settings = Settings(**json.loads(sys.argv[1]))
app = create_app(settings)
print(json.dumps([sorted(sys.modules), [getattr(each, "path", "") for each in app.routes]]))
"""
_OFF: Final = {"mem0": False, "viking": False, "mcp": False, "console": False}
_MODULES: Final = {"mem0": "api.mem0.http", "viking": "api.viking.http", "mcp": "api.mcp.http", "console": "api.console.http"}
_PATHS: Final = {"mem0": "/mem0", "viking": "/api/memory", "mcp": "/mcp", "console": "/console"}


def built(**enabled: bool) -> tuple[set[str], set[str]]:
    """The imported modules and the paths of a service."""
    settings = {name: {"enabled": value} for name, value in (_OFF | enabled).items()}
    done = subprocess.run([sys.executable, "-c", _SCRIPT, json.dumps(settings)], capture_output=True, text=True, check=True)
    modules, paths = json.loads(done.stdout.splitlines()[-1])
    return set(modules), set(paths)


def test_a_disabled_facade_is_not_imported() -> None:
    modules, paths = built()
    assert not {*_MODULES.values(), "mcp", "jwt"} & modules
    assert not {*_PATHS.values()} & paths


@pytest.mark.parametrize("name", _OFF)
def test_each_facade_works_alone(name: str) -> None:
    modules, paths = built(**{name: True})
    assert {each for each, module in _MODULES.items() if module in modules} == {name}
    assert {each for each, path in _PATHS.items() if path in paths} == {name}
