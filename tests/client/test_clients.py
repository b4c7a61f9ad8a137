"""Both clients against a real HTTP server: what they send, and what they raise."""

import asyncio
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from varve_client import (
    InvalidArgumentError,
    MessagesRefusedError,
    SentMessage,
    ServiceProblemError,
    ServiceUnreachableError,
    VarveClient,
    VarveClientError,
)
from varve_client._calls import BATCH_SIZE

from tests.client.conftest import all_of
from tests.http_server import serving_posts
from varve.embedded.ports import free_port

EVENT: Mapping[str, object] = {
    "id": "m",
    "type": "note",
    "kind": "event",
    "content": "Ann moved to Oslo",
    "event_time": "2024-03-02T12:00:00Z",
    "evidence": ["m1"],
    "score": 0.5,
}
MESSAGE: Mapping[str, object] = {"user": "ann", "session": "s", "text": "x"}


@pytest.mark.parametrize(
    ("url", "key", "problem"),
    [
        ("localhost:8080", "k", "is not the address of a service"),
        ("", "k", "is not the address of a service"),
        (None, "k", "is not the address of a service"),
        ("http://localhost:8080/v1/", "k", "ends with /v1"),
        ("http://localhost:8080", "", "api_key is empty"),
        ("http://localhost:8080", None, "api_key is empty"),
        ("http://localhost:8080", "Bearer k", "pass the key itself"),
    ],
)
def test_a_wrong_address_or_key_is_refused(client: Any, url: Any, key: Any, problem: str) -> None:
    with pytest.raises(InvalidArgumentError, match=problem):
        client(url, api_key=key)


async def test_a_key_may_end_with_a_line_feed(client: Any) -> None:
    keys: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        keys.append(request.headers["Authorization"])
        return web.json_response({"positions": []})

    async with serving_posts("/v1/flush", answer) as url, client(url, api_key="k\n") as varve:
        await varve.flush()
    assert keys == ["Bearer k"]


async def test_feedback_names_the_recall_and_its_user(client: Any) -> None:
    bodies: list[Any] = []

    async def answer(request: web.Request) -> web.Response:
        bodies.append(await request.json())
        return web.json_response({"position": {"topic": "recalls", "partition": 0, "offset": 1}})

    async with serving_posts("/v1/feedback", answer) as url, client(url, api_key="k") as varve:
        await varve.feedback("r", useful=["m"], user="ann")
        await varve.feedback("r", useless=["n"])
    assert bodies == [
        {"recall_id": "r", "useful": ["m"], "useless": [], "user": "ann"},
        {"recall_id": "r", "useful": [], "useless": ["n"]},
    ]


async def test_arguments_of_another_form_are_named(client: Any) -> None:
    async with client("http://127.0.0.1:1", api_key="k") as varve:
        with pytest.raises(TypeError, match="put a single one into a list"):
            await varve.send(MESSAGE)
        with pytest.raises(TypeError, match="message 1 must be a dict with user, session and text, not str"):
            await varve.send([MESSAGE, "hello"])
        with pytest.raises(TypeError, match="lists of memory ids"):
            await varve.feedback("r", useful="m")
        with pytest.raises(TypeError, match=r"such as \['ann'\]"):
            await varve.entity("user_profile", "ann")


async def test_a_session_has_its_messages_and_window(client: Any) -> None:
    paths: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        paths.append(request.raw_path)
        window = {"sequence": 1, "message_count": 1}
        return web.json_response({"session": "a/b", "messages": [{"window_sequence": 1, "message": dict(MESSAGE)}], "open_window": window})

    async with serving_posts("/v1/sessions/{session}", answer, method="GET") as url, client(url, api_key="k") as varve:
        found = await varve.session("a/b")
    assert paths == ["/v1/sessions/a%2Fb"]
    assert [each["message"]["text"] for each in found.messages] == ["x"]
    assert found.open_window.message_count == 1


async def test_a_block_is_edited_and_read(client: Any) -> None:
    asked: list[tuple[str, Any, bool]] = []
    block = {"entity_type": "core", "property": "a/b", "user": "ann", "text": "x", "version": 1, "characters": 1, "max_characters": 9}

    async def answer(request: web.Request) -> web.Response:
        asked.append((request.raw_path, await request.json(), "Idempotency-Key" in request.headers))
        position = {"topic": "t", "partition": 0, "offset": 1}
        return web.json_response({"id": "e1", "status": "applied", "position": position, "block": block})

    async with serving_posts("/v1/blocks/core/{property}/edits", answer) as url, client(url, api_key="k") as varve:
        done = await varve.edit_block("core", "a/b", "replace", user="ann", old="y", text="x", version=None)
    assert asked == [("/v1/blocks/core/a%2Fb/edits", {"tool": "replace", "user": "ann", "old": "y", "text": "x"}, True)]
    assert (done.id, done.status, done.block.text) == ("e1", "applied", "x")


async def test_lists_send_each_filter(client: Any) -> None:
    asked: list[list[tuple[str, str]]] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append([*request.query.items()])
        return web.json_response({"memories": [EVENT], "next": "m"})

    async with serving_posts("/v1/memories", answer, method="GET") as url, client(url, api_key="k") as varve:
        page = await varve.memories(
            user="ann & co", kinds=["event", "summary"], since=datetime(2024, 5, 6, tzinfo=UTC), after="m0", limit=3
        )
    assert ([each.id for each in page.memories], page.next) == (["m"], "m")
    assert asked == [
        [
            ("user", "ann & co"),
            ("kinds", "event"),
            ("kinds", "summary"),
            ("since", "2024-05-06T00:00:00+00:00"),
            ("after", "m0"),
            ("limit", "3"),
        ]
    ]


async def test_iterators_read_every_page(client: Any) -> None:
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request.query_string)
        following = None if "after" in request.query else "m1"
        step = {"id": "s", "kind": "change", "recorded_at": "2024-05-06T00:00:00Z", "changes": [], "before": {}, "after": {}}
        page = {"memories": [EVENT], "type": "user_profile", "key": "ann", "steps": [step], "total": 2, "complete": True}
        return web.json_response({**page, "next": following})

    async with serving_posts("/v1/memories", answer, method="GET") as url, client(url, api_key="k") as varve:
        memories = await all_of(varve.all_memories(user="ann", order="newest"))
    async with serving_posts("/v1/entities/user_profile/ann/history", answer, method="GET") as url, client(url, api_key="k") as varve:
        steps = await all_of(varve.whole_entity_history("user_profile", ["ann"]))
    assert [each.id for each in (*memories, *steps)] == ["m", "m", "s", "s"]
    assert asked == ["user=ann&order=newest&limit=200", "user=ann&order=newest&after=m1&limit=200", "limit=200", "after=m1&limit=200"]


async def test_an_erasure_names_any_user(client: Any) -> None:
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request.raw_path)
        return web.json_response({"subject": "5f", "location": "/v1/erasures/5f", "resumable": True}, status=202)

    async with serving_posts("/v1/users/{user:.*}", answer, method="DELETE") as url, client(url, api_key="k") as varve:
        begun = await varve.erase_user("ann/1 ?", reason="ticket 7")
    assert (begun.subject, begun.resumable) == ("5f", True)
    assert asked == ["/v1/users/ann%2F1%20%3F?reason=ticket+7"]


async def test_every_write_sends_the_callers_idempotency_key(client: Any) -> None:
    keys: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        keys.append(request.headers["Idempotency-Key"])
        return web.json_response({"items": []}) if request.path == "/v1/messages" else web.json_response({}, status=404)

    writes: dict[str, tuple[object, ...]] = {
        "edit_message": ("s", "m1", "x"),
        "delete_message": ("s", "m1"),
        "flush": (),
        "delete_memory": ("m",),
        "correct": ("m",),
        "invalidate": ("m",),
        "revert": ("m",),
        "edit_block": ("notes", "lines", "append"),
        "undo_edit": ("notes", "lines", "e"),
    }
    takes_key = {name for name, call in vars(VarveClient).items() if "idempotency_key" in getattr(call, "__annotations__", {})}
    assert {*writes, "send"} == takes_key
    async with serving_posts("/{path:.*}", answer, method="*") as url, client(url, api_key="k") as varve:
        await varve.send([MESSAGE] * (BATCH_SIZE + 1), idempotency_key="mine")
        assert keys == ["mine", f"mine/{BATCH_SIZE}"]
        keys.clear()
        for name, arguments in writes.items():
            with pytest.raises(ServiceProblemError):
                await getattr(varve, name)(*arguments, idempotency_key="mine")
    assert keys == ["mine"] * len(writes)


@pytest.mark.parametrize("key", ["", "two words", "k" * 257])
async def test_an_unusable_idempotency_key_is_not_sent(key: str, client: Any) -> None:
    async with client("http://127.0.0.1:1", api_key="k") as varve:
        with pytest.raises(ValueError, match="an idempotency_key has 1 to 256 visible ASCII characters"):
            await varve.flush("s", idempotency_key=key)


async def test_refused_messages_are_named_by_their_index(client: Any) -> None:
    async def answer(request: web.Request) -> web.Response:
        batch = await request.json()
        position = {"topic": "messages", "partition": 0, "offset": 0}
        items: list[dict[str, Any]] = [{"index": n, "status": 200, "id": f"m{n}", "position": position} for n, _ in enumerate(batch)]
        items[1] = {"index": 1, "status": 422, "problem": {"detail": "text: too long"}}
        sizes.append(len(batch))
        return web.json_response({"items": items}, status=207)

    sizes: list[int] = []
    async with serving_posts("/v1/messages", answer) as url, client(url, api_key="k") as varve:
        with pytest.raises(MessagesRefusedError, match="refused 2 of 202 messages, first 1: text: too long") as raised:
            await varve.send([MESSAGE] * (BATCH_SIZE + 2))
    assert [each["index"] for each in raised.value.refused] == [1, BATCH_SIZE + 1]
    assert len(raised.value.sent) == BATCH_SIZE
    assert sizes == [BATCH_SIZE, 2], "a refusal keeps no later batch back"


async def test_a_sent_message_says_that_it_was_not_stored(client: Any) -> None:
    async def answer(_: web.Request) -> web.Response:
        position = {"topic": "messages", "partition": 0, "offset": 0}
        facts: list[dict[str, bool]] = [{"changed": True}, {"repeated": True}, {}]
        items = [{"index": index, "status": 200, "id": f"m{index}", "position": position, **each} for index, each in enumerate(facts)]
        return web.json_response({"items": items})

    async with serving_posts("/v1/messages", answer) as url, client(url, api_key="k") as varve:
        sent: list[SentMessage] = await varve.send([MESSAGE] * 3)
    assert [(each.changed, each.repeated) for each in sent] == [(True, False), (False, True), (False, False)]


async def test_options_that_are_none_are_not_sent(client: Any) -> None:
    bodies: list[object] = []

    async def answer(request: web.Request) -> web.Response:
        bodies.append(await request.json())
        return web.json_response({"results": [EVENT], "entities": [{**EVENT, "kind": "entity"}], "newer_field": 7})

    async with serving_posts("/v1/recall", answer) as url, client(url + "/", api_key="k") as varve:
        found = await varve.recall("x", user="ann", limit=None, as_of=datetime(2024, 5, 6, tzinfo=UTC))
    assert bodies == [{"query": "x", "user": "ann", "as_of": "2024-05-06T00:00:00+00:00"}]
    assert (found.results[0].score, found.entities[0].kind, found.as_dict()["newer_field"]) == (0.5, "entity", 7)


async def test_a_body_of_another_form_is_a_problem(client: Any) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text="<html>gateway</html>", content_type="text/html")

    async with serving_posts("/v1/recall", answer) as url, client(url, api_key="k") as varve:
        with pytest.raises(ServiceProblemError, match="cannot read"):
            await varve.recall("x")


async def test_a_service_that_is_down_is_unreachable(client: Any) -> None:
    async with client(f"http://127.0.0.1:{free_port()}", api_key="k", max_attempts=1) as varve:
        with pytest.raises(ServiceUnreachableError, match="cannot be reached"):
            await varve.flush("s")


def test_every_error_has_one_base() -> None:
    assert all(issubclass(each, VarveClientError) for each in (MessagesRefusedError, ServiceProblemError, ServiceUnreachableError))


@pytest.mark.parametrize(("command", "printed"), [("recall", "Ann moved to Oslo"), ("context", "notes: Ann moved to Oslo")])
async def test_the_command_line_names_the_missing_parts(command: str, printed: str, tmp_path: Path) -> None:
    bodies: list[object] = []

    async def answer(request: web.Request) -> web.Response:
        bodies.append(await request.json())
        found = {"results": [EVENT], "entities": [], "context": "notes: Ann moved to Oslo"}
        return web.json_response({**found, "degraded": ["expansion"]})

    async with serving_posts(f"/v1/{command}", answer) as url:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "varve", command, "Where is Ann?", "--mode", "expand"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "VARVE_DATA": str(tmp_path), "VARVE_CLIENT__URL": url, "VARVE_CLIENT__API_KEY": "k", "COLUMNS": "120"},
        )
        output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    assert bodies == [{"query": "Where is Ann?", "mode": "expand"}]
    assert printed in output.decode()
    assert errors.decode().strip() == "answered without: expansion"


async def test_times_and_sent_messages_are_taken_as_they_are(client: Any) -> None:
    bodies: list[Any] = []

    async def answer(request: web.Request) -> web.Response:
        bodies.append(await request.json())
        item = {"index": 0, "status": 200, "id": "m1", "position": {"topic": "t", "partition": 0, "offset": 7}}
        return web.json_response({"items": [item], "results": []})

    noon = datetime(2024, 5, 6, 12, tzinfo=UTC)
    async with serving_posts("/v1/{route}", answer) as url, client(url, api_key="k") as varve:
        (sent,) = await varve.send([{**MESSAGE, "event_time": noon}])
        await varve.recall("x", after=sent, until=noon)
    assert bodies[0][0]["event_time"] == "2024-05-06T12:00:00+00:00"
    assert bodies[1]["after"] == {"id": "m1", "position": {"topic": "t", "partition": 0, "offset": 7}}
    assert bodies[1]["until"] == "2024-05-06T12:00:00+00:00"


async def test_a_response_that_cannot_be_decoded_is_named(client: Any) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=b"{}", headers={"Content-Encoding": "gzip"})

    async with serving_posts("/v1/status", answer, method="GET") as url, client(url, api_key="k") as varve:
        with pytest.raises(ServiceUnreachableError, match="cannot be decoded"):
            await varve.status()


@pytest.mark.parametrize(
    ("variable", "value"), [("ALL_PROXY", "socks5://127.0.0.1:1"), ("HTTPS_PROXY", "ftp://x"), ("SSL_CERT_FILE", "/nowhere.pem")]
)
def test_an_unusable_environment_is_named(client: Any, monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(InvalidArgumentError, match=r"the environment names .* cannot be used"):
        client("https://memory.example", api_key="k")


async def test_a_proxy_is_named_that_is_in_the_way(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://name:password@127.0.0.1:{free_port()}")
    async with client("http://127.0.0.1:1", api_key="k", max_attempts=1) as varve:
        with pytest.raises(ServiceUnreachableError, match=r"through the proxy of HTTP_PROXY; NO_PROXY=127\.0\.0\.1 avoids") as raised:
            await varve.status()
        assert "password" not in str(raised.value)


async def test_a_name_that_no_address_can_have_is_refused(client: Any) -> None:
    async with client("http://127.0.0.1:1", api_key="k") as varve:
        for call in (varve.memory(""), varve.delete_memory(".."), varve.erase_user(""), varve.entity("user_profile", [])):
            with pytest.raises(InvalidArgumentError, match=r"cannot be part of an address|at least one part"):
                await call
        with pytest.raises(TypeError, match="is not the text of a name or an id"):
            await varve.memory(None)


async def test_values_that_json_cannot_contain_are_refused(client: Any) -> None:
    half, endless = "\ud83d", float("inf")
    async with client("http://127.0.0.1:1", api_key="k", max_attempts=1) as varve:
        for call in (
            varve.send([{**MESSAGE, "text": half}]),
            varve.send([{**MESSAGE, "metadata": {"price": endless}}]),
            varve.correct("m1", properties={"price": float("nan")}),
            varve.memory(half),
            varve.memories(user=half),
        ):
            with pytest.raises(InvalidArgumentError, match=r"JSON cannot contain|has half of a character"):
                await call
