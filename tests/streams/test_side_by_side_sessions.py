"""Concurrent sessions of one user: the extraction of each window sees the results of earlier ones before any entity has them."""

import asyncio
import re

import pytest

from extraction.one_pass.answer import form
from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import Profile
from loadtest.requests import ChatRequest
from memory.records import Extraction, Memory, Window
from runtime.kafka import OutgoingRecord, Producer
from runtime.redis.client import open_redis
from runtime.settings import LLMSettings, Settings
from stores.build import build_store
from streams.operations.rebuild import rebuild, snapshot
from tests.streams.flow import DEADLINE_S, POLL_S, TENANT, caught_up, flush, message_of_session, serving
from tests.streams.message_ledger import records_of

pytestmark = pytest.mark.integration

SESSIONS = 5
BEHIND = ("events", "entities", "index")
"""The stages that bring what was extracted to where it is searched."""


def message(settings: Settings, session: int) -> OutgoingRecord:
    return message_of_session(settings, session, f"My friends Andrew and Cousin{session} were here.")


def answer(request: ChatRequest) -> str:
    """Notes each friend that the profile does not show yet, in words of the session's own."""
    shown, _, said = request.messages[-1][1].partition("<<<messages")
    session = re.findall(r"Cousin(\d)", said)[-1]
    new = [name for name in ("Andrew", f"Cousin{session}") if f"{name}:" not in shown]
    patch = {form.TYPE: "user_profile", form.FIELD: "relationships", form.MESSAGES: [0], form.SEARCH: ""}
    patches = [patch | {form.REPLACE: f"{name}: a friend, as told in session {session}"} for name in new]
    return form.encode_answer({form.SEGMENTS: [], form.EVENTS: [], form.PATCHES: patches})


async def extracted(settings: Settings, count: int) -> list[Extraction]:
    """The extractions, once there are so many."""
    async with asyncio.timeout(DEADLINE_S):
        while len(found := await records_of(settings, "extractions")) < count:  # noqa: ASYNC110 - Kafka is polled
            await asyncio.sleep(POLL_S)
    return [Extraction.from_json(each.value or b"") for each in found]


async def profile_lines(settings: Settings) -> list[str]:
    store = build_store(settings)
    try:
        memories = [Memory.from_json(line) async for line in snapshot(store, TENANT)]
    finally:
        await store.close()
    (profile,) = (each for each in memories if each.type == "user_profile")
    return str(profile.properties["relationships"]).splitlines()


async def test_a_parallel_import_creates_no_duplicate_patches(flow: Settings) -> None:
    async with Producer(kafka=flow.kafka) as producer:
        await producer.send_many([message(flow, session) for session in range(SESSIONS)])
    async with serving(flow, ["sessions"]):
        await caught_up(flow, ["sessions"])
        await flush(flow)
        await caught_up(flow, ["sessions"])
    windows = await records_of(flow, "windows")
    assert len({each.partition for each in windows}) == 1, "all windows of a user are in one partition"
    order = [Window.from_json(each.value or b"").session[-1] for each in sorted(windows, key=lambda each: each.offset)]
    assert sorted(order) == [str(session) for session in range(SESSIONS)]

    async with LLMSimulator(answer=answer, profile=Profile(first_token_s=0.2)) as simulator:
        settings = flow.model_copy(update={"llm": LLMSettings(base_url=simulator.base_url, model="simulated")})
        for count in (2, SESSIONS):
            # The second worker knows only what the first has stored.
            async with serving(settings, ["extraction"]):
                await extracted(settings, count)
                if count == SESSIONS:
                    await caught_up(settings, ["extraction"])
        assert simulator.peak_concurrency == 1
        requests = list({each.hash: each for each in simulator.requests}.values())
        expected = [f"Andrew: a friend, as told in session {order[0]}"]
        for session, request in zip(order, requests, strict=True):
            shown = request.prompt.partition("<<<entities")[2].partition("entities")[0]
            known = [line for line in expected if line in shown]
            assert known == (expected if session != order[0] else []), "what came before is shown, and no entity has it yet"
            assert (f" 2024-05-0{1 + int(order[0])}" in shown) == bool(known), "and since when it holds"
            expected.append(f"Cousin{session}: a friend, as told in session {session}")

        async with serving(settings, BEHIND):
            await caught_up(settings, BEHIND)
        lines, calls = await profile_lines(settings), len(simulator.requests)
        assert sorted(lines) == sorted(expected)

        store = build_store(settings)
        async with open_redis(settings.redis) as redis:
            await rebuild(settings, store=store, redis=redis)
        await store.close()
        async with serving(settings, BEHIND):
            await caught_up(settings, BEHIND)
        assert await profile_lines(settings) == lines
        assert len(simulator.requests) == calls, "a rebuild asks nothing"
