"""Cache of answers by request, so that a repeated window costs nothing, and sharing of one execution by concurrent callers."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any, Final, Generic, TypeVar, cast

import orjson
from pydantic import TypeAdapter, ValidationError
from redis.asyncio import Redis

from memory.texts.text import join_surrogates
from models.llm.port import LLMAnswer, LLMRequest
from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily

_LOG = logger(__name__)

_LOCAL_ENTRIES: Final = 256
_BATCH: Final = 500
_LONGEST_CALL_MS: Final = 86_400_000
"""Longest duration of a call. A call that began before its answers were forgotten ends within it, and caches nothing."""

_PUT: Final = """
if (redis.call('GET', KEYS[3]) or '') ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[4])
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('ZADD', KEYS[2], now_ms, ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now_ms - ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return 1
"""
_FORGET: Final = """
redis.call('INCR', KEYS[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
local names = redis.call('ZRANGE', KEYS[1], 0, -1)
for _, name in ipairs(names) do redis.call('UNLINK', ARGV[1] .. name) end
redis.call('UNLINK', KEYS[1])
return #names
"""
_ANSWER: Final = TypeAdapter(LLMAnswer)

T = TypeVar("T")


def prompt_hash(request: LLMRequest, *, model: str, max_tokens: int) -> str:
    """SHA-256 (hex) of everything that determines an answer: model, messages, schema, maximum length, attempt.

    Args:
        request: The request.
        model: The first model.
        max_tokens: The maximum length of the answer.
    """
    question = {
        "model": model,
        "messages": [[each.role, join_surrogates(each.content)] for each in request.messages],
        "schema": request.json_schema,
        "max_tokens": max_tokens,
        "attempt": request.attempt,
    }
    return sha256(orjson.dumps(question, option=orjson.OPT_SORT_KEYS)).hexdigest()


@dataclass(frozen=True, slots=True)
class Place:
    """The place of the cached answer to a question."""

    tenant: str
    """The tenant of the question: answers are never shared between tenants, even to the same question."""
    prompt_hash: str
    """The question's :func:`prompt_hash`."""
    about: str = ""
    """Id of a window or an entity, or a user's name, by which an erasure finds the answer. Empty: it is about no user."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """The result of a cache lookup."""

    place: Place
    answer: LLMAnswer | None
    forgotten: bytes = b""
    """The last call of :func:`forget_answers`; an answer to a question that was looked up before it is not cached."""


class AnswerCache:
    """Answers in Redis.

    While Redis is unavailable, this process's newest answers stay in memory; a redelivery to another process then pays again.

    Args:
        ttl_s: How long an answer is cached, in seconds; 0: not at all.

    Raises:
        ValueError: If ``ttl_s`` is negative.
    """

    def __init__(self, *, redis: GuardedRedis, ttl_s: float) -> None:
        if ttl_s < 0:
            raise ValueError(f"answers are cached for 0 or more seconds, got {ttl_s}")
        self._redis = redis
        self._ttl_ms = int(ttl_s * 1000)
        self._local: OrderedDict[str, LLMAnswer] = OrderedDict()

    async def get(self, place: Place) -> Lookup:
        """Looks a question up. The answer is marked ``from_cache``; its usage and cost are those of the original call."""
        if self._ttl_ms == 0:
            return Lookup(place, None)
        key = self._key(place)
        found, forgotten = self._local.get(key), b""
        if found is None:
            keys = [key, self._forgotten_key(place.tenant, place.about)]
            try:
                raw, count = cast(list[bytes | None], await self._redis.run("reading an answer", lambda client: client.mget(keys)))
            except RedisUnavailableError:
                raw = count = None
            found, forgotten = None if raw is None else _read(raw, key), count or b""
        return Lookup(place, None if found is None else replace(found, from_cache=True), forgotten)

    async def put(self, lookup: Lookup, answer: LLMAnswer) -> None:
        """Caches an answer, unless what it is about was forgotten since the question was looked up."""
        if self._ttl_ms == 0:
            return
        place = lookup.place
        key, value = self._key(place), orjson.dumps(asdict(replace(answer, text=join_surrogates(answer.text))))
        try:
            if place.about:
                keys = [key, self._index_key(place.tenant, place.about), self._forgotten_key(place.tenant, place.about)]
                await self._redis.script("caching an answer", _PUT, keys, value, lookup.forgotten, place.prompt_hash, self._ttl_ms)
            else:
                await self._redis.run("caching an answer", lambda client: client.set(key, value, px=self._ttl_ms))
        except RedisUnavailableError:
            self._local[key] = answer
            while len(self._local) > _LOCAL_ENTRIES:
                self._local.popitem(last=False)

    def _key(self, place: Place) -> str:
        return self._redis.key(KeyFamily.LLM_ANSWERS, place.tenant, place.prompt_hash)

    def _index_key(self, tenant: str, about: str) -> str:
        return self._redis.key(KeyFamily.LLM_ANSWERS_OF, _name(tenant, about))

    def _forgotten_key(self, tenant: str, about: str) -> str:
        return self._redis.key(KeyFamily.LLM_ANSWERS_FORGOTTEN, _name(tenant, about))


async def forget_answers(redis: GuardedRedis, tenant: str, about: Iterable[str]) -> None:
    """Forgets cached answers, and those of running calls.

    Args:
        redis: The cache.
        tenant: The tenant of the questions.
        about: The windows, entities and users of the questions.

    Raises:
        RedisUnavailableError: If Redis is unavailable.
    """
    answers = redis.key(KeyFamily.LLM_ANSWERS, tenant, "")

    async def forget(some: Sequence[str], client: Redis) -> None:
        script = client.register_script(_FORGET)
        async with client.pipeline(transaction=False) as pipe:
            for name in some:
                keys = [redis.key(KeyFamily.LLM_ANSWERS_OF, name), redis.key(KeyFamily.LLM_ANSWERS_FORGOTTEN, name)]
                await script(keys=keys, args=(answers, _LONGEST_CALL_MS), client=pipe)
            await pipe.execute()

    names = [_name(tenant, each) for each in about]
    for start in range(0, len(names), _BATCH):
        await redis.run("forgetting answers of models", partial(forget, names[start : start + _BATCH]))


def _name(tenant: str, about: str) -> str:
    """The tenant, and a digest of what its questions are about: the name of a user who was erased must not be kept."""
    return f"{tenant}:{sha256(about.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _read(raw: bytes | str, key: str) -> LLMAnswer | None:
    """A cached answer. None: the value is unreadable; the question is asked again, and the value overwritten."""
    try:
        return _ANSWER.validate_json(raw, strict=True)
    except ValidationError as error:
        _LOG.warning("cached_answer_unreadable", key=key, error=str(error))
        return None


@dataclass(slots=True)
class _Execution(Generic[T]):
    task: asyncio.Task[T]
    callers: int = 0


class SingleFlight(Generic[T]):
    """Lets callers of the same key share the running work. When the last of them is cancelled, the work is cancelled."""

    def __init__(self) -> None:
        self._executions: dict[str, _Execution[T]] = {}

    async def run(self, key: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the work under that key, started unless it is running; raises what it raises."""
        execution = self._executions.get(key)
        if execution is None:
            execution = self._executions[key] = _Execution(asyncio.create_task(work()))
            execution.task.add_done_callback(lambda task: self._forget(key, task))
        execution.callers += 1
        try:
            return await asyncio.shield(execution.task)
        finally:
            execution.callers -= 1
            if execution.callers == 0 and not execution.task.done():
                # A new caller must not join work that is being cancelled.
                if self._executions.get(key) is execution:
                    del self._executions[key]
                execution.task.cancel()
                await asyncio.wait([execution.task])

    async def close(self) -> None:
        """Cancels all running work."""
        tasks = [execution.task for execution in self._executions.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self, key: str, task: asyncio.Task[T]) -> None:
        execution = self._executions.get(key)
        if execution is not None and execution.task is task:
            del self._executions[key]
        if not task.cancelled():
            # Marks it as retrieved: every caller may have been cancelled.
            task.exception()
