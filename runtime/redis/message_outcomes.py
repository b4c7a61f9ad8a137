"""Reports to the senders of messages, in Redis: outcomes of edits and deletions, and digests of ids that were sent before.

The sessions stage alone decides what counts, and reports the outcomes of changes here. The digests let the service report at once that an
id is known, and whether its text has changed. A digest lives as long as the stage certainly recognises an id, one day. It can be matched
only with the message's id and text.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Literal, cast, get_args

import orjson
from redis.asyncio import Redis

from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily

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
                for outcome in outcomes:
                    pipe.set(self._key(outcome.tenant, outcome.request), outcome.outcome, px=_TTL_MS)
                await pipe.execute()

        await self._redis.run("storing outcomes of changed messages", write)

    async def read(self, tenant: str, request: str) -> Outcome | None:
        """The outcome of a request; None if the sessions stage has not handled it yet."""
        key = self._key(tenant, request)
        found = await self._redis.read("reading the outcome of a changed message", key)
        outcome = None if found is None else found.decode()
        return cast(Outcome, outcome) if outcome in get_args(Outcome) else None

    def _key(self, tenant: str, request: str) -> str:
        return self._redis.key_of(KeyFamily.OUTCOME, tenant, request)


Recognition = Literal["new", "repeated", "changed"]
"""``changed``: the id is known with another content, so the message was not stored."""

_SENT_TTL_MS: Final = 86_400_000
_NOT_CONTENT: Final = frozenset({"id", "event_time", "metadata", "schema_version"})
_TEXTS: Final = ("text", "content")
"""Fields with a message's text, in the accepted shapes."""
_DIGEST_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message as its sender wrote it."""

    name: bytes
    """Digest of tenant, session, user, the user's erasure epoch, and id."""
    content: bytes
    """Digest of the fields that the sender repeats with an equal message, without the text."""
    text: bytes
    """Digest of the text."""

    @classmethod
    def of(cls, tenant: str, fields: dict[str, Any], *, epoch: str) -> "SentMessage":
        """The digests of a message.

        Args:
            tenant: The message's tenant.
            fields: The message's fields, with an id.
            epoch: The epoch of the user's newest erasure: after it, an id is new.
        """
        key = _name_of(tenant, fields, fields["id"], epoch)
        content = {name: value for name, value in fields.items() if name not in _NOT_CONTENT and value is not None}
        texts = [value for name in _TEXTS if (value := content.pop(name, None)) is not None]
        return cls(key, _digest(content, key), _digest(texts, key))

    @classmethod
    def edited(cls, tenant: str, *, session: str, user: str, message_id: str, text: str, epoch: str) -> "SentMessage":
        """The name of an edited message, and the digest of its new text.

        Args:
            tenant: The message's tenant.
            session: Its session.
            user: Its user.
            message_id: Its id.
            text: The new text.
            epoch: See :meth:`of`.
        """
        key = _name_of(tenant, {"session": session, "user": user}, message_id, epoch)
        return cls(key, b"", _digest([text], key))

    def recognition(self, noted: bytes) -> Recognition:
        """Compares the message with the one that its id was first sent with, and with that one's latest edit.

        Args:
            noted: The digests of the content, the first text, and the latest text, if it was edited.
        """
        content, texts = noted[:_DIGEST_BYTES], (noted[_DIGEST_BYTES : 2 * _DIGEST_BYTES], noted[2 * _DIGEST_BYTES :])
        return "repeated" if content == self.content and self.text in texts else "changed"


def _name_of(tenant: str, fields: Mapping[str, Any], message_id: object, epoch: str) -> bytes:
    name = orjson.dumps([tenant, fields.get("session"), fields.get("user"), epoch, message_id])
    return blake2b(name, digest_size=_DIGEST_BYTES).digest()


def _digest(value: object, key: bytes) -> bytes:
    return blake2b(orjson.dumps(value, option=orjson.OPT_SORT_KEYS), digest_size=_DIGEST_BYTES, key=key).digest()


class SentMessages:
    """Remembers sent messages for a day. Every method raises RedisUnavailableError while Redis is unavailable."""

    def __init__(self, *, redis: GuardedRedis) -> None:
        self._redis = redis

    async def note(self, messages: Sequence[SentMessage]) -> list[Recognition]:
        """Remembers messages, and says which of them are known. The first content and the latest edit of an id stay.

        Args:
            messages: The messages, in the order in which they were sent.
        """

        async def note(client: Redis) -> list[Any]:
            async with client.pipeline(transaction=False) as pipe:
                for message in messages:
                    # Redis before version 7 has no SET with both NX and GET.
                    key = self._redis.key(KeyFamily.SENT, message.name.hex())
                    pipe.set(key, message.content + message.text, nx=True, px=_SENT_TTL_MS)
                    pipe.get(key)
                return await pipe.execute()

        answers = await self._redis.run("noting sent messages", note) if messages else []
        return [
            "new" if is_new or first is None else each.recognition(first)
            for is_new, first, each in zip(answers[::2], answers[1::2], messages, strict=True)
        ]

    async def note_edit(self, edited: SentMessage) -> None:
        """Remembers the latest text of a known message: sent again with it, the message is repeated.

        Args:
            edited: From :meth:`SentMessage.edited`.
        """

        async def note(client: Redis) -> None:
            key = self._redis.key(KeyFamily.SENT, edited.name.hex())
            noted = cast(bytes | None, await client.get(key))
            if noted is not None:
                await client.set(key, noted[: 2 * _DIGEST_BYTES] + edited.text, xx=True, px=_SENT_TTL_MS)

        await self._redis.run("noting an edited message", note)
