"""``POST /v1/context`` on a real Kafka, Redis, Edge store and embedding model."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from memory.texts.text import content_hash
from runtime.redis.session_tail import SessionView, TailUpdate, TailWindow
from tests.api.running_service import BERLIN, CAT, LIMA, OSLO, PROFILE, RunningService, expect_problem
from tests.waiting import until_async

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

BODY = {"query": "Where does Ann live now?", "user": "ann", "session": "talk"}


def turn(user: str, text: str, id: str) -> bytes:
    return orjson.dumps(
        {"tenant": "acme", "user": user, "session": "talk", "id": id, "text": text, "event_time": "2024-05-07T12:00:00Z", "speaker": user}
    )


async def show_tail(service: RunningService) -> None:
    messages = (turn("ann", "It snows", "t1"), turn("bob", "In Berlin too", "t2"), b'{"text":"no message"}')
    await service.tail.write([TailUpdate("acme", "talk", SessionView(open=TailWindow(0, messages)), 0, 0)])


async def ask(service: RunningService, body: dict[str, Any], tenant: str = "acme") -> dict[str, Any]:
    response = await service.http.post("/v1/context", json=body, headers=service.auth(tenant))
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def test_a_context_packs_states_events_and_tail(service: RunningService) -> None:
    await show_tail(service)
    answer = await ask(service, BODY)
    assert answer["degraded"] == []
    assert answer["tokens"] <= service.settings.recall.context_tokens
    places = [answer["context"].index(text) for text in (PROFILE.content, "events:", OSLO.content, "session:", "ann: It snows", "bob: In")]
    assert places == sorted(places)
    cited = {each["id"]: each for each in answer["citations"]}
    assert set(cited) == {PROFILE.id, OSLO.id, CAT.id, "t1", "t2"}
    assert cited[OSLO.id]["evidence"] == OSLO.message_ids
    assert f"[{cited[OSLO.id]['mark']}] 2024-05-06 {OSLO.content}" in answer["context"]
    assert (await ask(service, BODY))["context"] == answer["context"]


async def test_a_context_shows_the_original_words(service: RunningService) -> None:
    assert CAT.said is not None
    assert CAT.said not in (await ask(service, BODY))["context"]
    answer = await ask(service, {**BODY, "said": True})
    assert f"{CAT.content} (said: {CAT.said})" in answer["context"]
    wanted = {content_hash(text) for text in (CAT.said, *(line for line in answer["context"].split("\n") if CAT.said in line))}
    assert len(wanted) == 2
    await until_async(lambda: service.recall_history.of("acme", "ann", until=datetime.now(UTC)), wanted.issubset)


async def test_a_context_is_known_as_an_echo(service: RunningService) -> None:
    answer = await ask(service, {**BODY, "session": None})
    notes = [line for line in answer["context"].split("\n") if line.startswith("[")]
    wanted = {content_hash(text) for text in (OSLO.content, PROFILE.content, *notes)}
    await until_async(lambda: service.recall_history.of("acme", "ann", until=datetime.now(UTC)), wanted.issubset)


async def test_a_context_contains_no_data_of_others(service: RunningService) -> None:
    await show_tail(service)
    answer = await ask(service, {**BODY, "query": "Who moved where?"}, "umbrella")
    assert [each["id"] for each in answer["citations"]] == [LIMA.id]
    bound = service.auth("acme/ann")
    own = (await service.http.post("/v1/context", json={"query": "Who moved to Berlin?", "session": "talk"}, headers=bound)).json()
    assert {each["id"] for each in own["citations"]} == {PROFILE.id, OSLO.id, CAT.id, "t1"}
    assert BERLIN.content not in own["context"]
    expect_problem(await service.http.post("/v1/context", json={**BODY, "user": "bob"}, headers=bound), 403, "another user")


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "query"),
        ({"query": "x", "tokens": 99}, "tokens"),
        ({"query": "x", "tokens": 100_001}, "tokens"),
        ({"query": "x", "limit": 3}, "limit"),
    ],
)
async def test_a_malformed_context_is_refused(service: RunningService, body: dict[str, Any], detail: str) -> None:
    expect_problem(await service.http.post("/v1/context", json=body, headers=service.auth("acme")), 422, detail)
