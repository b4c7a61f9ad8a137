"""Removal of the users' records from the log, and what files keep of them for an unknown time."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from memory.texts.text import counted
from memory.topics import EXTRACTIONS, MESSAGES, READS, WINDOWS
from runtime.kafka import OutgoingRecord, TopicPartition
from runtime.kafka.topics import are_compacted, delete_before
from runtime.redis.client import GuardedRedis
from runtime.redis.server import rewrite_files
from runtime.settings import Settings
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.log import UsersLog
from streams.operations.erasure.records_of_others import RecordsOfOthers

_KEPT_BY_QDRANT: Final = "the files of the Qdrant server keep deleted points until its optimizer rewrites their segments"
"""The embedded store rewrites its files daily, long before the time in the receipt."""


class RecordRemoval:
    """Removes the records of a run's users. Kafka's compaction removes their bytes later.

    Args:
        settings: The settings in force.
        users: The users.
        log: Reads and writes their records.
        notice: Called with each line of progress.
    """

    def __init__(self, settings: Settings, users: Sequence[ErasedUser], *, log: UsersLog, notice: Callable[[str], None]) -> None:
        self._settings = settings
        self._users = users
        self._log = log
        self._notice = notice

    async def remove(self, cut: Mapping[TopicPartition, int], *, of_others: RecordsOfOthers) -> None:
        """Writes the tombstones, and truncates ``messages``.

        Args:
            cut: The end of the records of ``messages`` that are in windows, by partition.
            of_others: Other users' records that quote the users.
        """
        topic = self._settings.topic(EXTRACTIONS.name)
        await self._log.send(OutgoingRecord(topic, key, None) for key in of_others.keys)
        await self._remove_reads()
        compacted = await are_compacted([self._settings.topic(each.name) for each in (WINDOWS, EXTRACTIONS)], self._settings.kafka)
        for user in self._users:
            for spec, written in ((WINDOWS, user.windows), (EXTRACTIONS, user.extractions)):
                topic = self._settings.topic(spec.name)
                await self._log.send(OutgoingRecord(topic, key, None, partition=user.home) for key in written.keys)
                if written.unmarked or not compacted:
                    user.kept_topics.add(spec.name)
                    user.leave(f"{counted(written.count, 'record')} in {topic}, which an older version wrote: see ADR 50")
        if compacted and not any(each.windows.unmarked for each in self._users):
            await delete_before(cut, self._settings.kafka)
            self._notice("messages: the log is truncated up to the messages that are in windows")
            return
        for user in self._users:
            user.kept_topics.add(MESSAGES.name)
            user.leave(f"the user's messages in {self._settings.topic(MESSAGES.name)}: no other topic has all messages of the other users")

    async def _remove_reads(self) -> None:
        """Removes the recorded reads of the users' memories."""
        async for user, record in self._log.records(READS):
            if record.value is not None:
                user.reads.add(record.key or b"")
        topic = self._settings.topic(READS.name)
        for user in self._users:
            await self._log.send(OutgoingRecord(topic, key, None, partition=user.home) for key in user.reads.keys)


async def note_files(settings: Settings, users: Sequence[ErasedUser], redis: GuardedRedis) -> None:
    """Has Redis rewrite its files, and adds to the receipts the data that files keep for an unknown time."""
    kept_in_files = [*await rewrite_files(redis)]
    if settings.store.kind == "server":
        kept_in_files.append(_KEPT_BY_QDRANT)
    for kept in kept_in_files:
        for user in users:
            user.leave(kept)
