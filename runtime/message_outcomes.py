"""Outcomes of changes of messages, in Redis: the sessions stage, which alone knows the ids, answers the query service there."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, cast, get_args

from redis.asyncio import Redis

from memory.keys import encode_key
from runtime.redis import GuardedRedis
from runtime.redis_keys import KeyFamily

Outcome = Literal["edited", "deleted", "unchanged", "unknown", "too_large"]
"""``unchanged``: the message has that text already. ``unknown``: the user has no such message in the session, or it was deleted before.
``too_large``: the window would exceed the limit of a record."""

_TTL_MS: Final = 600_000


@dataclass(frozen=True, slots=True)
class MessageOutcome:
    """The outcome of one request."""

    tenant: str
    request: str
    """The request's name (:attr:`memory.records.MessageChange.request`)."""
    outcome: Outcome


class MessageOutcomes:
    """Stores outcomes for ten minutes. Every method raises RedisUnavailableError while Redis is unavailable.

    Args:
        redis: The store of the outcomes.
    """

    def __init__(self, *, redis: GuardedRedis) -> None:
        self._redis = redis

    async def write(self, outcomes: Iterable[MessageOutcome]) -> None:
        """Stores outcomes in one round trip."""

        async def write(client: Redis) -> None:
            async with client.pipeline(transaction=False) as pipe:
                for each in outcomes:
                    pipe.set(self._key(each.tenant, each.request), each.outcome, px=_TTL_MS)
                await pipe.execute()

        await self._redis.run("storing outcomes of changed messages", write)

    async def read(self, tenant: str, request: str) -> Outcome | None:
        """The outcome of a request; None if the sessions stage has not handled it yet."""
        key = self._key(tenant, request)
        found = cast(bytes | None, await self._redis.run("reading the outcome of a changed message", lambda client: client.get(key)))
        outcome = None if found is None else found.decode()
        return cast(Outcome, outcome) if outcome in get_args(Outcome) else None

    def _key(self, tenant: str, request: str) -> str:
        return self._redis.key(KeyFamily.OUTCOME, encode_key(tenant, request).decode("ascii"))
