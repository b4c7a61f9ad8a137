"""A routine that occurs in many sessions is stored once a week."""

from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest

from extraction.offline.extractor import OfflineExtractor
from memory.keys import encode_key
from memory.records import Extraction, Message
from memory.schema import scenario
from runtime.redis.client import GuardedRedis, open_redis
from runtime.redis.session_history import SessionHistory
from runtime.settings import RedisSettings, Settings
from streams.stages.extraction.handler import ExtractionHandler
from tests.control_log import known_tenants
from tests.made_records import made_window
from tests.redis_server import SilentRedis
from tests.stores.factories import BagOfWordsEmbedder
from tests.streams.agent_extractions import TENANT
from tests.streams.harness import delivered
from tests.streams.stages.extraction.doubles import new_handler

START = datetime(2024, 5, 1, 7, tzinfo=UTC)
HEARTBEAT = "Read my notes about the garden in the shared folder, follow them strictly, and tell me about anything new there."


def stage_over(settings: Settings, redis: GuardedRedis) -> ExtractionHandler:
    tenants = known_tenants({TENANT: scenario("companion")})
    extractor = OfflineExtractor(embedder=BagOfWordsEmbedder())
    return new_handler(settings, tenants, extractor, session_history=SessionHistory(redis=redis, ttl_s=600))


async def said(
    stage: ExtractionHandler, day: int, *texts: str, user: str = "ann", revision: int = 0, role: Literal["user", "assistant"] = "user"
) -> list[str]:
    """The events of a session of one day."""
    time, session = START + timedelta(days=day), f"session-{user}-{day}"
    messages = [
        Message(
            tenant=TENANT, user=user, session=session, id=f"m{number}", role=role, text=text, event_time=time + timedelta(minutes=number)
        )
        for number, text in enumerate(texts)
    ]
    window = made_window(messages, id=f"w-{user}-{day}", tenant=TENANT, user=user, session=session, revision=revision, ended_at=time)
    (output,) = await stage.handle(delivered("windows", day, encode_key(TENANT, session), window.to_json()))
    return [each.content for each in Extraction.from_json(output.value or b"").events]


@pytest.mark.integration
async def test_a_heartbeat_in_daily_sessions_is_one_memory(settings: Settings, redis: GuardedRedis) -> None:
    stage = stage_over(settings, redis)
    found = [await said(stage, day, HEARTBEAT) for day in range(10)]
    assert found == [[HEARTBEAT], *([[]] * 7), [HEARTBEAT], []]
    news = "My sister Lene paints a boat in Bergen."
    assert await said(stage, 10, HEARTBEAT, news) == [news]
    assert await said(stage, 10, HEARTBEAT, user="bob") == [HEARTBEAT], "another user has other routines"
    assert await said(stage, 8, HEARTBEAT) == [HEARTBEAT], "extracted again, a window keeps its events"


@pytest.mark.integration
async def test_short_automated_texts_are_joined_and_personal_ones_stay(settings: Settings, redis: GuardedRedis) -> None:
    stage = stage_over(settings, redis)
    code, checked, tired = "HEARTBEAT_OK", "The mailbox is empty.", "I'm tired today."
    assert [await said(stage, day, code, role="assistant") for day in range(5)] == [[code], [], [], [], []]
    assert [await said(stage, day, checked, role="assistant") for day in range(5, 12)] == [[checked]] * 2 + [[]] * 5
    assert [await said(stage, day, tired) for day in range(12, 16)] == [[tired]] * 4


@pytest.mark.integration
async def test_a_deleted_routine_covers_no_event(settings: Settings, redis: GuardedRedis) -> None:
    stage = stage_over(settings, redis)
    assert await said(stage, 0, HEARTBEAT) == [HEARTBEAT]
    assert await said(stage, 0, revision=1) == []
    assert await said(stage, 1, HEARTBEAT) == [HEARTBEAT]


async def test_without_redis_every_routine_is_kept(settings: Settings) -> None:
    async with SilentRedis() as silent, open_redis(RedisSettings(url=silent.url, timeout_s=0.1)) as redis:
        stage = stage_over(settings, redis)
        assert [await said(stage, day, HEARTBEAT) for day in range(2)] == [[HEARTBEAT]] * 2
