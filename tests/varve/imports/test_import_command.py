"""``varve import`` and ``varve memories export`` against a real HTTP server."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.http_server import serving_posts
from tests.varve.imports.exports import CHATGPT, CLAUDE, EVENT, MEM0
from varve.imports.sending import BATCH, CHANGED, ImportProgress


class Service:
    """Takes messages as the service does.

    Args:
        breaks_after: Number of messages after which it refuses requests.
        refuses: Texts of messages that it refuses.
    """

    def __init__(self, *, breaks_after: int | None = None, refuses: tuple[str, ...] = ()) -> None:
        self.messages: list[dict[str, Any]] = []
        self.breaks_after = breaks_after
        self._refuses = refuses

    async def take(self, request: web.Request) -> web.Response:
        batch = await request.json()
        if self.breaks_after is not None and len(self.messages) >= self.breaks_after:
            return web.json_response({"detail": "the tenant has no room"}, status=507)
        return web.json_response({"items": [self._outcome(index, each) for index, each in enumerate(batch)]})

    def _outcome(self, index: int, message: dict[str, Any]) -> dict[str, Any]:
        if message["text"] in self._refuses:
            return {"index": index, "status": 422, "id": message["id"], "problem": {"detail": "session: too long"}}
        known = next((each for each in self.messages if each["id"] == message["id"]), None)
        sent = {"index": index, "status": 200, "id": message["id"], "position": {"topic": "t", "partition": 0, "offset": index}}
        if known is not None and known["text"] != message["text"]:
            return {**sent, "changed": True}
        self.messages.append(message)
        return sent


async def varve(url: str, data: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "VARVE_DATA": str(data), "VARVE_CLIENT__URL": url, "VARVE_CLIENT__API_KEY": "k"}
    command = [sys.executable, "-m", "varve", *arguments]
    return await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False, env=environment, timeout=120)


def a_file(folder: Path, value: Any) -> str:
    path = folder / "export.json"
    path.write_text(json.dumps(value))
    return str(path)


def facts(count: int) -> list[dict[str, Any]]:
    return [{**MEM0, "id": f"f{number}", "memory": f"Fact {number}"} for number in range(count)]


async def test_a_dry_run_counts_and_sends_nothing(tmp_path: Path) -> None:
    file = a_file(tmp_path, [CHATGPT])
    done = await varve("http://127.0.0.1:1", tmp_path, "import", file, "--format", "chatgpt", "--user", "ann", "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    estimate = report.pop("model")
    assert (estimate["calls"], estimate["cost"]) == (1, None)
    assert estimate["prompt_tokens"] > 10
    assert report == {
        "messages": 2,
        "tokens": 10,
        "users": 1,
        "sessions": 1,
        "first": "2023-11-14T22:13:21+00:00",
        "last": "2023-11-14T22:13:23+00:00",
        "left_out": {"hidden, of a tool, or on a branch that was left": 2},
        "first_problem": None,
        "remarks": {},
    }


async def test_a_dry_run_has_the_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prices, chat = tmp_path / "prices.json", tmp_path / "WhatsApp Chat with Ann.txt"
    prices.write_text('{"large": {"prompt": 1000000, "completion": 0}}')
    chat.write_text("31/12/2023, 10:00 - Ann: I live in Oslo.\n31/12/2023, 10:01 - Bo: <Media omitted>\n")
    monkeypatch.setenv("VARVE_LLM__MODEL", "large")
    monkeypatch.setenv("VARVE_LLM__PRICE_TABLE", str(prices))
    arguments = ("import", str(chat), "--format", "whatsapp", "--time-zone", "Europe/Oslo", "--dry-run")
    printed = await varve("http://127.0.0.1:1", tmp_path, *arguments)
    report = json.loads((await varve("http://127.0.0.1:1", tmp_path, *arguments, "--json")).stdout)
    tokens = report["model"]["prompt_tokens"]
    assert report["model"]["cost"] == tokens
    assert f"about 1 call, {tokens} prompt and 26 completion tokens, cost {tokens:.4f} (large)" in printed.stdout
    assert "left out: 1 (in place of media" in printed.stdout


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--time-zone", "Oslo", "'Oslo' is not the IANA name"),
        ("--date-order", "dmy", "not one of day-first"),
        ("--start", "now", "ISO 8601"),
    ],
)
async def test_wrong_options_are_refused(tmp_path: Path, option: str, value: str, reason: str) -> None:
    done = await varve("http://127.0.0.1:1", tmp_path, "import", a_file(tmp_path, []), "--format", "whatsapp", option, value, "--dry-run")
    assert done.returncode == 2
    assert reason in " ".join(done.stderr.replace("│", " ").split())


async def test_messages_are_sent_once_in_order(tmp_path: Path) -> None:
    service, file = Service(), a_file(tmp_path, [CLAUDE])
    async with serving_posts("/v1/messages", service.take) as url:
        first = await varve(url, tmp_path, "import", file, "--format", "claude", "--user", "ann")
        second = await varve(url, tmp_path, "import", file, "--format", "claude", "--user", "ann")
        other_user = await varve(url, tmp_path, "import", file, "--format", "claude", "--user", "bob")
        again = await varve(url, tmp_path, "import", file, "--format", "claude", "--user", "ann", "--again")
    assert "2 messages sent" in first.stdout
    assert "left out: 1 (no text)" in first.stdout
    assert "0 messages sent; 2 were sent by an earlier run" in second.stdout
    assert "2 messages sent" in other_user.stdout
    assert "2 messages sent" in again.stdout
    assert [(each["user"], each["id"]) for each in service.messages] == [
        (user, name) for user in ("ann", "bob", "ann") for name in ("a", "b")
    ]


async def test_an_interrupted_import_continues(tmp_path: Path) -> None:
    count = 2 * BATCH + 50
    service, file = Service(breaks_after=BATCH), a_file(tmp_path, {"count": count, "results": facts(count)})
    async with serving_posts("/v1/messages", service.take) as url:
        broken = await varve(url, tmp_path, "import", file, "--format", "mem0")
        service.breaks_after = None
        finished = await varve(url, tmp_path, "import", file, "--format", "mem0")
    assert broken.returncode == 1
    assert "the tenant has no room" in broken.stderr
    assert f"{count - BATCH} messages sent; {BATCH} were sent by an earlier run" in finished.stdout
    assert [each["text"] for each in service.messages] == [f"Fact {number}" for number in range(count)]


async def test_refused_messages_are_reported_and_others_sent(tmp_path: Path) -> None:
    service, file = Service(refuses=("Fact 1", "Fact 3")), a_file(tmp_path, facts(5))
    async with serving_posts("/v1/messages", service.take) as url:
        done = await varve(url, tmp_path, "import", file, "--format", "mem0")
    assert done.returncode == 3
    assert "3 messages sent" in done.stdout
    assert "2 refused, first mem0-f1: session: too long" in done.stderr
    assert [each["text"] for each in service.messages] == ["Fact 0", "Fact 2", "Fact 4"]


async def test_other_content_under_a_known_id_is_reported(tmp_path: Path) -> None:
    service, file = Service(), a_file(tmp_path, [{**MEM0, "memory": text} for text in ("Tea", "Rum", "Tea")])
    lines = tmp_path / "messages.json"
    lines.write_text(json.dumps([{"user": "ann", "session": "s", "id": "m", "text": text} for text in ("Tea", "Rum")]))
    async with serving_posts("/v1/messages", service.take) as url:
        imported = await varve(url, tmp_path, "import", file, "--format", "mem0")
        sent = await varve(url, tmp_path, "send", str(lines))
    assert (imported.returncode, sent.returncode) == (3, 1)
    assert "2 messages sent" in imported.stdout
    assert f"1 refused, first mem0-{MEM0['id']}: {CHANGED}" in imported.stderr
    assert "1 message sent" in sent.stdout
    assert f"1 not stored, first m: {CHANGED}" in sent.stderr


async def test_an_unreadable_time_keeps_no_other_message_out(tmp_path: Path) -> None:
    first, second, third = facts(3)
    service, file = Service(), a_file(tmp_path, [first, {**second, "created_at": "yesterday"}, third])
    async with serving_posts("/v1/messages", service.take) as url:
        done = await varve(url, tmp_path, "import", file, "--format", "mem0")
        repeated = await varve(url, tmp_path, "import", file, "--format", "mem0")
    assert (done.returncode, repeated.returncode) == (3, 3)
    assert "left out: 1 (a time that cannot be read)" in done.stdout
    assert "item 2: 'yesterday' is no time" in done.stdout
    assert [each["text"] for each in service.messages] == ["Fact 0", "Fact 2"]


async def test_a_broken_file_sends_nothing(tmp_path: Path) -> None:
    service = Service()
    file = a_file(tmp_path, [*facts(BATCH + 1), {"colour": "red"}])
    async with serving_posts("/v1/messages", service.take) as url:
        done = await varve(url, tmp_path, "import", file, "--format", "mem0")
        unknown = await varve(url, tmp_path, "import", file, "--format", "csv")
    assert done.returncode == 1
    assert f"item {BATCH + 2} is not a memory of mem0" in done.stderr
    assert "'csv' is not one of" in unknown.stderr
    assert service.messages == []


async def test_an_export_has_every_page_with_evidence(tmp_path: Path) -> None:
    asked: list[dict[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append({**request.query})
        more = "after" not in request.query
        return web.json_response({"memories": [{**EVENT, "id": "e1" if more else "e2"}], "next": "e1" if more else None})

    output, link, pipe = tmp_path / "ann.jsonl", tmp_path / "link.jsonl", tmp_path / "pipe"
    link.symlink_to(output)
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    async with serving_posts("/v1/memories", answer, method="GET") as url:
        printed = await varve(url, tmp_path, "memories", "export", "ann")
        written = await varve(url, tmp_path, "memories", "export", "ann", "--output", str(link))
        piped = await varve(url, tmp_path, "memories", "export", "ann", "--output", str(pipe))
        refused = await varve(url, tmp_path, "memories", "export", "ann", "--output", str(tmp_path))
    assert printed.returncode == written.returncode == 0, printed.stderr + written.stderr
    assert asked[0] == {"user": "ann", "limit": "200"}
    assert asked[1] == {"user": "ann", "limit": "200", "after": "e1"}
    found = [json.loads(each) for each in printed.stdout.splitlines()]
    assert [(each["id"], each["evidence"]) for each in found] == [("e1", ["m1"]), ("e2", ["m1"])]
    assert output.read_text() == printed.stdout
    assert link.is_symlink()
    assert piped.returncode == 0
    assert os.read(reader, 1 << 16).decode() == printed.stdout
    os.close(reader)
    assert f"{tmp_path} cannot be written: Is a directory" in refused.stderr
    assert "2 memories of ann" in written.stderr


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"messages": "x"}'])
def test_a_damaged_progress_starts_again(tmp_path: Path, content: bytes) -> None:
    progress = ImportProgress.of(tmp_path / "imports", "digest", None)
    assert progress.read() == 0
    progress.write(7)
    assert progress.read() == 7
    progress.path.write_bytes(content)
    assert progress.read() == 0
