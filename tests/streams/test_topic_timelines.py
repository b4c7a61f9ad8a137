"""A topic that an extractor words differently in every session becomes one timeline, live and in a rebuild."""

import re

import pytest

from control.tenant_changes import set_tenant
from extraction.one_pass.answer import form
from loadtest.llm_simulator import LLMSimulator
from loadtest.requests import ChatRequest
from memory.records import Memory
from runtime.kafka import OutgoingRecord, Producer
from runtime.redis.client import open_redis
from runtime.settings import LLMSettings, Settings
from stores.build import build_store
from streams.operations.rebuild import digest, rebuild, snapshot
from streams.stages.catalog import STAGES
from tests.control_log import write
from tests.extraction.topic_stories import stories
from tests.streams.flow import TENANT, caught_up, flush, message_of_session, serving

pytestmark = pytest.mark.integration

SAID = ["clothing store", "dance studio", "online clothing store", "fashion store", "job loss", "clothes shop"]
"""The model's name for the topic of each session, in the order of the sessions."""
TOPICS = {"clothing store": 4, "dance studio": 1, "job loss": 1}
OTHERS = tuple(name for name in STAGES if name != "extraction")


def message(settings: Settings, session: int) -> OutgoingRecord:
    return message_of_session(settings, session, f"There was news of it, the {session}th.")


def answer(request: ChatRequest) -> str:
    """An event of the session's topic."""
    session = int(re.findall(r"the (\d)th", request.messages[-1][1])[-1])
    event = {form.TYPE: "life_event", form.MESSAGES: [0], form.CONTENT: f"Ada told news, the {session}th.", "topic": SAID[session]}
    return form.encode_answer({form.SEGMENTS: [], form.EVENTS: [event], form.PATCHES: []})


async def tell(settings: Settings, sessions: range) -> None:
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([message(settings, session) for session in sessions])
    async with serving(settings, ["sessions"]):
        await caught_up(settings, ["sessions"])
        await flush(settings)
        await caught_up(settings, ["sessions"])


async def counts_and_digest(settings: Settings) -> tuple[dict[str, int], str]:
    """The number of statements on each topic, and the digest of all memories."""
    store = build_store(settings)
    try:
        memories = [Memory.from_json(line) async for line in snapshot(store, TENANT)]
        counts = {str(each.properties["topic"]): int(str(each.properties["told"])) for each in memories if each.type == "story"}
        return counts, await digest(store, TENANT)
    finally:
        await store.close()


async def test_a_topic_is_one_timeline_in_whatever_words(flow: Settings) -> None:
    await write(flow, lambda draft: set_tenant(draft, TENANT, schema=stories("user", "topic")))
    async with LLMSimulator(answer=answer) as simulator:
        settings = flow.model_copy(update={"llm": LLMSettings(base_url=simulator.base_url, model="simulated")})
        await tell(settings, range(4))
        # Nothing is in the store yet: the topics of earlier windows are nevertheless known.
        async with serving(settings, ["extraction"]):
            await caught_up(settings, ["extraction"])
        async with serving(settings, OTHERS):
            await caught_up(settings, OTHERS)
        counts, _ = await counts_and_digest(settings)
        assert counts == {"clothing store": 3, "dance studio": 1}

        async with open_redis(settings.redis) as redis:
            assert await redis.drop_keys()
        await tell(settings, range(4, 6))
        async with serving(settings):
            await caught_up(settings)
        counts, before = await counts_and_digest(settings)
        assert counts == TOPICS, "the store knows what Redis has forgotten"

        calls, store = len(simulator.requests), build_store(settings)
        async with open_redis(settings.redis) as redis:
            await rebuild(settings, store=store, redis=redis)
        await store.close()
        async with serving(settings, OTHERS):
            await caught_up(settings, OTHERS)
        assert await counts_and_digest(settings) == (TOPICS, before)
        assert len(simulator.requests) == calls, "a rebuild chooses no name again"
