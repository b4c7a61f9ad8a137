"""The log of a follower that cannot reach Kafka stays short."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from control.follower import ControlFollower
from runtime.settings import KafkaSettings, Settings


@pytest.fixture
def logs() -> Iterator[list[Any]]:
    with capture_logs() as captured:
        yield captured


def _unreachable() -> Settings:
    return Settings(kafka=KafkaSettings(bootstrap="127.0.0.1:1", request_timeout_s=1))


async def test_an_unreachable_log_is_reported_once(logs: list[Any]) -> None:
    now = 0.0
    follower = ControlFollower(settings=_unreachable(), clock=lambda: now)
    rounds = 0

    async def failing(number: int) -> None:
        nonlocal rounds
        rounds = number
        raise ConnectionError("nobody listens")

    follower._follow = failing  # type: ignore[method-assign]
    follower.start()
    try:
        async with asyncio.timeout(30):
            while rounds < 4:
                await asyncio.sleep(0.01)
        reports = [entry for entry in logs if entry["event"] == "control_log_unreachable"]
        assert len(reports) == 1
        assert reports[0]["age_s"] is None
        now, seen = 31.0, rounds
        async with asyncio.timeout(30):
            while rounds < seen + 3:
                await asyncio.sleep(0.01)
        assert len([entry for entry in logs if entry["event"] == "control_log_unreachable"]) == 2
    finally:
        await follower.stop()
