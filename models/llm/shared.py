"""State that all workers share through Redis, and how it is noticed that Redis is away."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar, cast

from redis.asyncio import Redis
from redis.exceptions import RedisError

from models.errors import SharedStateAwayError
from runtime.breaker import CircuitBreaker
from runtime.logs import logger

T = TypeVar("T")

_LOG = logger(__name__)


class SharedState:
    """Redis behind a breaker: once it is found away, callers fall back at once instead of waiting for a time-out each."""

    def __init__(self, *, redis: Redis | None, prefix: str, retry_s: float = 5.0) -> None:
        """Wraps a client.

        Args:
            redis: The client; None: always away.
            prefix: Put before every key.
            retry_s: How long after a failure Redis is tried again, in seconds.
        """
        self._redis = redis
        self._prefix = prefix
        self._breaker = CircuitBreaker(failures=1, reset_s=retry_s)
        self._running: set[asyncio.Task[Any]] = set()

    def key(self, *parts: str) -> str:
        """A key under the prefix."""
        return self._prefix + ":".join(parts)

    async def run(self, command: Callable[[Redis], Awaitable[T]]) -> T:
        """Runs a command.

        Raises:
            SharedStateAwayError: If Redis is away, or was a moment ago.
        """
        if self._redis is None:
            raise SharedStateAwayError("no Redis is configured")
        if not self._breaker.permits(asyncio.get_running_loop().time()):
            raise SharedStateAwayError("Redis was away a moment ago")
        # redis-py waits by asyncio.wait_for, which in Python 3.11 can swallow a cancellation: a task of its own keeps the caller's safe.
        task = asyncio.create_task(self._run(command, self._redis))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return cast(T, await asyncio.shield(task))

    async def script(self, lua: str, keys: Sequence[str], *arguments: str | float) -> Any:
        """Runs a Lua script: all of it, or nothing.

        Raises:
            SharedStateAwayError: If Redis is away, or was a moment ago.
        """
        return await self.run(lambda redis: redis.register_script(lua)(keys=keys, args=arguments))

    async def close(self) -> None:
        """Waits for commands whose callers have given up."""
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _run(self, command: Callable[[Redis], Awaitable[T]], redis: Redis) -> T:
        loop = asyncio.get_running_loop()
        try:
            answer = await command(redis)
        except (RedisError, OSError) as error:
            if not self._breaker.is_open:
                _LOG.warning("redis_away", error=str(error), falling_back="to this process's own counters and cache")
            self._breaker.failed(loop.time())
            raise SharedStateAwayError(f"Redis cannot be reached: {error}") from error
        self._breaker.succeeded()
        return answer
