"""Answers kept in a real Redis: what is none is a miss, and is put right by the next answer."""

import pytest
from redis.asyncio import Redis

from models.llm.cache import AnswerCache, prompt_hash
from models.llm.port import LLMAnswer, LLMUsage
from runtime.redis import GuardedRedis
from tests.models.llm.conftest import BuildLLM, BuildRequest, Serve

pytestmark = pytest.mark.integration


@pytest.fixture
def cache(redis: Redis, prefix: str) -> AnswerCache:
    return AnswerCache(redis=GuardedRedis(client=redis, prefix=prefix), ttl_s=60)


async def test_a_cached_answer_comes_back_unchanged(cache: AnswerCache) -> None:
    answer = LLMAnswer(
        text="yes 😀", model="m", finish_reason="length", usage=LLMUsage(prompt_tokens=3, cached_tokens=1), cost=0.5, latency_ms=2.5
    )
    await cache.put("acme", "hash", answer)
    found = await cache.get("acme", "hash")
    assert found is not None
    assert (found.text, found.finish_reason, found.usage, found.cost, found.from_cache) == (
        answer.text, answer.finish_reason, answer.usage, answer.cost, True
    )  # fmt: skip


async def test_lone_surrogates_are_replaced(cache: AnswerCache) -> None:
    await cache.put("acme", "hash", LLMAnswer(text="a\ud83d\ude00\ud83d", model="m"))
    found = await cache.get("acme", "hash")
    assert found is not None
    assert found.text == "a😀\ufffd"


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\xff\x00",
        b"not json",
        b'{"text": "cut',
        b"null",
        b"[1]",
        b'"yes"',
        b"{}",
        b'{"text": "yes"}',
        b'{"text": null, "model": "m"}',
        b'{"text": "yes", "model": "m", "usage": 7}',
        b'{"text": "yes", "model": "m", "usage": {"prompt_tokens": null}}',
        b'{"text": "yes", "model": "m", "finish_reason": "unheard of"}',
    ],
)
async def test_an_unreadable_cached_value_is_a_miss(
    serve: Serve, llm_of: BuildLLM, ask: BuildRequest, redis: Redis, prefix: str, value: bytes
) -> None:
    endpoint = await serve()
    llm = llm_of(endpoint, redis=redis, prefix=prefix)
    key = f"{prefix}llm:answers:acme:{prompt_hash(ask(), model='simulated', max_tokens=200)}"
    await redis.set(key, value, ex=60)

    first, again = await llm.complete(ask()), await llm.complete(ask())

    assert (first.text, first.from_cache, again.text, again.from_cache) == ("yes", False, "yes", True)
    assert len(endpoint.requests) == 1
