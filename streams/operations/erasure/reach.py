"""The reach of erasures: the offsets up to which they apply, in the control log."""

from collections.abc import Mapping, Sequence

from control import ControlWriter, Draft
from control.erasure_changes import extend_erasure
from memory.topics import TopicSpec
from runtime.kafka import TopicPartition
from runtime.settings import Settings
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.log import UsersLog


class ErasureReach:
    """The reach of one run's erasures.

    Args:
        settings: The settings in force.
        control: Writes the control log.
        log: Has the users' partitions.
        by: The actor, for the audit.
    """

    def __init__(self, settings: Settings, control: ControlWriter, *, log: UsersLog, by: str) -> None:
        self._settings = settings
        self._control = control
        self._log = log
        self._by = by

    async def extend_at_home(
        self, users: Sequence[ErasedUser], spec: TopicSpec, ends: Mapping[TopicPartition, int], *, settle: bool = True
    ) -> None:
        """Extends the reach in a topic that is keyed by user.

        After a growth, a user's copied records count under partitions of earlier topics, at lower offsets than all later records have. The
        user has no other records there.
        """
        is_grown = self._settings.kafka.control_prefix is not None
        homes = {each: self._log.partitions if is_grown else (each.home,) for each in users}
        reaches = {each: dict.fromkeys(homes[each], ends[self._log.home(spec, each)]) for each in users}
        await self.extend(spec, reaches, settle=settle)

    async def extend(self, spec: TopicSpec, reaches: Mapping[ErasedUser, Mapping[int, int]], *, settle: bool = True) -> None:
        """Extends the erasures' reach in a topic; returns when every process knows it, or has stopped working."""

        def extend(draft: Draft) -> None:
            for user, reach in reaches.items():
                extend_erasure(draft, user.subject, {spec.name: reach})

        await self._control.write(extend, action="erasure reach", by=self._by)
        if settle:
            await self._control.settle()


def by_partition(offsets: Mapping[TopicPartition, int]) -> dict[int, int]:
    """Offsets of one topic by the number of the partition."""
    return {each.partition: offset for each, offset in offsets.items()}
