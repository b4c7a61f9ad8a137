"""Compares this machine's clock with Kafka's, and with Redis's to find out which of the two is wrong."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from aiokafka.admin import AIOKafkaAdminClient

from runtime.clocks import Clock, SystemClock
from runtime.errors import ClockError, KafkaUnavailableError, RedisUnavailableError
from runtime.kafka.clock import kafka_time
from runtime.redis.client import open_redis
from runtime.settings import Settings

_INTERVAL_S: Final = 30.0
_WITNESS_S: Final = 5.0


async def require_agreeing_clocks(
    admin: AIOKafkaAdminClient, settings: Settings, limits_s: tuple[float, float], *, clock: Clock | None = None
) -> None:
    """Returns if this machine's clock agrees with Kafka's, or if Kafka's is not known.

    Args:
        admin: A connected client.
        settings: The settings, with Kafka's and Redis's.
        limits_s: How many seconds this machine's clock may be fast, and how many slow.
        clock: This machine's clock.

    Raises:
        ClockError: If the clocks differ by more; shows both, and says which one to correct if Redis's clock shows it.
        KafkaUnavailableError: If no broker answers.
    """
    own = clock or SystemClock()
    before = own.now()
    kafka = await kafka_time(admin, settings.kafka)
    after = own.now()
    if kafka is None:
        return
    # The answer may have taken long: the clocks agree if Kafka's time is between question and answer.
    ahead, behind = (before - kafka).total_seconds(), (kafka - after).total_seconds()
    if ahead > limits_s[0] or behind > limits_s[1]:
        raise ClockError(difference(own=after, kafka=kafka, redis=await _redis_time(settings)))


def difference(*, own: datetime, kafka: datetime, redis: datetime | None) -> str:
    """The error for two clocks that differ.

    Args:
        own: The time of this machine.
        kafka: The time of Kafka's active controller.
        redis: The time of Redis; None: unknown.
    """
    ahead_s = (own - kafka).total_seconds()
    where = f"{abs(ahead_s):.0f} s {'ahead of' if ahead_s > 0 else 'behind'}"
    shown = f"this machine's clock is {where} Kafka's: it shows {_shown(own)}, and Kafka's shows {_shown(kafka)}"
    if redis is None:
        return f"{shown}; compare both with a third clock, and correct the wrong one"
    to_own, to_kafka = abs((redis - own).total_seconds()), abs((redis - kafka).total_seconds())
    wrong = "Kafka's brokers and controllers" if to_own < to_kafka else "this machine"
    return f"{shown}; Redis's shows {_shown(redis)}, so the clock of {wrong} is probably wrong: correct it (NTP)"


async def watch_clocks(
    admin: Callable[[], AIOKafkaAdminClient], settings: Settings, limits_s: tuple[float, float], report: Callable[[ClockError], None]
) -> None:
    """Compares the clocks until it is cancelled, and reports each difference. While Kafka is unavailable, nothing is compared.

    Args:
        admin: Returns a connected client.
        settings: See :func:`require_agreeing_clocks`.
        limits_s: See there.
        report: Called with the error.
    """
    while True:
        await asyncio.sleep(_INTERVAL_S)
        try:
            await require_agreeing_clocks(admin(), settings, limits_s)
        except ClockError as error:
            report(error)
        except KafkaUnavailableError:
            continue


async def _redis_time(settings: Settings) -> datetime | None:
    try:
        async with asyncio.timeout(_WITNESS_S), open_redis(settings.redis) as redis:
            seconds, _ = await redis.run("reading its time", lambda client: client.time())
            return datetime.fromtimestamp(seconds, UTC)
    except (RedisUnavailableError, TimeoutError):
        return None


def _shown(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
