"""The recovery time of a killed sessions worker, with its local tables and without them."""

import asyncio
import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from benchmarks.processes import POLL_S
from benchmarks.stream.load import SCHEMA, TENANT, Record, fill, message_of_size
from benchmarks.stream.stage import StageWorker, isolated_settings, topic_bytes
from memory.keys import encode_key, partition_of
from runtime.kafka import ConsumerGroups, KafkaOffsets
from runtime.settings import Settings
from streams.engine.state.folders import tables_folder
from streams.stages.catalog import STAGES

_TIMEOUT_S: Final = 900.0
_MESSAGES_PER_SESSION: Final = 3
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_TABLES: Final = (("tables_kept", True), ("tables_removed", False))


async def recovery(base: Settings, folder: Path, *, keys: int) -> dict[str, object]:
    """Kills a worker with SIGKILL, starts another at once, and waits until it has processed a new message of every partition.

    Returns:
        For ``tables_kept`` and ``tables_removed``: ``seconds``; ``seconds_after_session_timeout``, for a new worker that was started only
        after Kafka had removed the dead one from its group; and ``seconds_named``, for workers with one name in the group (static
        membership), so that the new one does not wait. A worker started at once loads its code while the session time-out runs.
    """
    settings = await isolated_settings(base, folder, **{TENANT: SCHEMA})
    run = _Run(settings, keys)
    results: dict[str, dict[str, float]] = {"tables_kept": {}, "tables_removed": {}}
    try:
        await run.open_windows()
        for name, keep in _TABLES:
            results[name]["seconds"] = await run.time_recovery(keep_tables=keep)
            results[name]["seconds_after_session_timeout"] = await run.time_recovery(keep_tables=keep, after_session_timeout=True)
        await run.give_name()
        for name, keep in _TABLES:
            results[name]["seconds_named"] = await run.time_recovery(keep_tables=keep)
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

    async def open_windows(self) -> None:
        """Opens a window for every key."""
        records = (_record(f"session-{number % self._keys:06d}", number) for number in range(_MESSAGES_PER_SESSION * self._keys))
        count = await fill(self._topic, records, self._settings)
        await self.worker.start()
        await self.worker.wait_until_done(count, timeout_s=_TIMEOUT_S)

    async def give_name(self) -> None:
        """Replaces the worker with one that has a name in its group; its successors have the same name."""
        await self._wait_for_commits()
        await self.worker.close()
        await ConsumerGroups(kafka=self._settings.kafka).require_empty([self._group])
        self.worker = StageWorker("sessions", self._settings, VARVE_KAFKA__GROUP_INSTANCE_ID="recovery")
        await self.worker.start()

    async def time_recovery(self, *, keep_tables: bool, after_session_timeout: bool = False) -> float:
        """Kills the worker; returns the seconds from the next one's start until it has processed a new message of every partition."""
        await self._wait_for_commits()
        await self.worker.kill()
        self._kills += 1
        if not keep_tables:
            shutil.rmtree(tables_folder(self._settings.data, "sessions"))
        new = self._a_record_per_partition()
        await fill(self._topic, new, self._settings)
        if after_session_timeout:
            await ConsumerGroups(kafka=self._settings.kafka).require_empty([self._group])
        started = time.time()
        await self.worker.start()
        return round(await self.worker.wait_until_done(len(new), timeout_s=_TIMEOUT_S) - started, 2)

    async def _wait_for_commits(self) -> None:
        # An uncommitted record would be delivered again, and be counted as a new message.
        async with KafkaOffsets(kafka=self._settings.kafka) as offsets, asyncio.timeout(_TIMEOUT_S):
            while sum((await offsets.lag(self._group, [self._topic])).values()):  # noqa: ASYNC110 - Kafka is polled
                await asyncio.sleep(POLL_S)

    def _a_record_per_partition(self) -> list[Record]:
        partitions = self._settings.kafka.partitions
        records: dict[int, Record] = {}
        number = 0
        while len(records) < partitions:
            record = _record(f"new-{self._kills}-{number}", number)
            records.setdefault(partition_of(record[0], partitions), record)
            number += 1
        return list(records.values())


def _record(session: str, number: int) -> Record:
    return (
        encode_key(TENANT, session),
        message_of_size(user=session, session=session, id=f"{number:08d}", event_time=_START + timedelta(milliseconds=number)),
    )
