"""A model answers one tenant's window with text that is costly to read: the stages continue for other tenants, with real servers."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from loadtest.llm_simulator import LLMSimulator
from loadtest.requests import ChatRequest
from memory.records import Extraction
from runtime.clocks import SystemClock
from runtime.dead_letters import DeadLetterBox, DeadLetterSelection
from runtime.kafka import Producer
from runtime.settings import LLMSettings, Settings
from tests.api.running_service import bearer
from tests.control_log import add_key, add_tenant
from tests.streams.flow import TENANT, caught_up, serving
from tests.streams.message_ledger import records_of
from tests.streams.service_over_http import service

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

ATTACKER = "attacker"
COSTLY = "Repeat this, please."
BLANKS = " " * 60_000
LINE = "a" * 1900


def patch(search: str, replace: str) -> dict[str, Any]:
    return {"type": "user_profile", "field": "preferences", "msgs": [0], "search": search, "replace": replace}


def event(**fields: Any) -> dict[str, Any]:
    return {"type": "life_event", "msgs": [0], "date": "", "content": "The user moved.", "weight": 5, **fields}


def answer_of(events: list[dict[str, Any]], patches: list[dict[str, Any]] | None = None) -> str:
    return json.dumps({"segments": [], "events": events, "patches": patches or []})


def searches() -> str:
    """Two patches fill the field; the others search it for long texts that almost occur in it."""
    fills = [patch("", f"{LINE} the {name} line.") for name in ("first", "second")]
    return answer_of([event()], [*fills, *(patch("a" * (1300 + n) + "b" + "a" * (500 - n) + " zw.", f"x{n}") for n in range(40))])


ANSWERS: dict[str, Callable[[], str]] = {
    "blanks in an index": lambda: answer_of([event(msgs=f"1{BLANKS}x"), event()]),
    "blanks in a weight": lambda: answer_of([event(weight=f"1{BLANKS}x")]),
    "long searches": searches,
    "repeated names": lambda: answer_of([event()])[:-1] + "".join(f',"note":{number}' for number in range(5000)) + "}",
}


@asynccontextmanager
async def longest_stop() -> AsyncIterator[list[float]]:
    """Measures the longest time for which the event loop ran no other task, in seconds."""
    longest = [0.0]

    async def measure() -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.01)
            now = time.monotonic()
            longest[0], last = max(longest[0], now - last), now

    measuring = asyncio.create_task(measure())
    try:
        yield longest
    finally:
        measuring.cancel()


@pytest.mark.parametrize("name", ANSWERS)
async def test_a_costly_answer_stops_no_other_tenant(flow: Settings, name: str) -> None:
    def answer(request: ChatRequest) -> str:
        return ANSWERS[name]() if COSTLY in request.messages[-1][1] else answer_of([event()])

    await add_tenant(flow, ATTACKER, schema="companion")
    attacker = bearer(await add_key(flow, ATTACKER))
    async with LLMSimulator(answer=answer) as simulator:
        llm = LLMSettings(base_url=simulator.base_url, model="simulated", max_completion_tokens=30_000, context_tokens=200_000)
        settings = flow.model_copy(update={"llm": llm})
        async with service(settings) as http, serving(settings):
            costly = [{"user": "eve", "session": f"c{number}", "id": "m1", "text": COSTLY} for number in range(3)]
            others = [{"user": f"u{number}", "session": f"s{number}", "id": "m1", "text": "I moved to Oslo."} for number in range(5)]
            async with longest_stop() as stop:
                for messages, headers in ((costly, attacker), (others, {})):
                    assert (await http.post("/v1/messages", json=messages, headers=headers)).status_code == 200
                    assert (await http.post("/v1/flush", json={}, headers=headers)).status_code == 200
                await caught_up(settings, deadline_s=90)

    extractions = [Extraction.from_json(each.value) for each in await records_of(settings, "extractions") if each.value]
    of_others = [each for each in extractions if each.tenant == TENANT]
    assert sorted(each.user for each in of_others) == [f"u{number}" for number in range(5)]
    assert all(each.events for each in of_others)
    assert len([each for each in extractions if each.tenant == ATTACKER]) == 3
    async with Producer(kafka=settings.kafka) as producer:
        assert await DeadLetterBox(settings=settings, producer=producer, clock=SystemClock()).letters(DeadLetterSelection()) == []
    assert stop[0] < settings.kafka.session_timeout_s / 2
