"""Imports and exports on a whole stack: what was imported is remembered, and an export is an import."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.varve.imports.exports import CLAUDE, MEM0
from varve.embedded.lifecycle import temporary_stack

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

DEADLINE_S = 120


async def varve(url: str, key: str, data: Path, *arguments: str) -> str:
    environment = {**os.environ, "VARVE_DATA": str(data), "VARVE_CLIENT__URL": url, "VARVE_CLIENT__API_KEY": key}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "varve", *arguments, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, errors
    return output.decode()


async def test_imported_statements_are_remembered_and_exported(tmp_path: Path) -> None:
    files = {"mem0": [{**MEM0, "memory": "I like hiking in the mountains."}], "claude": [CLAUDE]}
    for name, value in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    async with temporary_stack(tmp_path / "stack") as running:

        async def run(*arguments: str) -> str:
            return await varve(running.file.service_url, running.file.api_key, tmp_path / "client", *arguments)

        async def exported(user: str, is_complete: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
            async with asyncio.timeout(DEADLINE_S):
                while True:
                    lines = (await run("memories", "export", user)).splitlines()
                    events = [each for each in map(json.loads, lines) if each["kind"] == "event"]
                    if is_complete(events):
                        return events

        for name in files:
            await run("import", str(tmp_path / f"{name}.json"), "--format", name, "--user", "ann", "--flush")
        events = await exported("ann", lambda found: len(found) >= 2)
        said = {each["content"]: each for each in events}
        assert said.keys() == {"I like hiking in the mountains.", "I have a cat."}
        assert said["I like hiking in the mountains."]["evidence"] == ["mem0-f1"]
        assert said["I have a cat."]["evidence"][0] == "a"
        assert said["I have a cat."]["said_at"].startswith("2024-05-06T12:00:01")

        (tmp_path / "ann.jsonl").write_text(await run("memories", "export", "ann"))
        await run("import", str(tmp_path / "ann.jsonl"), "--format", "varve", "--user", "bea", "--session", "moved", "--flush")
        copied = await exported("bea", lambda found: len(found) >= 2)
        assert {each["content"] for each in copied} == set(said)
        assert {each["session"] for each in copied} == {"moved"}
