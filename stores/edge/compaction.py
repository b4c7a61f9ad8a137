"""When an owner writes its shard anew, and how slowly: recalls notice nothing of it."""

import asyncio
import time
from contextlib import closing
from typing import Final

from runtime.logs import logger
from stores.edge.shard import Shard

INTERVAL_S: Final = 24 * 3600.0
"""Between two times. So long, and what writing the shard anew takes, a text that was deleted may stay in its files."""
_LOOKS_EVERY_S: Final = 60.0
_TRIES_AGAIN_S: Final = 3600.0
RESTS: Final = 19.0
"""For each moment of work it rests so many: it takes a twentieth of the owner's time, and 20,000 memories some five minutes."""

_log = logger(__name__)


class Rewriting:
    """Writes a shard anew where its files hold what nothing finds any more.

    Args:
        shard: The shard.
        interval_s: Least time between two times.
        rests: For each moment of work it rests so many.
    """

    def __init__(self, shard: Shard, *, interval_s: float = INTERVAL_S, rests: float = RESTS) -> None:
        self._shard = shard
        self._interval_s = interval_s
        self._rests = rests

    async def run(self) -> None:
        """Does so until it is cancelled."""
        while True:
            await asyncio.sleep(min(self._interval_s, _LOOKS_EVERY_S))
            waste = self._shard.waste
            if not waste.is_there or (waste.age_s is not None and waste.age_s < self._interval_s):
                continue
            try:
                await self._rewrite()
            except Exception as error:
                # The engine raises bare Exceptions. The shard is as it was.
                _log.error("shard_not_rewritten", error=str(error), retry_in_s=_TRIES_AGAIN_S)
                await asyncio.sleep(_TRIES_AGAIN_S)

    async def _rewrite(self) -> None:
        began, bytes_before, worked_s = time.perf_counter(), self._shard.on_disk_bytes, 0.0
        with closing(self._shard.compaction()) as steps:
            step_began = time.perf_counter()
            for _ in steps:
                step_s = time.perf_counter() - step_began
                worked_s += step_s
                await asyncio.sleep(self._rests * step_s)
                step_began = time.perf_counter()
        _log.info(
            "shard_rewritten",
            points=self._shard.points,
            bytes_before=bytes_before,
            bytes_now=self._shard.on_disk_bytes,
            worked_s=round(worked_s, 1),
            took_s=round(time.perf_counter() - began, 1),
        )
