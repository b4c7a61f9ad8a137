"""Checks every place that `varve erasures check` reads, before a receipt is written: no older record may be left there."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from memory.ids import entity_id
from memory.keys import parts_of_key
from memory.texts.text import counted
from memory.topics import AUDIT, CONTROL, EXTRACTIONS, MESSAGES, WINDOWS
from runtime.errors import TopicMissingError
from runtime.kafka import KafkaOffsets, TopicPartition
from runtime.settings import Settings
from stores.port import MemoryStore, TenantScope, all_memories, all_steps
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.naming import Naming
from streams.operations.erasure.remnants import STORE, NamingRecord, Place, places_of, read_places

_NOT_CLEARED: Final = frozenset({CONTROL.name, AUDIT.name})
"""Topics from which an erasure removes nothing."""
_WHY_KEPT: Final = {"sessions": ": rows of an older version, until their sessions get new messages"}
"""Text in a receipt about rows that stages keep for a while, by stage."""


class Verification:
    """Finds what an erasure has left.

    A user may send messages again after the erasure; these newer records are kept. A record is old if it precedes the end that its place
    had when the run began, or if it belongs to a window or memory of the user's trace.
    """

    def __init__(self, settings: Settings, tenant: str, generations: Iterable[str]) -> None:
        self._settings = settings
        self._tenant = tenant
        self._places = [each for each in places_of(settings, ["", *generations]) if each.is_kept]
        self.began: Mapping[TopicPartition, int] = {}
        """The ends of the places when the run began."""

    async def begin(self) -> None:
        """Reads the ends of the places. This is the first step of a run."""
        began: dict[TopicPartition, int] = {}
        async with KafkaOffsets(kafka=self._settings.kafka) as offsets:
            for place in self._places:
                try:
                    began |= await offsets.end_offsets([place.topic])
                except TopicMissingError:
                    continue  # its stage has never run
        self.began = began

    async def check(self, users: Sequence[ErasedUser], store: MemoryStore) -> None:
        """Gives a problem to each user with old records that another run can remove; the receipt lists those that no run removes.

        Args:
            users: The users. All other steps of their erasures are done.
            store: The vector store, with the memories and with the history of the entities that the users' messages changed.
        """
        found = await read_places(self._settings, Naming(self._tenant, *(each.user for each in users)), self._places)
        by_user: defaultdict[str, list[NamingRecord]] = defaultdict(list)
        for record in found.standing:
            by_user[record.user].append(record)
        for user in users:
            await self._check(user, by_user[user.user], store)

    async def _check(self, user: ErasedUser, records: Sequence[NamingRecord], store: MemoryStore) -> None:
        left: Counter[str] = Counter()
        kept: Counter[tuple[str, str]] = Counter()
        newer: set[bytes] = set()
        for record in records:
            if not self._is_old(user, record):
                newer.add(record.key)
            elif record.place.topic in user.kept_changelogs:
                continue  # the receipt says so already
            elif self._is_kept_for_a_reason(user, record.place):
                kept[record.place.topic, record.place.stage] += 1
            else:
                left[record.place.topic] += 1
        if stored := await self._stored(user, newer, store) + await self._history_entries(user, newer, store):
            left[STORE] = stored
        for (topic, stage), count in kept.items():
            user.leave(f"{counted(count, 'record')} in {topic} that name the user{_WHY_KEPT.get(stage, '')}")
        if left:
            places = ", ".join(f"{counted(count, 'record')} in {place}" for place, count in sorted(left.items()))
            user.problem = (
                f"the erasure of user {user.subject[:12]} has left {places}, so there is no receipt: run the command again to continue; "
                "`varve erasures check` shows what is left"
            )

    def _is_old(self, user: ErasedUser, record: NamingRecord) -> bool:
        if record.offset < self.began.get(TopicPartition(record.place.topic, record.partition), 0):
            return True
        if record.place.spec in (WINDOWS, EXTRACTIONS):
            return record.key in (user.windows if record.place.spec is WINDOWS else user.extractions).keys
        return any(user.trace.has_window(part) or part in user.trace.event_ids for part in parts_of_key(record.key))

    def _is_kept_for_a_reason(self, user: ErasedUser, place: Place) -> bool:
        """Whether no run removes the records of a place, so that the receipt lists them."""
        if place.spec is None:
            return place.stage in _WHY_KEPT
        return place.spec.name in _NOT_CLEARED or (place.spec in (MESSAGES, WINDOWS, EXTRACTIONS) and place.spec.name in user.kept_topics)

    async def _stored(self, user: ErasedUser, newer: set[bytes], store: MemoryStore) -> int:
        """Number of the user's old memories in the store."""
        scope = TenantScope(self._tenant, user.user)
        if not await store.count(scope):
            return 0
        known = {part for key in newer for part in parts_of_key(key)}
        count = 0
        async for memory in all_memories(store, scope):
            count += memory.id not in known
        return count

    async def _history_entries(self, user: ErasedUser, newer: set[bytes], store: MemoryStore) -> int:
        """Number of the user's old history entries in the store. No query of memories finds them."""
        known = {part for key in newer for part in parts_of_key(key)}
        count, scope = 0, TenantScope(self._tenant)
        for entity in user.trace.entities:
            name = entity_id(self._tenant, entity.entity_type, entity.entity_key, entity.generation)
            async for step in all_steps(store, scope, name):
                count += step.contribution.user == user.user and step.id not in known
        return count
