"""Reports to the senders of messages, in Redis: outcomes of edits and deletions, and digests of ids that were sent before.

The sessions stage alone decides what counts, and reports the outcomes of changes here. The digests let the service report at once that an
id is known, and whether its text has changed. A digest lives as long as the stage certainly recognises an id, one day. It can be matched
only with the message's id and text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Literal, cast, get_args

import orjson
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
    """Stores outcomes for ten minutes. Every method raises RedisUnavailableError while Redis is unavailable."""

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


Recognition = Literal["new", "repeated", "changed"]
"""``changed``: the id is known with another content, so the message was not stored."""

_SENT_TTL_MS: Final = 86_400_000
_NOT_CONTENT: Final = frozenset({"id", "event_time", "metadata", "schema_version"})
_DIGEST_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message as its sender wrote it."""

    name: bytes
    """Digest of tenant, session, user, the user's erasure epoch, and id."""
    content: bytes
    """Digest of the fields that the sender repeats with an equal message."""

    @classmethod
    def of(cls, tenant: str, fields: dict[str, Any], *, epoch: str) -> "SentMessage":
        """The digests of a message.

        Args:
            tenant: The message's tenant.
            fields: The message's fields, with an id.
            epoch: The epoch of the user's newest erasure: after it, an id is new.
        """
        name = orjson.dumps([tenant, fields.get("session"), fields.get("user"), epoch, fields["id"]])
        content = {key: value for key, value in fields.items() if key not in _NOT_CONTENT and value is not None}
        key = blake2b(name, digest_size=_DIGEST_BYTES).digest()
        return cls(key, blake2b(orjson.dumps(content, option=orjson.OPT_SORT_KEYS), digest_size=_DIGEST_BYTES, key=key).digest())


class SentMessages:
    """Remembers sent messages for a day. Every method raises RedisUnavailableError while Redis is unavailable."""

    def __init__(self, *, redis: GuardedRedis) -> None:
        self._redis = redis

    async def note(self, messages: Sequence[SentMessage]) -> list[Recognition]:
        """Remembers messages, and says which of them are known. The first content of an id stays.

        Args:
            messages: The messages, in the order in which they were sent.
        """

        async def note(client: Redis) -> list[Any]:
            async with client.pipeline(transaction=False) as pipe:
                for each in messages:
                    # Redis before version 7 has no SET with both NX and GET.
                    key = self._redis.key(KeyFamily.SENT, each.name.hex())
                    pipe.set(key, each.content, nx=True, px=_SENT_TTL_MS)
                    pipe.get(key)
                return await pipe.execute()

        answers = await self._redis.run("noting sent messages", note) if messages else []
        return [
            "new" if is_new or first is None else "repeated" if first == each.content else "changed"
            for is_new, first, each in zip(answers[::2], answers[1::2], messages, strict=True)
        ]
