"""Answers cached in a real Redis: an unreadable entry is a miss, and the next answer replaces it."""

import pytest
from redis.asyncio import Redis

from models.llm.cache import AnswerCache, Place, forget_answers, prompt_hash
from models.llm.port import LLMAnswer, LLMUsage
from runtime.redis.client import GuardedRedis
from tests.models.llm.conftest import BuildLLM, BuildRequest, Serve

pytestmark = pytest.mark.integration

PLACE = Place("acme", "hash")
ANSWER = LLMAnswer(text="Ann carries the gene", model="m")


@pytest.fixture
def cache(redis: Redis, prefix: str) -> AnswerCache:
    return AnswerCache(redis=GuardedRedis(client=redis, prefix=prefix), ttl_s=60)


async def test_a_cached_answer_is_returned_unchanged(cache: AnswerCache) -> None:
    answer = LLMAnswer(
        text="yes 😀", model="m", finish_reason="length", usage=LLMUsage(prompt_tokens=3, cached_tokens=1), cost=0.5, latency_ms=2.5
    )
    await cache.put(await cache.get(PLACE), answer)
    found = (await cache.get(PLACE)).answer
    assert found is not None
    assert (found.text, found.finish_reason, found.usage, found.cost, found.from_cache) == (
        answer.text, answer.finish_reason, answer.usage, answer.cost, True
    )  # fmt: skip


async def test_lone_surrogates_are_replaced(cache: AnswerCache) -> None:
    await cache.put(await cache.get(PLACE), LLMAnswer(text="a\ud83d\ude00\ud83d", model="m"))
    found = (await cache.get(PLACE)).answer
    assert found is not None
    assert found.text == "a😀\ufffd"


async def test_forgotten_answers_are_removed(cache: AnswerCache, redis: Redis, prefix: str) -> None:
    of_ann, of_bob, of_nobody = Place("acme", "1", "ann"), Place("acme", "2", "bob"), Place("acme", "3")
    elsewhere = Place("umbrella", "1", "ann")
    for place in (of_ann, of_bob, of_nobody, elsewhere):
        await cache.put(await cache.get(place), ANSWER)
    await forget_answers(GuardedRedis(client=redis, prefix=prefix), "acme", ["ann", "nobody that was asked about"])
    found = [(await cache.get(place)).answer is not None for place in (of_ann, of_bob, of_nobody, elsewhere)]
    assert found == [False, True, True, True]
    names = [key async for key in redis.scan_iter(match=f"{prefix}*")]
    assert not any(b"ann" in each for each in names), "a digest stands for the user"


async def test_a_call_from_before_keeps_no_answer(cache: AnswerCache, redis: Redis, prefix: str) -> None:
    """Its caller may have lost its partition long ago, and nothing waits for it."""
    place = Place("acme", "1", "ann")
    asked = await cache.get(place)
    await forget_answers(GuardedRedis(client=redis, prefix=prefix), "acme", ["ann"])
    await cache.put(asked, ANSWER)
    asked_again = await cache.get(place)
    assert asked_again.answer is None
    await cache.put(asked_again, ANSWER)
    assert (await cache.get(place)).answer is not None, "the user has come back"


async def test_an_index_keeps_no_expired_answers(cache: AnswerCache, redis: Redis, prefix: str) -> None:
    await cache.put(await cache.get(Place("acme", "1", "ann")), ANSWER)
    (index,) = [key async for key in redis.scan_iter(match=f"{prefix}llm:answers-of:*")]
    await redis.zadd(index, {"long expired": 0})
    await cache.put(await cache.get(Place("acme", "2", "ann")), ANSWER)
    assert await redis.zrange(index, 0, -1) == [b"1", b"2"]


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
