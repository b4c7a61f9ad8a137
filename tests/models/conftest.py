"""A real LLM on this machine."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def local_llm(tmp_path: Path) -> AsyncIterator[dict[str, str]]:
    """The ``base_url`` and the ``model`` of llama.cpp's server with Gemma 3 270M, in a process of its own."""
    pytest.importorskip("xllamacpp", reason="the local-llm extra is not installed")
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "models.llm.local", "--folder", str(tmp_path), "--context-tokens", "6144"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert server.stdout is not None
    try:
        async with asyncio.timeout(120):
            ready = json.loads(await server.stdout.readline())
        yield ready
    finally:
        if server.returncode is None:
            server.terminate()
            async with asyncio.timeout(30):
                await server.wait()
