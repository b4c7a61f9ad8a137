"""The predecessor of a worker: the process that had its folder before, and was killed without leaving the consumer group.

Kafka would wait for the predecessor until its session expires, and only then assign its partitions. But the worker holds the lock of the
folder, so the predecessor has ended: the worker removes it from the group, and the group assigns the partitions at once.
"""

from pathlib import Path
from typing import Final

from runtime.errors import KafkaUnavailableError
from runtime.kafka.groups import ConsumerGroups
from runtime.logs import logger
from runtime.settings import KafkaSettings

_log = logger(__name__)
_FILE: Final = "member"


class MemberNote:
    """The id of a worker in its consumer group, in a file of its folder. Kafka gives each process that joins a new id.

    Args:
        folder: The worker's folder, whose lock it holds.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / _FILE
        self._noted = ""

    def write(self, member: str) -> None:
        """Notes the id after the worker has joined. Without the note, the next worker waits for the session to expire."""
        if member != self._noted:
            try:
                self._file.write_text(member)
            except OSError as error:
                _log.warning("member_not_noted", error=str(error))
            else:
                self._noted = member

    async def remove_predecessor(self, group: str, kafka: KafkaSettings) -> None:
        """Removes the noted member from the group, if the group still has it. A static member stays: its successor has its name.

        Args:
            group: The consumer group of the folder.
            kafka: The broker's settings.
        """
        member = self._read()
        if not member or kafka.group_instance_id is not None:
            return
        try:
            is_removed = await ConsumerGroups(kafka=kafka).remove(group, member)
        except KafkaUnavailableError as error:
            _log.warning("predecessor_not_removed", group=group, member=member, error=str(error))
            return
        if is_removed:
            _log.info("predecessor_removed", group=group, member=member)

    def _read(self) -> str:
        try:
            return self._file.read_text()
        except (OSError, UnicodeDecodeError):
            return ""
