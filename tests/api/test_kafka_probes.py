"""The service is not ready while it would refuse its requests, for lack of topics or for clocks that differ."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from api.kafka_probes import KafkaProbes
from runtime.clocks import ManualClock
from runtime.errors import ClockError, KafkaUnavailableError, TopicMissingError
from runtime.kafka import create_topics
from runtime.settings import RedisSettings, Settings
from tests.one_broker import one_broker

pytestmark = pytest.mark.integration

LIMITS_S = (300.0, 900.0)


async def test_the_clock_is_checked_until_it_is_right(
    make_settings: Callable[..., Settings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_settings(kafka=one_broker(partitions=1), redis=RedisSettings(url=f"unix://{tmp_path / 'none'}"))
    error = timedelta(0)
    monkeypatch.setattr("runtime.clock_check.SystemClock", lambda: ManualClock(datetime.now(UTC) + error))
    async with KafkaProbes(settings=settings, clock_limits_s=LIMITS_S) as probes:
        with pytest.raises(TopicMissingError):
            await probes.topics()
        await create_topics(settings)
        await probes.topics()
        error = timedelta(minutes=10)
        with pytest.raises(ClockError, match="clock is 600 s ahead of Kafka's"):
            await probes.clock()
        error = timedelta(minutes=-20)
        with pytest.raises(ClockError, match="clock is 1200 s behind Kafka's"):
            await probes.clock()
        error = timedelta(minutes=-10)
        await probes.clock()


async def test_unavailable_kafka_is_reported_once(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, kafka=one_broker(bootstrap="127.0.0.1:1"))
    async with KafkaProbes(settings=settings, clock_limits_s=LIMITS_S) as probes:
        await probes.clock()
        for _ in range(2):
            with pytest.raises(KafkaUnavailableError):
                await probes.topics()
