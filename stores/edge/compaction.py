"""Compacts the owner's shard in the background, so slowly that recalls are not delayed."""

import asyncio
import time
from contextlib import closing
from typing import Final

from runtime.logs import logger
from stores.edge.shard import Shard

INTERVAL_S: Final = 24 * 3600.0
"""Time between two compactions. A deleted text may stay in the files for this time plus the duration of a compaction."""
_CHECK_INTERVAL_S: Final = 60.0
_RETRY_AFTER_S: Final = 3600.0
REST_RATIO: Final = 19.0
"""Ratio of pauses to work: a compaction takes a twentieth of the owner's time, and about five minutes for 20,000 memories."""

_log = logger(__name__)


class Compactor:
    """Compacts a shard when its files contain deleted or replaced points.

    Args:
        shard: The shard.
        interval_s: Minimum time between two compactions.
        rest_ratio: Ratio of pauses to work.
    """

    def __init__(self, shard: Shard, *, interval_s: float = INTERVAL_S, rest_ratio: float = REST_RATIO) -> None:
        self._shard = shard
        self._interval_s = interval_s
        self._rest_ratio = rest_ratio

    async def run(self) -> None:
        """Runs until it is cancelled."""
        while True:
            await asyncio.sleep(min(self._interval_s, _CHECK_INTERVAL_S))
            waste = self._shard.waste
            if not waste.is_there or (waste.age_s is not None and waste.age_s < self._interval_s):
                continue
            try:
                await self._compact()
            except Exception as error:
                # The engine raises bare Exceptions. The shard is unchanged.
                _log.error("shard_not_rewritten", error=str(error), retry_in_s=_RETRY_AFTER_S)
                await asyncio.sleep(_RETRY_AFTER_S)

    async def _compact(self) -> None:
        started_at, bytes_before, worked_s = time.perf_counter(), self._shard.on_disk_bytes, 0.0
        with closing(self._shard.compaction()) as steps:
            step_started_at = time.perf_counter()
            for _ in steps:
                step_s = time.perf_counter() - step_started_at
                worked_s += step_s
                await asyncio.sleep(self._rest_ratio * step_s)
                step_started_at = time.perf_counter()
        _log.info(
            "shard_rewritten",
            points=self._shard.points,
            bytes_before=bytes_before,
            bytes_now=self._shard.on_disk_bytes,
            worked_s=round(worked_s, 1),
            took_s=round(time.perf_counter() - started_at, 1),
        )
