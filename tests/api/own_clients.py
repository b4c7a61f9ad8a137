"""Runs a session with another system's own client against a whole stack: ``make test-compat`` installs the clients."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any, Final

import pytest

from varve.embedded.lifecycle import temporary_stack

ROOT: Final = Path(__file__).parents[2]
ENVIRONMENT: Final = os.environ.get("VARVE_TEST_COMPAT")


def client_session(script: Path, folder: Path, *, setting: str, path: str = "", with_scheme: bool = True) -> dict[str, Any]:
    """The results that a script prints.

    Args:
        script: Takes an address and an API key, and prints one JSON object.
        folder: The data of the stack.
        setting: The environment variable that turns on the facade.
        path: The path of the address.
        with_scheme: Whether the address begins with ``http://``.
    """
    if ENVIRONMENT is None:
        pytest.skip("the clients of other systems are not installed: make test-compat")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(setting, "true")
        return asyncio.run(_session(script, folder, path, with_scheme=with_scheme))


async def _session(script: Path, folder: Path, path: str, *, with_scheme: bool) -> dict[str, Any]:
    assert ENVIRONMENT is not None
    async with temporary_stack(folder) as running:
        address = running.file.service_url + path
        process = await asyncio.create_subprocess_exec(
            str(Path(ENVIRONMENT) / "bin" / "python"),
            str(script),
            address if with_scheme else address.removeprefix("http://"),
            running.file.api_key,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        output, _ = await process.communicate()
    assert process.returncode == 0, output
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found
