"""``varve entities`` against a real HTTP server: what it asks, and what a person reads."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.http_server import serving_posts

PATH = "/v1/entities/{rest:.*}"

PAGE = {"type": "person", "key": "ann"}


def step(number: int, value: str, before: str | None, **fields: Any) -> dict[str, Any]:
    change = {"property": "job", "op": "apply", "value": value, "event_time": "2026-03-01T00:00:00Z", "fate": "stands", "by": None}
    return {
        "id": f"extractions/0@{number}",
        "kind": "extraction",
        "recorded_at": "2026-07-01T00:00:00Z",
        "changes": [{**change, **fields}],
        "before": {"job": before},
        "after": {"job": value},
    }


class Service:
    """Answers an entity, or its history in two pages."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(request.raw_path)
        if not request.path.endswith("/history"):
            entity = {"id": "e", "kind": "entity", "type": "person", "content": "works as A", "event_time": "2026-03-01T00:00:00Z"}
            return web.json_response(entity)
        if "after" in request.query:
            repeated = {**step(5, "B", "B"), "before": {}, "after": {}}
            return web.json_response({**PAGE, "steps": [step(4, "B", "A"), repeated], "next": None, "total": 3, "complete": False})
        first = step(3, "A", None, fate="superseded", by="extractions/0@4")
        first["changes"].append({**first["changes"][0], "property": "jobs", "value": None, "fate": "stands", "by": None})
        return web.json_response({**PAGE, "steps": [first], "next": first["id"], "total": 3, "complete": False})


async def entities(url: str, data: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "VARVE_DATA": str(data), "VARVE_CLIENT__URL": url, "VARVE_CLIENT__API_KEY": "k"}
    command = [sys.executable, "-m", "varve", "entities", *arguments]
    return await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False, env=environment, timeout=120)


async def test_an_entity_is_shown_at_a_moment(tmp_path: Path) -> None:
    service = Service()
    async with serving_posts(PATH, service.answer, method="GET") as url:
        moments = ("--as-of", "2026-04-01", "--known-at", "2026-05-01T10:00:00.25Z")  # a day, and a time as histories print it
        result = await entities(url, tmp_path, "show", "person", "ann/1", "x", *moments)
    assert result.returncode == 0, result.stderr
    assert "works as A" in result.stdout
    assert service.asked == [
        "/v1/entities/person/ann%2F1/x?as_of=2026-04-01T00%3A00%3A00%2B00%3A00&known_at=2026-05-01T10%3A00%3A00.250000%2B00%3A00"
    ]


async def test_a_history_is_read_to_its_end(tmp_path: Path) -> None:
    service = Service()
    async with serving_posts(PATH, service.answer, method="GET") as url:
        result = await entities(url, tmp_path, "history", "person", "ann")
    assert result.returncode == 0, result.stderr
    assert "older steps are not kept" in result.stderr
    assert result.stdout.splitlines() == [
        "2026-07-01T00:00:00Z  extraction  extractions/0@3",
        "  + 2026-03-01  job: 'A'  [superseded by extractions/0@4]",
        "  + 2026-03-01  jobs: an event  [stands]",
        "  = job: nothing -> 'A'",
        "2026-07-01T00:00:00Z  extraction  extractions/0@4",
        "  + 2026-03-01  job: 'B'  [stands]",
        "  = job: 'A' -> 'B'",
    ]
    assert "(1 step that changed no field: --all)" in result.stderr
    assert [each.split("?")[1] for each in service.asked] == ["limit=200", "after=extractions%2F0%403&limit=200"]


async def test_all_steps_of_a_history_are_printed_on_request(tmp_path: Path) -> None:
    async with serving_posts(PATH, Service().answer, method="GET") as url:
        result = await entities(url, tmp_path, "history", "person", "ann", "--all")
    assert result.returncode == 0, result.stderr
    assert "changed no field" not in result.stderr
    assert result.stdout.splitlines()[-2:] == ["2026-07-01T00:00:00Z  extraction  extractions/0@5", "  + 2026-03-01  job: 'B'  [stands]"]
