"""Workers of this machine that were killed without leaving their consumer group.

Kafka would wait for a killed worker until its session expires, and only then assign its partitions. But the operating system frees the lock
of a process that has ended, so other workers of this machine know sooner: the next one in its folder, and those in the folders next to it.
They remove it from the group, and the group assigns the partitions at once.
"""

import asyncio
import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

from aiokafka.admin import AIOKafkaAdminClient

from runtime.errors import KafkaUnavailableError
from runtime.kafka.groups import ConsumerGroups
from runtime.logs import logger
from runtime.settings import KafkaSettings
from streams.engine.state.folders import folders_next_to, try_lock

_log = logger(__name__)
_FILE: Final = "membership"
_INTERVAL_S: Final = 0.25
"""Longest delay before a killed worker is seen. A look opens two files per folder."""


class MemberNote:
    """The id of a worker in its consumer group, in a file of its folder. Kafka gives each process that joins a new id.

    The file has its own lock: if others tried the lock of the folder, a worker that starts at that moment would take another folder.

    Args:
        folder: The worker's folder, whose lock it holds.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / _FILE
        self._noted = ""

    @contextmanager
    def held(self) -> Iterator[Self]:
        """Locks the note for the length of a block: others see that the worker lives."""
        with self._file.open("a") as lock:
            # Waits for those who look whether it is free, which takes microseconds.
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield self

    def write(self, member: str) -> None:
        """Notes the id after the worker has joined. Without the note, others wait for the session to expire."""
        if member != self._noted:
            try:
                self._file.write_text(member)
            except OSError as error:
                _log.warning("member_not_recorded", error=str(error))
            else:
                self._noted = member

    async def remove_predecessor(self, group: str, kafka: KafkaSettings, *, admin: AIOKafkaAdminClient | None = None) -> None:
        """Removes the noted member from the group, if the group still has it. A static member stays: its successor has its name.

        Args:
            group: The consumer group of the folder.
            kafka: The broker's settings.
            admin: A connected client. Default: a new one.
        """
        await _remove(_read(self._file), group, kafka, who="predecessor", admin=admin)


class KilledPeers:
    """Removes the killed workers whose folders are next to a worker's own.

    Args:
        folder: The worker's folder.
        group: Its consumer group.
        kafka: The broker's settings.
    """

    def __init__(self, folder: Path, group: str, kafka: KafkaSettings) -> None:
        self._folder = folder
        self._group = group
        self._kafka = kafka
        self._removed: dict[Path, str] = {}

    async def run(self) -> None:
        """Looks for killed peers until it is cancelled."""
        while True:
            await self.remove()
            await asyncio.sleep(_INTERVAL_S)

    async def remove(self) -> None:
        """Removes each killed peer once. If that fails, its session expires."""
        try:
            peers = folders_next_to(self._folder, self._group)
        except OSError:
            return
        if not peers:  # As in the embedded stack: no thread is needed.
            return
        for folder, member in (await asyncio.to_thread(_members_left, peers)).items():
            if self._removed.get(folder) != member:
                self._removed[folder] = member
                await _remove(member, self._group, self._kafka, who="peer")


def _members_left(folders: list[Path]) -> dict[Path, str]:
    """The ids of killed workers, by folder. What cannot be read is left to the session's expiry."""
    return {folder: member for folder in folders if (member := _left_by_killed(folder / _FILE))}


async def _remove(member: str, group: str, kafka: KafkaSettings, *, who: str, admin: AIOKafkaAdminClient | None = None) -> None:
    if not member or kafka.group_instance_id is not None:
        return
    try:
        is_removed = await ConsumerGroups(kafka=kafka, admin=admin).remove(group, member)
    except KafkaUnavailableError as error:
        _log.warning("killed_worker_not_removed", who=who, group=group, member=member, error=str(error))
        return
    if is_removed:
        _log.info("killed_worker_removed", who=who, group=group, member=member)


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def _left_by_killed(file: Path) -> str:
    """The noted id of a process that has ended; empty if it lives, or has noted nothing."""
    try:
        with file.open() as note:
            # Shared: several workers may look at once.
            return note.read() if try_lock(note, shared=True) else ""
    except (OSError, UnicodeDecodeError):
        return ""
