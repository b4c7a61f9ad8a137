"""The Redis client, and what its errors mean here."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from runtime.errors import RedisUnavailableError
from runtime.settings import RedisSettings

_GLOB: Final = re.compile(r"[*?\[\]\\^-]")
_SCAN: Final = 1000


def connect_redis(redis: RedisSettings) -> Redis:
    """A client with a connection pool; it connects with the first command, and again after Redis was away.

    A command on a connection that died is tried once more, at once: whoever uses Redis can do without it and must not wait.

    Args:
        redis: Address and time-out.
    """
    return Redis.from_url(
        redis.url,
        socket_timeout=redis.timeout_s,
        socket_connect_timeout=redis.timeout_s,
        retry=Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
    )


async def drop_keys(client: Redis, *, prefix: str) -> int:
    """Removes every key that begins with a prefix.

    Args:
        client: As :func:`connect_redis` makes it.
        prefix: Not empty; taken literally.

    Returns:
        How many keys were removed.

    Raises:
        RedisUnavailableError: While Redis is away.
    """
    if not prefix:
        raise ValueError("an empty prefix would remove what is not Varve's")
    removed = 0
    with redis_faults(f"removing the keys under {prefix!r}"):
        found: list[bytes] = []
        async for key in client.scan_iter(match=_GLOB.sub(r"\\\g<0>", prefix) + "*", count=_SCAN):
            found.append(key)
            if len(found) >= _SCAN:
                removed += await client.unlink(*found)
                found.clear()
        if found:
            removed += await client.unlink(*found)
    return removed


@contextmanager
def redis_faults(doing: str) -> Iterator[None]:
    """Turns what redis raises into Varve's own error.

    Args:
        doing: What is being done, for the message.

    Raises:
        RedisUnavailableError: For whatever keeps Redis from doing it.
    """
    try:
        yield
    except (RedisError, OSError, TimeoutError) as error:
        what = str(error) or type(error).__name__
        raise RedisUnavailableError(f"{doing} failed: {what}; is Redis up and VARVE_REDIS__URL right?") from error
