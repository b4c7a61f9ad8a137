"""Two users write in one session, as in a shared channel: the real handler, with its notes in a real Redis."""

import json
from datetime import UTC, datetime

import pytest

from loadtest.requests import ChatRequest
from memory.keys import encode_key
from memory.records import Extraction, Message
from memory.schema import parse_schema
from runtime.redis.client import open_redis
from runtime.redis.session_history import SessionHistory
from runtime.settings import RedisSettings, Settings
from streams.engine.records import ConsumedRecord
from tests.control_log import known_tenants
from tests.made_records import made_window
from tests.streams.agent_extractions import TENANT
from tests.streams.harness import delivered
from tests.streams.stages.extraction.doubles import llm_extractor, new_handler

TYPES = [{"EventType": "fact", "Description": "A fact.", "Properties": []}]
SCHEMA = parse_schema({"Name": "chat", "EventTypes": TYPES, "EntityTypes": []})
FACT = {"type": "fact", "msgs": [0], "date": "", "content": "The user is vegetarian and wants no meat.", "keywords": [], "weight": 8}


def said(user: str, sequence: int, text: str) -> ConsumedRecord:
    """A window of one message in the channel."""
    time = datetime(2024, 5, 1, 9, sequence, tzinfo=UTC)
    message = Message(tenant=TENANT, user=user, session="channel", id=f"m{sequence}", role="user", text=text, event_time=time)
    window = made_window(
        [message],
        id=f"00000000-0000-5000-8000-00000000000{sequence}",
        sequence=sequence,
        closed_by="user",
        first_offset=sequence,
        last_offset=sequence,
    )
    return delivered("windows", sequence, encode_key(TENANT, user), window.to_json())


@pytest.mark.integration
async def test_two_users_of_a_session_may_state_the_same(settings: Settings, redis_url: str, topic_prefix: str) -> None:
    prompts: list[str] = []

    def answer(request: ChatRequest) -> str:
        prompts.append(request.messages[-1][1])
        return json.dumps({"segments": [{"topic": "Health: diabetes", "ranges": [[0, 0]]}], "events": [FACT]})

    async with (
        open_redis(RedisSettings(url=redis_url, prefix=topic_prefix, timeout_s=60.0)) as redis,
        llm_extractor(settings, answer) as (extractor, _),
    ):
        history = SessionHistory(redis=redis, ttl_s=60)
        stage = new_handler(settings, known_tenants({TENANT: SCHEMA}), extractor, session_history=history)
        events = []
        channel = (("alice", "I'm vegetarian, and diabetic."), ("bob", "I'm vegetarian, too."), ("bob", "No meat!"))
        for sequence, (user, text) in enumerate(channel):
            (output,) = await stage.handle(said(user, sequence, text))
            events.append([each.content for each in Extraction.from_json(output.value or b"").events])
    assert events == [[FACT["content"]], [FACT["content"]], []], "only Bob's own earlier statement is repeated"
    assert ["diabetes" in each for each in prompts] == [False, False, True]
