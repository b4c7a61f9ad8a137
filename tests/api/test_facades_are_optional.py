"""A service without facades imports none of their modules and packages: they cost nothing while they are off."""

import json
import subprocess
import sys
from typing import Final

import pytest

_SCRIPT: Final = """
import json, os, sys
import api.serve, varve.cli.application
from api.app import create_app
from runtime.settings import Settings

for given in sys.argv[1:]:
    # Each service is a fork: the modules that all of them import take seconds.
    if os.fork() == 0:
        app = create_app(Settings(**json.loads(given)))
        print(json.dumps([sorted(sys.modules), [getattr(each, "path", "") for each in app.routes]]), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""
_OFF: Final = {"mem0": False, "viking": False, "mcp": False, "console": False}
_MODULES: Final = {"mem0": "api.mem0.http", "viking": "api.viking.http", "mcp": "api.mcp.http", "console": "api.console.http"}
_PATHS: Final = {"mem0": "/mem0", "viking": "/api/memory", "mcp": "/mcp", "console": "/console"}


@pytest.fixture(scope="module")
def services() -> dict[str, tuple[set[str], set[str]]]:
    """The imported modules and the paths of a service without facades, named "none", and of one with each facade alone."""
    enabled = {"none": _OFF, **{name: _OFF | {name: True} for name in _OFF}}
    settings = [json.dumps({name: {"enabled": value} for name, value in each.items()}) for each in enabled.values()]
    done = subprocess.run([sys.executable, "-c", _SCRIPT, *settings], capture_output=True, text=True, check=True)
    built = [json.loads(line) for line in done.stdout.splitlines()]
    return {name: (set(modules), set(paths)) for name, (modules, paths) in zip(enabled, built, strict=True)}


def test_a_disabled_facade_is_not_imported(services: dict[str, tuple[set[str], set[str]]]) -> None:
    modules, paths = services["none"]
    assert not {*_MODULES.values(), "mcp", "mcp_types", "varve_client", "jwt"} & modules
    assert not {*_PATHS.values()} & paths


@pytest.mark.parametrize("name", _OFF)
def test_each_facade_works_alone(name: str, services: dict[str, tuple[set[str], set[str]]]) -> None:
    modules, paths = services[name]
    assert {each for each, module in _MODULES.items() if module in modules} == {name}
    assert {each for each, path in _PATHS.items() if path in paths} == {name}
