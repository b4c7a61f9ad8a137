"""``varve messages`` against a real HTTP server: what it sends, and what it prints."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from varve.embedded.ports import free_port

POSITION = {"topic": "messages", "partition": 0, "offset": 7}


async def messages(url: str, data: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "VARVE_DATA": str(data), "VARVE_CLIENT__URL": url, "VARVE_CLIENT__API_KEY": "k"}
    command = [sys.executable, "-m", "varve", "messages", *arguments]
    return await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False, env=environment, timeout=120)


@pytest.mark.parametrize(
    ("arguments", "asked", "body", "outcome"),
    [
        (
            ("edit", "s/1", "m 1", "new text", "--user", "ann"),
            "PUT /v1/messages/s%2F1/m%201",
            {"text": "new text", "user": "ann"},
            "edited",
        ),
        (("delete", "s/1", "m1", "--user", "ann"), "DELETE /v1/messages/s%2F1/m1?user=ann", None, "deleted"),
        (("delete", "s", "m1"), "DELETE /v1/messages/s/m1", None, "pending"),
    ],
)
async def test_a_change_is_one_request(arguments: tuple[str, ...], asked: str, body: Any, outcome: str, tmp_path: Path) -> None:
    seen: list[tuple[str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append((f"{request.method} {request.raw_path}", await request.json() if request.can_read_body else None))
        return web.json_response({"id": "m1", "position": POSITION, "outcome": outcome})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner, port = web.AppRunner(app), free_port()
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        result = await messages(f"http://127.0.0.1:{port}", tmp_path, *arguments)
    finally:
        await runner.cleanup()
    assert (result.returncode, result.stdout) == (0, f"message m1: {outcome}\n"), result.stderr
    assert seen == [(asked, body)]
