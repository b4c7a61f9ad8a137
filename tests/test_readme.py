"""The application that the README begins with does what it says."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from tests.http_server import serving_posts

ROOT: Final = Path(__file__).parents[1]
ADDRESS: Final = "http://127.0.0.1:8080"


async def test_the_application_sends_and_recalls(tmp_path: Path) -> None:
    asked: list[tuple[str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer key"
        body = await request.json()
        asked.append((request.path, body))
        match request.path:
            case "/v1/messages":
                return web.json_response({"items": [{"index": 0, "status": 200, "id": body[0]["id"]}]})
            case "/v1/recall" if len(asked) > 3:
                return web.json_response({"results": [{"content": "Ann's cat is called Pixel.", "evidence": ["m1"]}], "entities": []})
            case _:  # at first, nothing of it is remembered
                return web.json_response({"results": [], "entities": []})

    (program,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert ADDRESS in program
    (tmp_path / ".varve").mkdir()
    (tmp_path / ".varve" / "dev.key").write_text("key")
    async with serving_posts("/v1/{rest:.*}", answer) as url:
        command = [sys.executable, "-c", program.replace(ADDRESS, url)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = await asyncio.to_thread(
            subprocess.run, command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment, timeout=120
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Ann's cat is called Pixel. ['m1']\n"
    assert [path for path, _ in asked] == ["/v1/messages", "/v1/flush", "/v1/recall", "/v1/recall"]
    assert asked[-1][1] == {"query": "What is the cat called?", "user": "ann"}
