"""Administration of consumer groups: their members and committed offsets."""

import asyncio
import time
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Final

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import (
    CommitFailedError,
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    GroupIdNotFound,
    KafkaError,
    NonEmptyGroup,
    NotCoordinatorError,
    RebalanceInProgressError,
    UnknownMemberIdError,
    for_code,
)
from aiokafka.protocol.admin import DeleteGroupsRequest
from aiokafka.protocol.group import LeaveGroupRequest
from aiokafka.structs import OffsetAndMetadata

from runtime.errors import GroupInUseError, KafkaUnavailableError
from runtime.kafka.client import admin_client, client_options, connect, disconnect, kafka_faults
from runtime.settings import KafkaSettings

_POLL_S: Final = 0.25
_SETTING_UP: Final = (CoordinatorNotAvailableError, CoordinatorLoadInProgressError, NotCoordinatorError)
_LEAVE_S: Final = 4.0
"""Time that the broker may need in addition to the session time-out to remove a killed worker."""
_NEVER_POLLS_MS: Final = 7 * 24 * 3600 * 1000
"""A member that reads nothing stays in its group while it sends heartbeats."""


def stage_group(prefix: str, stage: str, *, suffix: str = "") -> str:
    """A stage's consumer group.

    Args:
        prefix: Prefix of the topics' names.
        stage: The stage's name.
        suffix: Suffix for the group of a second set of workers, which runs in addition to the live ones.
    """
    return f"{prefix}{stage}.{suffix}" if suffix else f"{prefix}{stage}"


class ConsumerGroups:
    """Sets the offsets at which stopped stages resume.

    Args:
        kafka: Kafka's settings.
        admin: A connected client. Default: each call opens one.
    """

    def __init__(self, *, kafka: KafkaSettings, admin: AIOKafkaAdminClient | None = None) -> None:
        self._kafka = kafka
        self._admin = admin

    async def members(self, groups: Collection[str]) -> dict[str, int]:
        """The number of members of each group; 0 if the group does not exist."""
        async with admin_client(self._kafka, self._admin) as admin:
            counted: dict[str, int] = {}
            for group in groups:
                async with asyncio.timeout(self._kafka.request_timeout_s):
                    counted[group] = await _member_count(admin, group)
            return counted

    async def require_empty(self, groups: Collection[str], *, wait: bool = True) -> None:
        """Returns once no group has a member.

        Args:
            groups: Names of the groups.
            wait: Whether to wait for the time in which the broker may still count a killed member.

        Raises:
            GroupInUseError: If a group has members; names the groups and what to do.
        """
        deadline = time.monotonic() + self._kafka.session_timeout_s + _LEAVE_S
        while busy := {group: count for group, count in (await self.members(groups)).items() if count}:
            if not wait or time.monotonic() > deadline:
                shown = ", ".join(f"{group} ({count})" for group, count in busy.items())
                raise GroupInUseError(f"workers are running in {shown}: stop them first, then try again")
            await asyncio.sleep(_POLL_S)

    @asynccontextmanager
    async def alone_in(self, group: str, topic: str, *, doing: str, wait_s: float = 0.0) -> AsyncIterator[None]:
        """Is the only member of a group for the length of a block, so that processes of several machines exclude each other.

        A killed member counts until its session has expired; this waits for that. Of two that begin at the same moment, both may fail.

        Args:
            group: Name of a group in which nothing is committed.
            topic: Any topic; no record of it is read.
            doing: What the members do, for the error.
            wait_s: How long to wait for the end of another process, in seconds.

        Raises:
            GroupInUseError: If the group has another member.
            KafkaUnavailableError: If no broker responds.
        """
        deadline = time.monotonic() + max(wait_s, self._kafka.session_timeout_s + _LEAVE_S)
        while (await self.members([group]))[group]:
            if time.monotonic() > deadline:
                raise GroupInUseError(f"another process {doing}: let it end, then try again")
            await asyncio.sleep(_POLL_S)
        consumer = AIOKafkaConsumer(
            topic,
            **client_options(self._kafka),
            group_id=group,
            enable_auto_commit=False,
            session_timeout_ms=int(self._kafka.session_timeout_s * 1000),
            heartbeat_interval_ms=int(self._kafka.heartbeat_s * 1000),
            max_poll_interval_ms=_NEVER_POLLS_MS,
        )
        try:
            with kafka_faults(f"joining group {group}", self._kafka):
                await connect(consumer)
            if (await self.members([group]))[group] > 1:
                raise GroupInUseError(f"another process {doing} since this moment: let it end, then try again")
            yield
        finally:
            await disconnect(consumer)

    async def commit(self, group: str, offsets: Mapping[TopicPartition, int | OffsetAndMetadata]) -> None:
        """Commits offsets of a group without members.

        Raises:
            GroupInUseError: If a worker runs in the group.
        """
        if not offsets:
            return
        consumer = AIOKafkaConsumer(**client_options(self._kafka), group_id=group, enable_auto_commit=False)
        try:
            with kafka_faults(f"setting the offsets of group {group}", self._kafka):
                await connect(consumer)
                consumer.assign(list(offsets))
                try:
                    await consumer.commit(dict(offsets))
                except (CommitFailedError, UnknownMemberIdError, RebalanceInProgressError) as error:
                    raise GroupInUseError(f"a worker runs in {group}: stop it first, then try again") from error
        finally:
            await disconnect(consumer)

    async def remove(self, group: str, member: str) -> bool:
        """Removes a member whose process has ended, so that its partitions move before its session expires.

        Args:
            group: Name of the group.
            member: The id that Kafka has given the member.

        Returns:
            Whether the group had this member.

        Raises:
            KafkaUnavailableError: If the group's coordinator does not answer.
        """
        async with admin_client(self._kafka, self._admin) as admin, asyncio.timeout(self._kafka.request_timeout_s):
            coordinator = await admin.find_coordinator(group)
            response = await admin._send_request_to_node(coordinator, LeaveGroupRequest(group, member))  # noqa: SLF001 - aiokafka has the request, and no method for it
        if response.error_code == UnknownMemberIdError.errno:
            return False
        if response.error_code:
            raise KafkaUnavailableError(f"group {group} does not remove its member {member}: {for_code(response.error_code).__name__}")
        return True

    async def delete(self, group: str) -> None:
        """Deletes a group without members, with its committed offsets. A group that does not exist is no error.

        Raises:
            GroupInUseError: If a worker runs in the group.
        """
        async with admin_client(self._kafka, self._admin) as admin, asyncio.timeout(self._kafka.request_timeout_s):
            with kafka_faults(f"deleting group {group}", self._kafka):
                while (error := await _deletion_error(admin, group)) in _SETTING_UP:  # noqa: ASYNC110 - Kafka is polled
                    await asyncio.sleep(_POLL_S)
                if error is NonEmptyGroup:
                    raise GroupInUseError(f"workers are running in {group}: stop them first, then try again")
                if error is not None and error is not GroupIdNotFound:
                    raise error(f"deleting group {group}")


async def _deletion_error(admin: AIOKafkaAdminClient, group: str) -> type[KafkaError] | None:
    """The broker's error; None if the group was deleted. aiokafka has no method for it."""
    try:
        coordinator = await admin.find_coordinator(group)
    except _SETTING_UP as error:
        return type(error)
    response = await admin._send_request_to_node(coordinator, DeleteGroupsRequest([group]))  # noqa: SLF001 - it has no public method
    ((_, code),) = response.results
    return for_code(code) if code else None


async def _member_count(admin: AIOKafkaAdminClient, group: str) -> int:
    while True:
        try:
            (response,) = await admin.describe_consumer_groups([group])
            ((code, _, _, _, _, members, *_),) = response.groups
            if code and for_code(code) is not GroupIdNotFound:
                raise for_code(code)(f"describing group {group}")
        except _SETTING_UP:
            await asyncio.sleep(_POLL_S)
        else:
            return len(members)
