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
    rounds: asyncio.Queue[int] = asyncio.Queue()

    async def failing(number: int) -> None:
        rounds.put_nowait(number)
        raise ConnectionError("nobody listens")

    async def failed(number: int) -> None:
        async with asyncio.timeout(60):
            while await rounds.get() < number:
                pass

    follower._follow = failing  # type: ignore[method-assign]
    follower.start()
    try:
        await failed(4)
        reports = [entry for entry in logs if entry["event"] == "control_log_unreachable"]
        assert len(reports) == 1
        assert reports[0]["age_s"] is None
        now = 31.0
        await failed(7)
        assert len([entry for entry in logs if entry["event"] == "control_log_unreachable"]) == 2
    finally:
        await follower.stop()
