"""The Redis client, and what its errors mean here."""

from collections.abc import Iterator
from contextlib import contextmanager

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from runtime.errors import RedisUnavailableError
from runtime.settings import RedisSettings


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
