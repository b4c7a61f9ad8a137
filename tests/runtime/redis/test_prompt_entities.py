from datetime import UTC, datetime

import pytest
from redis.asyncio import Redis

from memory.records import Memory
from runtime.redis.client import GuardedRedis
from runtime.redis.extraction_notes import PromptEntities
from runtime.redis.keys import KeyFamily

pytestmark = pytest.mark.integration

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


def entity(content: str) -> Memory:
    return Memory(id="e", tenant="acme", kind="entity", type="person", content=content, event_time=NOON, properties={"n": 1})


async def test_the_entities_of_the_first_prompt_stay(redis: GuardedRedis, client: Redis) -> None:
    prompts = PromptEntities(redis=redis, ttl_s=60)
    assert await prompts.of("acme", "w", "") is None
    await prompts.remember("acme", "w", "", [entity("Ada walks."), entity("Ada é.")])
    await prompts.remember("acme", "w", "", [entity("Ada runs.")])
    assert await prompts.of("acme", "w", "") == (entity("Ada walks."), entity("Ada é."))
    assert await prompts.of("acme", "w", "v2") is None
    assert await prompts.of("umbrella", "w", "") is None
    await prompts.remember("acme", "empty", "", [])
    assert await prompts.of("acme", "empty", "") == (), "an empty prompt is one, too"
    (key,) = [key async for key in client.scan_iter(match=redis.key(KeyFamily.SHOWN, "acme/w/*"))]
    assert 0 < await client.ttl(key) <= 60


async def test_entities_of_a_forgotten_window_are_unknown(redis: GuardedRedis) -> None:
    prompts = PromptEntities(redis=redis, ttl_s=60)
    for name, generation in (("w", ""), ("w", "v2"), ("w2", "")):
        await prompts.remember("acme", name, generation, [entity("Ada walks.")])
    await prompts.forget("acme", ["w", "never"], [""])
    assert await prompts.of("acme", "w", "") is None
    assert [await prompts.of("acme", *each) for each in (("w", "v2"), ("w2", ""))] == [(entity("Ada walks."),)] * 2


async def test_prompts_with_a_forgotten_entity_are_unknown(redis: GuardedRedis) -> None:
    prompts = PromptEntities(redis=redis, ttl_s=60)
    other = entity("Bob runs.").model_copy(update={"id": "other"})
    await prompts.remember("acme", "w*", "", [other, entity("Ada walks.")])
    await prompts.remember("acme", "w2", "", [other])
    await prompts.remember("umbrella", "w*", "", [entity("Ada walks.")])
    await prompts.forget_entities("acme", {"e", "never"})
    assert await prompts.of("acme", "w*", "") is None
    assert await prompts.of("acme", "w2", "") == (other,)
    assert await prompts.of("umbrella", "w*", "") == (entity("Ada walks."),)
