"""Answers kept by what was asked, so that a redelivered window never pays twice."""

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
    """SHA-256 (hex) of all that decides an answer: model, messages, schema, longest answer, attempt.

    Args:
        request: What is asked.
        model: The model that is asked first.
        max_tokens: The longest answer in force.
    """
    asked = {
        "model": model,
        "messages": [[each.role, join_surrogates(each.content)] for each in request.messages],
        "schema": request.json_schema,
        "max_tokens": max_tokens,
        "attempt": request.attempt,
    }
    return sha256(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)).hexdigest()


class AnswerCache:
    """Answers in Redis, per tenant: one tenant's answer is never another's, even to the same question.

    While Redis is away, this process's newest answers are kept in memory; a redelivery to another process then pays again.
    """

    def __init__(self, *, redis: GuardedRedis, ttl_s: float) -> None:
        """An empty cache.

        Args:
            redis: Where answers are kept.
            ttl_s: How long an answer is kept, in seconds; 0: not at all.
        """
        self._redis = redis
        self._ttl_ms = int(ttl_s * 1000)
        self._local: OrderedDict[str, LLMAnswer] = OrderedDict()

    async def get(self, tenant: str, asked: str) -> LLMAnswer | None:
        """The answer to a prompt of that hash, marked ``from_cache``; its usage and cost are those of the call that was paid for."""
        if self._ttl_ms == 0:
            return None
        key = self._key(tenant, asked)
        found = self._local.get(key)
        if found is None:
            try:
                raw = await self._redis.run("reading an answer", lambda client: client.get(key))
            except RedisUnavailableError:
                raw = None
            found = None if raw is None else _read(raw, key)
        return None if found is None else replace(found, from_cache=True)

    async def put(self, tenant: str, asked: str, answer: LLMAnswer) -> None:
        """Keeps an answer."""
        if self._ttl_ms == 0:
            return
        key = self._key(tenant, asked)
        value = orjson.dumps(asdict(replace(answer, text=join_surrogates(answer.text))))
        try:
            await self._redis.run("keeping an answer", lambda client: client.set(key, value, px=self._ttl_ms))
        except RedisUnavailableError:
            self._local[key] = answer
            while len(self._local) > _LOCAL_ENTRIES:
                self._local.popitem(last=False)

    def _key(self, tenant: str, asked: str) -> str:
        return self._redis.key("llm", "answers", tenant, asked)


def _read(raw: bytes | str, key: str) -> LLMAnswer | None:
    """A kept answer; None where what is kept is none, so that it is asked for anew and kept rightly."""
    try:
        return _ANSWER.validate_json(raw, strict=True)
    except ValidationError as error:
        _LOG.warning("cached_answer_unreadable", key=key, error=str(error))
        return None
