"""How long a killed sessions worker takes to serve again, with its local tables and without them."""

import asyncio
import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from benchmarks.stream.load import SCHEMA, TENANT, Record, fill, message_of_size
from benchmarks.stream.meter import pause
from benchmarks.stream.stage import StageWorker, fresh, topic_bytes
from memory.keys import encode_key, partition_of
from runtime.kafka import ConsumerGroups, KafkaOffsets
from runtime.settings import Settings
from streams.delivery.folders import tables_folder
from streams.stages import STAGES

_TIMEOUT_S: Final = 900.0
_MESSAGES_EACH: Final = 3
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)


async def recovery(base: Settings, folder: Path, *, keys: int) -> dict[str, object]:
    """Kills a worker with SIGKILL, starts another at once, and waits until it has handled a new message of every partition.

    Args:
        base: Where Kafka and Redis are.
        folder: The broker's data lies under it; for tables, too.
        keys: Sessions with an open window.

    Returns:
        For ``tables_kept`` and ``tables_removed``: ``seconds``, and ``seconds_after_session_timeout``, where the new worker was only
        started once Kafka had given the dead one up. A worker started at once waits for that while it loads its own code, so the
        time-out adds at most what the first has more, and nothing where starting takes longer.
    """
    settings = await fresh(base, folder, **{TENANT: SCHEMA})
    run = _Run(settings, keys)
    results: dict[str, object] = {}
    try:
        await run.open_all()
        for name, keep in (("tables_kept", True), ("tables_removed", False)):
            results[name] = {
                "seconds": round(await run.killed_and_back(keep_tables=keep, at_once=True), 2),
                "seconds_after_session_timeout": round(await run.killed_and_back(keep_tables=keep, at_once=False), 2),
            }
    finally:
        await run.worker.close()
    return {
        **results,
        "open_keys": keys,
        "changelog_mb": round(topic_bytes(folder, STAGES["sessions"].changelog(settings.kafka.topic_prefix)) / 1e6, 1),
        "session_timeout_s": settings.kafka.session_timeout_s,
    }


class _Run:
    def __init__(self, settings: Settings, keys: int) -> None:
        self.worker = StageWorker("sessions", settings)
        self._settings = settings
        self._topic = settings.topic("messages")
        self._group = STAGES["sessions"].group(settings.kafka.topic_prefix)
        self._keys = keys
        self._kills = 0

    async def open_all(self) -> None:
        """Opens a window for every key."""
        records = (_record(f"session-{number % self._keys:06d}", number) for number in range(_MESSAGES_EACH * self._keys))
        count = await fill(self._topic, records, self._settings)
        await self.worker.start()
        await self.worker.until_done(count, timeout_s=_TIMEOUT_S)

    async def killed_and_back(self, *, keep_tables: bool, at_once: bool) -> float:
        """Seconds from the start of the new worker until it has handled a new message of every partition."""
        await self._all_committed()
        await self.worker.kill()
        self._kills += 1
        if not keep_tables:
            shutil.rmtree(tables_folder(self._settings.data, "sessions"))
        new = self._one_for_each_partition()
        await fill(self._topic, new, self._settings)
        if not at_once:
            await ConsumerGroups(kafka=self._settings.kafka).require_empty([self._group])
        started = time.time()
        await self.worker.start()
        return await self.worker.until_done(len(new), timeout_s=_TIMEOUT_S) - started

    async def _all_committed(self) -> None:
        # What was done but not committed would be delivered again, and be taken for the new messages.
        async with KafkaOffsets(kafka=self._settings.kafka) as offsets, asyncio.timeout(_TIMEOUT_S):
            while sum((await offsets.lag(self._group, [self._topic])).values()):
                await pause()

    def _one_for_each_partition(self) -> list[Record]:
        partitions = self._settings.kafka.partitions
        found: dict[int, Record] = {}
        number = 0
        while len(found) < partitions:
            record = _record(f"new-{self._kills}-{number}", number)
            found.setdefault(partition_of(record[0], partitions), record)
            number += 1
        return list(found.values())


def _record(session: str, number: int) -> Record:
    return (
        encode_key(TENANT, session),
        message_of_size(user=session, session=session, id=f"{number:08d}", event_time=_START + timedelta(milliseconds=number)),
    )
