"""Answers cached by what was asked, so that a redelivered window never pays twice."""

from collections import OrderedDict
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Final

import orjson
from pydantic import TypeAdapter, ValidationError

from models.llm.port import LLMAnswer, LLMRequest
from models.llm.surrogates import join_surrogates
from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.redis import GuardedRedis

_LOG = logger(__name__)

_LOCAL_ENTRIES: Final = 256
_ANSWER: Final = TypeAdapter(LLMAnswer)


def prompt_hash(request: LLMRequest, *, model: str, max_tokens: int) -> str:
    """SHA-256 (hex) of all that determines an answer: model, messages, schema, longest answer, attempt.

    Args:
        request: What is asked.
        model: The model that is asked first.
        max_tokens: The longest answer in force.
    """
    question = {
        "model": model,
        "messages": [[each.role, join_surrogates(each.content)] for each in request.messages],
        "schema": request.json_schema,
        "max_tokens": max_tokens,
        "attempt": request.attempt,
    }
    return sha256(orjson.dumps(question, option=orjson.OPT_SORT_KEYS)).hexdigest()


class AnswerCache:
    """Answers in Redis, per tenant: one tenant's answer is never another's, even to the same question.

    While Redis is away, this process's newest answers stay in memory; a redelivery to another process then pays again.

    Args:
        redis: Shared by all workers.
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

    async def get(self, tenant: str, prompt_hash: str) -> LLMAnswer | None:
        """The answer to a prompt, marked ``from_cache``; its usage and cost are those of the original call."""
        if self._ttl_ms == 0:
            return None
        key = self._key(tenant, prompt_hash)
        found = self._local.get(key)
        if found is None:
            try:
                raw = await self._redis.run("reading an answer", lambda client: client.get(key))
            except RedisUnavailableError:
                raw = None
            found = None if raw is None else _read(raw, key)
        return None if found is None else replace(found, from_cache=True)

    async def put(self, tenant: str, prompt_hash: str, answer: LLMAnswer) -> None:
        """Caches an answer.

        Args:
            tenant: Whose question it answers.
            prompt_hash: The question's :func:`prompt_hash`.
            answer: The answer.
        """
        if self._ttl_ms == 0:
            return
        key = self._key(tenant, prompt_hash)
        value = orjson.dumps(asdict(replace(answer, text=join_surrogates(answer.text))))
        try:
            await self._redis.run("caching an answer", lambda client: client.set(key, value, px=self._ttl_ms))
        except RedisUnavailableError:
            self._local[key] = answer
            while len(self._local) > _LOCAL_ENTRIES:
                self._local.popitem(last=False)

    async def forget(self, tenant: str) -> int:
        """Forgets every answer of a tenant: nothing tells which user an answer is of. A question that is asked again costs a call.

        Args:
            tenant: Whose answers.

        Returns:
            How many answers there were.

        Raises:
            RedisUnavailableError: If Redis is away.
        """
        return await self._redis.drop_under("llm", "answers", tenant)

    def _key(self, tenant: str, prompt_hash: str) -> str:
        return self._redis.key("llm", "answers", tenant, prompt_hash)


def _read(raw: bytes | str, key: str) -> LLMAnswer | None:
    """A cached answer; None where the value is unreadable, so that the question is asked again and the value overwritten."""
    try:
        return _ANSWER.validate_json(raw, strict=True)
    except ValidationError as error:
        _LOG.warning("cached_answer_unreadable", key=key, error=str(error))
        return None
