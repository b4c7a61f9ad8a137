"""The memory of a sessions worker over very many messages, whose sessions come and go: it has to level off."""

import statistics
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from benchmarks.stream.load import SCHEMA, TENANT, Record, fill, message_of_size
from benchmarks.stream.stage import fresh, stage_worker
from memory.keys import encode_key
from runtime.settings import Settings

_TIMEOUT_S: Final = 600.0
_SAMPLES: Final = 40
_MESSAGES_A_SESSION: Final = 80
"""Two windows at the cap: a session leaves none open behind it."""
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)


async def memory(base: Settings, folder: Path, *, count: int, at_once: int) -> dict[str, object]:
    """Feeds a worker and looks at its resident memory forty times.

    Args:
        base: Where Kafka and Redis are.
        folder: For tables; the broker's logs grow by some kilobytes a message.
        count: Messages in all.
        at_once: Sessions that are open at a time; each ends after 80 messages, and another user's begins.

    Returns:
        ``resident_mb`` at each look, and ``slope_mb_per_million`` over the second half of them (least squares).
    """
    settings = await fresh(base, folder, **{TENANT: SCHEMA})
    step = count // _SAMPLES
    looks: list[tuple[int, float]] = []
    async with stage_worker("sessions", settings) as worker:
        for start in range(0, step * _SAMPLES, step):
            await fill(settings.topic("messages"), _coming_and_going(start, start + step, at_once), settings)
            await worker.until_done(start + step, timeout_s=_TIMEOUT_S)
            looks.append((start + step, worker.consumed().resident_mb))
    second_half = looks[_SAMPLES // 2 :]
    slope, _ = statistics.linear_regression([done / 1e6 for done, _ in second_half], [resident for _, resident in second_half])
    return {
        "resident_mb": [round(resident, 1) for _, resident in looks],
        "slope_mb_per_million": round(slope, 1),
        "messages": step * _SAMPLES,
        "sessions_at_once": at_once,
        "sessions": step * _SAMPLES // _MESSAGES_A_SESSION,
    }


def _coming_and_going(start: int, stop: int, at_once: int) -> Iterator[Record]:
    for number in range(start, stop):
        turn, place = divmod(number, at_once)
        session = f"session-{place:04d}-{turn // _MESSAGES_A_SESSION}"
        yield (
            encode_key(TENANT, session),
            message_of_size(user=f"user-{session}", session=session, id=f"{number:08d}", event_time=_START + timedelta(seconds=turn)),
        )
