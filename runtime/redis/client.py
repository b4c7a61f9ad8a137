"""Redis client with a process-wide circuit breaker: once Redis is unavailable, calls fail without waiting for a time-out."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar, cast

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError, RedisError, ResponseError

from memory.keys import encode_key
from runtime.errors import RedisFullError, RedisUnavailableError
from runtime.logs import logger
from runtime.redis.keys import KeyFamily
from runtime.resilience import CircuitBreaker
from runtime.settings import RedisSettings

_log = logger(__name__)

_GLOB: Final = re.compile(r"[*?\[\]\\^-]")
_SCAN_BATCH: Final = 1000
_RETRY_S: Final = 5.0
_PROBE_TTL_MS: Final = 60_000

T = TypeVar("T")


class GuardedRedis:
    """Executes all Redis commands; holds the client, the breaker and the keys' prefix.

    Varve can run without Redis's data for a while. The first failed connection opens the breaker. Until a trial succeeds, all other
    commands fail at once, including pending ones.

    Args:
        client: The client; the caller closes it. None: no Redis is configured, so it counts as unavailable.
        retry_s: Time after a failure until Redis is tried again, in seconds.
    """

    def __init__(self, *, client: Redis | None, prefix: str, retry_s: float = _RETRY_S) -> None:
        self._client = client
        self._prefix = prefix
        self._breaker = CircuitBreaker(failures=1, reset_s=retry_s)
        self._failed_trial = False
        self._is_full = False
        self.has_evicted = False
        """Whether Redis has evicted keys since this process started, so that a missing key may have been written. Set by the watch."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._outcomes: set[asyncio.Future[Any]] = set()

    @property
    def prefix(self) -> str:
        """Prefix of every key."""
        return self._prefix

    @property
    def is_configured(self) -> bool:
        """Whether there is a Redis at all."""
        return self._client is not None

    @property
    def is_full(self) -> bool:
        """Whether Redis refused the last write because it has reached ``maxmemory``."""
        return self._is_full

    @property
    def refuses_writes(self) -> bool:
        """Whether the last trial write failed, or a write since then because of ``maxmemory``."""
        return self._failed_trial or self._is_full

    def key(self, family: KeyFamily, *parts: str) -> str:
        """A key under the prefix: its family and its parts, joined by ``:``."""
        return self._prefix + ":".join((family, *parts))

    def key_of(self, family: KeyFamily, *names: str) -> str:
        """A key under the prefix for names with any characters, such as a tenant's and a user's (:func:`memory.keys.encode_key`)."""
        return self.key(family, encode_key(*names).decode("ascii"))

    async def run(self, doing: str, command: Callable[[Redis], Awaitable[T]]) -> T:
        """Runs a command. It is completed even if the caller is cancelled.

        Raises:
            RedisUnavailableError: If Redis is unavailable, recently was, or rejects the command.
        """
        now = asyncio.get_running_loop().time()
        if self._client is not None and not self._breaker.permits(now):
            raise RedisUnavailableError(
                f"{doing} failed: Redis was unavailable; it is tried again in {self._breaker.retry_after_s(now):.1f} s"
            )
        self._breaker.start_trial(now)
        return await self._run(doing, command)

    async def script(self, doing: str, lua: str, keys: Sequence[str], *arguments: str | bytes | float) -> Any:
        """Runs a Lua script atomically.

        Args:
            doing: Name of the script, for the error message.
            lua: Its source.
            keys: The keys that it uses.
            *arguments: Its further arguments.

        Raises:
            RedisUnavailableError: If Redis is unavailable, recently was, or rejects the script.
        """
        return await self.run(doing, lambda client: client.register_script(lua)(keys=keys, args=arguments))

    async def read(self, doing: str, key: str) -> bytes | None:
        """The value of a key; None if there is none.

        Raises:
            RedisUnavailableError: If Redis is unavailable, recently was, or rejects the command.
        """
        return cast(bytes | None, await self.run(doing, lambda client: client.get(key)))

    async def unlink(self, doing: str, keys: Sequence[str]) -> None:
        """Removes keys, any number of them.

        Raises:
            RedisUnavailableError: If Redis is unavailable, was so a moment ago, or refuses the command.
        """
        for start in range(0, len(keys), _SCAN_BATCH):
            await self._unlink_some(doing, keys[start : start + _SCAN_BATCH])

    async def _unlink_some(self, doing: str, keys: Sequence[str]) -> None:
        await self.run(doing, lambda client: client.unlink(*keys))

    async def keys(self, doing: str, family: KeyFamily, *, tenant: str | None = None) -> list[str]:
        """The keys of a family that :meth:`key_of` has made. It scans all keys of the database.

        Args:
            doing: Purpose, for the error message.
            family: The family.
            tenant: Only keys of several names, the first of which is this tenant. Default: all.

        Raises:
            RedisUnavailableError: If Redis is unavailable, recently was, or rejects the command.
        """
        start = self.key(family, "") if tenant is None else self.key_of(family, tenant) + "/"
        pattern = _GLOB.sub(r"\\\g<0>", start) + "*"

        async def scan(client: Redis) -> list[str]:
            return [key.decode() async for key in client.scan_iter(match=pattern, count=_SCAN_BATCH)]

        return list(dict.fromkeys(await self.run(doing, scan)))

    async def ping(self) -> None:
        """Checks whether Redis answers, even while the breaker is open; for health checks.

        Raises:
            RedisUnavailableError: If it does not answer.
        """
        await self._run("a ping", lambda client: client.ping())

    async def check_writes(self) -> None:
        """Writes a small key, to find out whether Redis accepts writes.

        Raises:
            RedisFullError: If Redis has reached ``maxmemory``.
            RedisUnavailableError: If it does not answer.
        """
        try:
            await self._run("a trial write", self.write_probe)
        except RedisUnavailableError:
            self._failed_trial = True
            raise
        self._failed_trial = False
        if self._is_full:
            self._is_full = False
            _log.info("redis_accepts_writes")

    async def write_probe(self, client: Redis) -> None:
        """Queues or sends the trial write; pipelines add it to reads of data that a refused write would have changed."""
        await client.set(self.key(KeyFamily.WRITE_PROBE), b"", px=_PROBE_TTL_MS)

    async def drop_keys(self, *, but: str | None = None) -> int:
        """Deletes all keys with the prefix.

        Args:
            but: Keys that continue with this text after the prefix are kept. Default: none is kept.

        Returns:
            The number of deleted keys.

        Raises:
            RedisUnavailableError: If Redis is unavailable.
        """
        if not self._prefix:
            raise ValueError("with an empty prefix, keys of other applications would be deleted")
        kept = None if but is None else (self._prefix + but).encode()
        return await self.run(f"deleting the keys with prefix {self._prefix!r}", lambda client: self._unlink_all(client, kept))

    async def drain(self) -> None:
        """Waits for commands whose callers were cancelled."""
        await asyncio.gather(*self._tasks)

    async def _unlink_all(self, client: Redis, kept: bytes | None) -> int:
        removed = 0
        found: list[bytes] = []
        async for key in client.scan_iter(match=_GLOB.sub(r"\\\g<0>", self._prefix) + "*", count=_SCAN_BATCH):
            if kept is not None and key.startswith(kept):
                continue
            found.append(key)
            if len(found) >= _SCAN_BATCH:
                removed += await client.unlink(*found)
                found.clear()
        if found:
            removed += await client.unlink(*found)
        return removed

    async def _run(self, doing: str, command: Callable[[Redis], Awaitable[T]]) -> T:
        if self._client is None:
            raise RedisUnavailableError(f"{doing} failed: no Redis is configured")
        # redis-py uses asyncio.wait_for, which in Python 3.11 can swallow a cancellation: a separate task protects the caller's.
        outcome: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._outcomes.add(outcome)
        outcome.add_done_callback(self._outcomes.discard)
        task = asyncio.create_task(self._resolve(outcome, doing, command(self._client)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await outcome

    async def _resolve(self, outcome: "asyncio.Future[T]", doing: str, answer: Awaitable[T]) -> None:
        try:
            result = await answer
        except ResponseError as error:
            # Redis answers: a key of the wrong type must not affect other commands.
            self._note_recovered()
            if _is_out_of_memory(error):
                self._note_full(doing, error)
                _fail(outcome, _full(doing, error))
            else:
                _log.warning("redis_command_refused", doing=doing, error=_text(error))
                _fail(outcome, _unavailable(doing, error))
        except (RedisError, OSError) as error:
            self._note_unavailable(doing, error)
        except Exception as error:
            _fail(outcome, error)
        else:
            self._note_recovered()
            if not outcome.done():
                outcome.set_result(result)
        finally:
            outcome.cancel()

    def _note_unavailable(self, doing: str, error: Exception) -> None:
        if self._breaker.is_closed:
            _log.warning("redis_unavailable", doing=doing, error=_text(error))
        self._breaker.record_failure(asyncio.get_running_loop().time())
        for waiting in tuple(self._outcomes):
            _fail(waiting, _unavailable(doing, error))

    def _note_full(self, doing: str, error: Exception) -> None:
        if not self._is_full:
            self._is_full = True
            _log.error("redis_refuses_writes", doing=doing, error=_text(error))

    def _note_recovered(self) -> None:
        if not self._breaker.is_closed:
            _log.info("redis_recovered")
        self._breaker.record_success()


@asynccontextmanager
async def open_redis(settings: RedisSettings) -> AsyncIterator[GuardedRedis]:
    """The process's Redis client. It connects at its first command, and reconnects after Redis was unavailable.

    A command on a broken connection is retried only once, at once: callers can continue without Redis and must not wait.
    """
    client = Redis.from_url(
        settings.url,
        socket_timeout=settings.timeout_s,
        socket_connect_timeout=settings.timeout_s,
        retry=Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
    )
    async with client:
        redis = GuardedRedis(client=client, prefix=settings.prefix)
        try:
            yield redis
        finally:
            await redis.drain()


def _fail(outcome: "asyncio.Future[Any]", error: Exception) -> None:
    if not outcome.done():
        outcome.set_exception(error)


def _unavailable(doing: str, error: Exception) -> RedisUnavailableError:
    failure = RedisUnavailableError(f"{doing} failed: {_text(error)}; is Redis up and VARVE_REDIS__URL right?")
    failure.__cause__ = error
    return failure


def _is_out_of_memory(error: ResponseError) -> bool:
    """Reports whether Redis refused a write because of ``maxmemory``. Scripts and pipelines wrap the error's text."""
    return isinstance(error, OutOfMemoryError) or "OOM command not allowed" in str(error)


def _full(doing: str, error: Exception) -> RedisFullError:
    failure = RedisFullError(f"{doing} failed: Redis has reached maxmemory and refuses writes; raise maxmemory or free memory")
    failure.__cause__ = error
    return failure


def _text(error: Exception) -> str:
    return str(error) or type(error).__name__
