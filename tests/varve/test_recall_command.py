"""``varve recall`` against a real HTTP server: what it asks, how much it shows, and how sure it says to be."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from retrieval.relevance.thresholds import LEAST_CONFIDENCE
from tests.http_server import serving_posts

ROOT = Path(__file__).parents[2]


def memory(name: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": name,
        "kind": "event",
        "type": kind,
        "content": f"this is {name}",
        "event_time": "2024-03-02T12:00:00Z",
        "evidence": [],
        **fields,
    }


def answer(confidence: float | None) -> dict[str, Any]:
    entities = [memory("week-1", "week"), memory("week-2", "week"), memory("profile-1", "profile")]
    return {"results": [memory("event-1", "note", score=0.5)], "entities": entities, "confidence": confidence, "degraded": []}


async def recalled(data: Path, found: dict[str, Any], *options: str) -> tuple[str, Any]:
    """The command's output, and the body that it sent."""
    bodies: list[Any] = []

    async def handle(request: web.Request) -> web.Response:
        bodies.append(await request.json())
        return web.json_response(found)

    async with serving_posts("/v1/recall", handle) as url:
        environment = {**os.environ, "VARVE_DATA": str(data), "VARVE_CLIENT__URL": url, "VARVE_CLIENT__API_KEY": "k", "COLUMNS": "80"}
        command = [sys.executable, "-m", "varve", "recall", "Where?", *options]
        done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True, env=environment, timeout=120)
    return done.stdout, bodies[0]


@pytest.mark.parametrize(
    ("confidence", "line"),
    [
        (0.834, "confidence 0.83"),
        (0.118, "confidence 0.12: probably nothing relevant"),
        (None, "confidence: not calibrated for this embedding model, ranking profile or language"),
    ],
)
async def test_the_last_line_states_the_confidence(confidence: float | None, line: str, tmp_path: Path) -> None:
    printed, _ = await recalled(tmp_path, answer(confidence))
    assert printed.splitlines()[-1] == line


async def test_a_limit_bounds_entities_nearest_first(tmp_path: Path) -> None:
    printed, asked = await recalled(tmp_path, answer(0.5), "--user", "ann", "--limit", "2", "--min-confidence", "0.3")
    assert asked == {"query": "Where?", "user": "ann", "limit": 2, "min_confidence": 0.3}
    assert re.findall(r"this is (\S+)", printed) == ["event-1", "week-1", "profile-1"]
    everything, _ = await recalled(tmp_path, answer(0.5))
    assert re.findall(r"this is (\S+)", everything) == ["event-1", "week-1", "profile-1", "week-2"]


async def test_sizes_of_timelines_are_not_shown(tmp_path: Path) -> None:
    entities = [
        memory("story", "story", content="story of ann: life: 8 events in full", properties={"life": "8 events in full"}),
        memory("log", "log", content="log of bob: life: 1 event in full; moods: 2", properties={"life": "1 event in full", "moods": 2}),
    ]
    printed, _ = await recalled(tmp_path, answer(0.5) | {"entities": entities})
    assert "story of ann" not in printed
    assert "log of bob: moods: 2" in printed


async def test_a_recall_takes_a_session_types_and_times(tmp_path: Path) -> None:
    options = (
        "--session",
        "s1",
        "--kind",
        "event",
        "--type",
        "note",
        "--type",
        "fact",
        "--since",
        "2024-03-01",
        "--until",
        "2024-03-02T12:00:00Z",
    )
    message = {"id": "m1", "text": "It snows.", "speaker": "Ann", "event_time": "2024-03-02T12:00:00Z"}
    messages = [{"window_sequence": 0, "message": each} for each in (message, {"id": "m2", "text": ""})]
    found = answer(0.5) | {"session": {"session": "s1", "messages": messages, "open_window": None}}
    printed, asked = await recalled(tmp_path, found, *options)
    assert asked == {
        "query": "Where?",
        "session": "s1",
        "kinds": ["event"],
        "types": ["note", "fact"],
        "since": "2024-03-01T00:00:00+00:00",
        "until": "2024-03-02T12:00:00+00:00",
    }
    assert "Ann: It snows." in printed


async def test_json_is_the_whole_answer(tmp_path: Path) -> None:
    printed, _ = await recalled(tmp_path, answer(0.1), "--json", "--limit", "1")
    assert orjson.loads(printed) == answer(0.1)


async def test_an_empty_result_is_printed_with_its_confidence(tmp_path: Path) -> None:
    printed, _ = await recalled(tmp_path, {"results": [], "entities": [], "confidence": 0.02, "degraded": []})
    assert printed == "nothing relevant is remembered\nconfidence 0.02: probably nothing relevant\n"


def test_the_least_confidence_is_the_lowest_measured() -> None:
    table = (ROOT / "docs" / "build" / "recall.md").read_text().partition("| `min_confidence` |")[2].partition("\n\n")[0]
    assert min(float(each) for each in re.findall(r"^\| (0\.\d+) \|", table, re.MULTILINE)) == LEAST_CONFIDENCE


def test_a_service_that_is_not_running_is_reported_soon(tmp_path: Path) -> None:
    nobody = {"VARVE_DATA": str(tmp_path), "VARVE_CLIENT__URL": "http://127.0.0.1:1", "VARVE_CLIENT__API_KEY": "k"}
    command = [sys.executable, "-m", "varve", "recall", "Where?"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **nobody}, timeout=120)
    assert done.returncode == 1
    retry, error = done.stderr.splitlines()
    assert retry.startswith("attempt 1 of 2 failed")
    assert "is `varve dev` or `varve serve` running?" in error
