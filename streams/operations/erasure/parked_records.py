"""Waits until no stage has a parked record that quotes an erased user.

As soon as a worker knows the erasure, it removes the user's parked windows and the parked questions about the user's own entities. A
question about an entity that others share stays, since its answer must not be lost. It may quote the user until it is answered.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from memory.errors import RecordError
from memory.records import MergeRequest, Window
from memory.texts.text import counted
from memory.topics import WINDOWS
from runtime.errors import TopicMissingError
from runtime.kafka import ConsumerGroups, KafkaOffsets, TopicPartition, read_topic
from runtime.kafka.parked_note import read_parked
from runtime.settings import Settings
from streams.engine.failures.deferred_rows import parked_record
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import changelog_topic
from streams.operations.erasure.erased_user import ErasedUser
from streams.stages.catalog import STAGES, StageSpec

PATIENCE_S: Final = 60.0
"""Workers remove parked windows within seconds."""
_POLL_S: Final = 0.5


@dataclass(slots=True)
class _Found:
    """Numbers of parked records that quote one user, by changelog."""

    windows: Counter[str] = field(default_factory=Counter)
    questions: Counter[str] = field(default_factory=Counter)


class ParkedRecords:
    """Finds the parked records that quote erased users.

    Args:
        generations: The tenant's generations: a second worker of each has its own parked windows.
        merges: The end offsets of ``merges`` after the stages had executed the erasure: later questions do not quote the users.
    """

    def __init__(
        self,
        settings: Settings,
        generations: Sequence[str],
        *,
        merges: Mapping[TopicPartition, int],
        patience_s: float = PATIENCE_S,
        notice: Callable[[str], None] = lambda line: None,
    ) -> None:
        prefix = settings.kafka.topic_prefix
        self._settings = settings
        self._merges = merges
        self._patience_s = patience_s
        self._notice = notice
        extraction, merging = STAGES["extraction"], STAGES["merging"]
        self._stages: dict[str, StageSpec] = {extraction.group(prefix): extraction, merging.group(prefix): merging}
        self._stages |= {extraction.group(prefix, each or "-"): extraction for each in ["", *generations]}

    async def wait(self, users: Sequence[ErasedUser]) -> None:
        """Waits until the running workers have removed them; gives a problem to the users whom they still quote.

        Records that a stopped second worker has parked remain until it runs again: the receipt says so.
        """
        deadline, is_noticed = time.monotonic() + self._patience_s, False
        while found := await self._find(users):
            groups = {group for each in found.values() for group in (*each.windows, *each.questions)}
            members = await ConsumerGroups(kafka=self._settings.kafka).members(sorted(groups))
            is_waiting = any(members[group] for group in groups)
            if not is_waiting or time.monotonic() > deadline:
                for user, each in found.items():
                    self._report(user, each, members)
                return
            if not is_noticed:
                self._notice("waiting for workers to remove parked records of the users")
            is_noticed = True
            await asyncio.sleep(_POLL_S)

    def _report(self, user: ErasedUser, found: _Found, members: Mapping[str, int]) -> None:
        for group, count in found.windows.items():
            if members[group]:
                user.problem = (
                    f"the workers of {group} still have {count} parked windows of user {user.subject[:12]}: see their logs, then run the "
                    "command again to continue"
                )
            else:
                user.kept_changelogs.add(changelog_topic(group))
                user.leave(
                    f"{counted(count, 'window')} that the stopped workers of {group} have parked: removed when these workers run again"
                )
        if questions := found.questions.total():
            user.problem = (
                f"there may be quotes of user {user.subject[:12]} in {counted(questions, 'question')}, parked for the tenant's budget, "
                "about entities that other users share. Raise the budget or wait, then run the command again to continue"
            )

    async def _find(self, users: Sequence[ErasedUser]) -> dict[ErasedUser, _Found]:
        found: dict[ErasedUser, _Found] = {}
        async with KafkaOffsets(kafka=self._settings.kafka) as offsets:
            for group, stage in self._stages.items():
                if not (await read_parked(offsets, group, [self._settings.topic(stage.source.name)])).count:
                    continue
                async for record in self._parked(group, stage):
                    for user in users:
                        if stage.source is WINDOWS:
                            if record.key in user.windows.keys or _is_shared_with(record, user):
                                found.setdefault(user, _Found()).windows[group] += 1
                        elif self._may_quote(record, user):
                            found.setdefault(user, _Found()).questions[group] += 1
        return found

    async def _parked(self, group: str, stage: StageSpec) -> AsyncIterator[ConsumedRecord]:
        rows: dict[tuple[int, bytes], bytes] = {}
        source = self._settings.topic(stage.source.name)
        try:
            async for row in read_topic(changelog_topic(group), self._settings.kafka):
                if row.value is None:
                    rows.pop((row.partition, row.key or b""), None)
                else:
                    rows[row.partition, row.key or b""] = row.value
        except TopicMissingError:
            return
        for (partition, key), value in rows.items():
            if (record := parked_record(TopicPartition(source, partition), key, value)) is not None:
                yield record

    def _may_quote(self, record: ConsumedRecord, user: ErasedUser) -> bool:
        if record.offset >= self._merges.get(TopicPartition(record.topic, record.partition), 0):
            return False
        try:
            request = MergeRequest.from_json(record.value or b"")
        except RecordError:
            return False  # the stage moves it to the dead letters
        is_traced = user.trace.has_entity(request.entity_type, request.entity_key, request.generation)
        return request.tenant == user.tenant and (request.user == user.user or is_traced)


def _is_shared_with(record: ConsumedRecord, user: ErasedUser) -> bool:
    """Whether a parked window is shared and has messages of the user, which its next revision lacks."""
    if b'"users":["' not in (record.value or b""):
        return False
    try:
        window = Window.from_json(record.value or b"")
    except RecordError:
        return False
    is_earlier = window.last_offset < user.erased_at.get(window.source_partition, 0)
    return is_earlier and window.tenant == user.tenant and user.user in window.users
