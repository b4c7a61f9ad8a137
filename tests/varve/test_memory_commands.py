"""``varve memories`` against a real HTTP server: what it sends, and that what is sent again is one correction."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.http_server import serving_posts

PATH = "/v1/memories/{memory_id}"
TIME = "2024-03-02T12:00:00Z"
POSITION = {"topic": "extractions", "partition": 0, "offset": 7}
MEMORY = {"kind": "event", "type": "fact", "content": "Ann moved to Oslo", "event_time": TIME}


class Service:
    """Refuses once, then takes what comes."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []
        self.keys: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.keys.append(request.headers.get("Idempotency-Key", ""))
        if len(self.keys) == 1:
            return web.json_response({"detail": "Kafka does not answer"}, status=503, headers={"Retry-After": "0"})
        self.bodies.append(await request.json() if request.can_read_body else None)
        return web.json_response({**MEMORY, "id": "c-1", "memory_id": request.match_info["memory_id"], "position": POSITION})


async def memories(url: str, data: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "VARVE_DATA": str(data), "VARVE_CLIENT__URL": url, "VARVE_CLIENT__API_KEY": "k"}
    command = [sys.executable, "-m", "varve", "memories", *arguments]
    return await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False, env=environment, timeout=120)


@pytest.mark.parametrize(
    ("arguments", "method", "action", "body", "printed"),
    [
        (("show", "a/b"), "GET", "", None, '"memory_id": "a/b"'),
        (
            ("correct", "m", "--content", "x", "--set", "place=Oslo", "--set", "n=3", "--set", "what=null", "--reason", "so"),
            "PATCH",
            "",
            {"reason": "so", "content": "x", "properties": {"place": "Oslo", "n": 3, "what": None}},
            "correction c-1",
        ),
        (("invalidate", "m", "--reason", "so"), "POST", "/invalidate", {"reason": "so"}, "correction c-1"),
        (("revert", "m"), "POST", "/revert", {"reason": ""}, "correction c-1"),
        (("delete", "m", "--yes"), "DELETE", "", None, "correction c-1"),
    ],
)
async def test_a_command_is_one_request(
    arguments: tuple[str, ...], method: str, action: str, body: Any, printed: str, tmp_path: Path
) -> None:
    service = Service()
    async with serving_posts(PATH + action, service.answer, method=method) as url:
        result = await memories(url, tmp_path, *arguments)
    assert result.returncode == 0, result.stderr
    assert printed in result.stdout
    assert service.bodies == [body]
    assert len(service.keys) == 2
    assert len({*service.keys}) == 1, "what is sent again is the same correction"


async def test_a_deletion_is_confirmed(tmp_path: Path) -> None:
    result = await memories("http://127.0.0.1:1", tmp_path, "delete", "m")
    assert result.returncode == 1
    assert "Delete memory m permanently?" in result.stdout


async def test_a_list_has_ids_and_follows_pages(tmp_path: Path) -> None:
    asked: list[dict[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(dict(request.query))
        number = len(asked)
        return web.json_response({"memories": [{**MEMORY, "id": f"e{number}", "speaker": "Ann"}], "next": f"e{number}"})

    async with serving_posts("/v1/memories", answer, method="GET") as url:
        result = await memories(url, tmp_path, "list", "--user", "ann", "--kind", "event", "--limit", "2")
    assert result.stdout.splitlines() == [f"e{number}  2024-03-02  fact  Ann: Ann moved to Oslo" for number in (1, 2)]
    assert "more memories follow" in result.stderr
    assert asked[0] == {"user": "ann", "kinds": "event", "order": "newest", "limit": "3"}
    assert [each.get("after") for each in asked] == [None, "e1", "e2"]


async def test_a_wrong_property_is_reported(tmp_path: Path) -> None:
    result = await memories("http://127.0.0.1:1", tmp_path, "correct", "m", "--set", "place")
    assert result.returncode == 2
    assert "is not NAME=VALUE" in result.stderr


async def test_patched_texts_on_the_same_messages_are_named(tmp_path: Path) -> None:
    def change(name: str, replace: str, evidence: str, fate: str = "stands") -> dict[str, Any]:
        value = {"search": "", "replace": replace}
        return {"op": "apply", "property": name, "value": value, "event_time": TIME, "evidence": [evidence], "fate": fate}

    changes = [change("home", "Oslo", "m1"), change("name", "Ann", "m2"), change("work", "nurse", "m1", "wrong")]
    counted = {"op": "apply", "property": "moves", "value": 1, "event_time": TIME, "evidence": ["m1"], "fate": "stands"}
    key = {"entity_key": "ann%2F1/x", "since": {"home": ["2024-03-02"]}}
    profile: dict[str, Any] = {**MEMORY, "id": "p", "kind": "entity", "type": "profile", **key}
    profile["properties"] = {"home": "Oslo", "name": "Ann", "work": "", "moves": 1}
    step = {"id": "s", "kind": "extraction", "recorded_at": TIME, "changes": [*changes, counted], "before": {}, "after": {}}
    history = {"type": "profile", "key": "ann%2F1/x", "steps": [step], "next": None, "total": 1, "complete": True}
    answers = {
        "/v1/memories/e": {**MEMORY, "id": "e", "user": "ann", "evidence": ["m1"]},
        "PATCH": {"id": "c-1", "memory_id": "e", "position": POSITION},
        "/v1/recall": {"results": [], "entities": [profile, {**MEMORY, "id": "w", "kind": "entity", "type": "week"}]},
        "/v1/entities/profile/ann%2F1/x/history": history,
    }

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(answers[request.method if request.method == "PATCH" else request.raw_path.partition("?")[0]])

    async with serving_posts("/v1/{rest:.*}", answer, method="*") as url:
        result = await memories(url, tmp_path, "correct", "e", "--content", "x")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[2:] == ["  profile ann/1 x, home: 'Oslo'; varve memories correct p --set home=..."]


@pytest.mark.parametrize(
    ("arguments", "path", "method"),
    [(("correct", "e", "--content", "x"), PATH, "PATCH"), (("invalidate", "e"), f"{PATH}/invalidate", "POST")],
)
async def test_a_correction_without_effect_is_reported(arguments: tuple[str, ...], path: str, method: str, tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"memory_id": "e", "outcome": "unchanged"})

    async with serving_posts(path, answer, method=method) as url:
        result = await memories(url, tmp_path, *arguments)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["memory e has these values already, or an equal correction is on its way; nothing was recorded"]


async def test_a_revert_of_nothing_fails_with_the_reason(tmp_path: Path) -> None:
    detail = "no correction of the event e is in force"
    problem = {"type": "urn:varve:problem:nothing-to-revert", "status": 409, "detail": detail}

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(problem, status=409)

    async with serving_posts(f"{PATH}/revert", answer) as url:
        result = await memories(url, tmp_path, "revert", "e")
    assert (result.returncode, result.stdout) == (1, "")
    assert detail in result.stderr


async def test_an_invalidation_lists_the_remaining_texts(tmp_path: Path) -> None:
    remaining = [{"what": "message", "id": "m1", "reason": "the log keeps it"}]

    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"id": "c-1", "memory_id": "e", "position": POSITION, "remaining": remaining})

    async with serving_posts("/v1/memories/e/invalidate", answer) as url:
        result = await memories(url, tmp_path, "invalidate", "e")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[1:] == ["its content remains in:", "  message m1: the log keeps it"]


@pytest.mark.parametrize("url", ["localhost:8080", "http://localhost:8080/v1"])
async def test_a_wrong_address_is_one_sentence(url: str, tmp_path: Path) -> None:
    result = await memories(url, tmp_path, "list")
    assert result.returncode == 1
    assert result.stderr.startswith(f"varve: {url!r} ")
    assert len(result.stderr.splitlines()) == 1
