"""This machine's clock is compared with Kafka's, and the error names the clock that is wrong."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from runtime.clock_check import difference, require_agreeing_clocks
from runtime.clocks import ManualClock
from runtime.errors import ClockError
from runtime.kafka import KafkaOffsets
from runtime.settings import RedisSettings, Settings
from tests.one_broker import one_broker

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
HOURS = timedelta(hours=5)
LIMITS_S = (900.0, 900.0)
SHOWN = "this machine's clock is 18000 s ahead of Kafka's: it shows 2026-11-29T17:00:00Z, and Kafka's shows 2026-11-29T12:00:00Z"


@pytest.mark.parametrize(
    ("redis", "advice"),
    [
        (None, "; compare both with a third clock, and correct the wrong one"),
        (NOON, "; Redis's shows 2026-11-29T12:00:00Z, so the clock of this machine is probably wrong: correct it (NTP)"),
        (
            NOON + HOURS,
            "; Redis's shows 2026-11-29T17:00:00Z, so the clock of Kafka's brokers and controllers is probably wrong: correct it (NTP)",
        ),
    ],
)
def test_the_clock_without_a_witness_is_blamed(redis: datetime | None, advice: str) -> None:
    assert difference(own=NOON + HOURS, kafka=NOON, redis=redis) == SHOWN + advice


def test_a_slow_clock_is_shown_as_behind() -> None:
    assert difference(own=NOON, kafka=NOON + HOURS, redis=None).startswith("this machine's clock is 18000 s behind Kafka's")


@pytest.mark.integration
@pytest.mark.parametrize(("error_s", "shown"), [(3600, "3600 s ahead of Kafka's"), (-3600, "3600 s behind Kafka's"), (60, ""), (-60, "")])
async def test_kafkas_clock_is_read_from_its_controller(kafka: str, tmp_path: Path, error_s: float, shown: str) -> None:
    settings = Settings(kafka=one_broker(bootstrap=kafka), redis=RedisSettings(url=f"unix://{tmp_path / 'none'}"))
    clock = ManualClock(datetime.now(UTC) + timedelta(seconds=error_s))
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        if not shown:
            await require_agreeing_clocks(offsets.admin, settings, LIMITS_S, clock=clock)
            return
        with pytest.raises(ClockError, match=f"this machine's clock is {shown}: .* compare both with a third clock"):
            await require_agreeing_clocks(offsets.admin, settings, LIMITS_S, clock=clock)
