"""The memory of a sessions worker over very many messages, with a constant number of open sessions: it must level off."""

import statistics
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from benchmarks.stream.load import SCHEMA, TENANT, Record, fill, message_of_size
from benchmarks.stream.stage import isolated_settings, stage_worker
from memory.keys import encode_key
from runtime.settings import Settings

_TIMEOUT_S: Final = 600.0
_SAMPLES: Final = 40
_MESSAGES_PER_SESSION: Final = 80
"""Two windows at the cap: a session ends with no open window."""
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)


async def memory(base: Settings, folder: Path, *, count: int, open_sessions: int) -> dict[str, object]:
    """Feeds a worker and samples its resident memory forty times.

    Args:
        base: The settings with the addresses of Kafka and Redis.
        folder: The folder for the broker's data (some kilobytes per message) and the stage's tables.
        count: Total number of messages.
        open_sessions: Number of open sessions; each ends after 80 messages, and a session of another user begins.

    Returns:
        ``resident_mb`` of each sample, and ``slope_mb_per_million`` over the second half of them (least squares).
    """
    settings = await isolated_settings(base, folder, **{TENANT: SCHEMA})
    step = count // _SAMPLES
    samples: list[tuple[int, float]] = []
    async with stage_worker("sessions", settings) as worker:
        for start in range(0, step * _SAMPLES, step):
            await fill(settings.topic("messages"), _messages(start, start + step, open_sessions), settings)
            await worker.wait_until_done(start + step, timeout_s=_TIMEOUT_S)
            samples.append((start + step, worker.resource_usage().resident_mb))
    second_half = samples[_SAMPLES // 2 :]
    slope, _ = statistics.linear_regression([done / 1e6 for done, _ in second_half], [resident for _, resident in second_half])
    return {
        "resident_mb": [round(resident, 1) for _, resident in samples],
        "slope_mb_per_million": round(slope, 1),
        "messages": step * _SAMPLES,
        "sessions_at_once": open_sessions,
        "sessions": step * _SAMPLES // _MESSAGES_PER_SESSION,
    }


def _messages(start: int, stop: int, open_sessions: int) -> Iterator[Record]:
    for number in range(start, stop):
        turn, index = divmod(number, open_sessions)
        session = f"session-{index:04d}-{turn // _MESSAGES_PER_SESSION}"
        yield (
            encode_key(TENANT, session),
            message_of_size(user=f"user-{session}", session=session, id=f"{number:08d}", event_time=_START + timedelta(seconds=turn)),
        )
