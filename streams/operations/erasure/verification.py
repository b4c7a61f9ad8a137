"""Looks, before a receipt is written, into every place that `varve erasures check` knows: nothing older may be left there."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from memory.errors import KeyFormatError
from memory.ids import entity_id
from memory.keys import decode_key, unmarked_key
from memory.topics import AUDIT, CONTROL, EXTRACTIONS, MESSAGES, WINDOWS
from runtime.errors import TopicMissingError
from runtime.kafka import KafkaOffsets, TopicPartition
from runtime.settings import Settings
from stores.port import MemoryStore, TenantScope
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.remnants import STORE, Naming, NamingRecord, Place, places_of, read_places

_NOT_CLEARED: Final = frozenset({CONTROL.name, AUDIT.name})
"""Topics from which an erasure removes nothing."""
_WHY_KEPT: Final = {"sessions": ": rows of an older version, until their sessions go on"}
"""Text in a receipt about rows that stages keep for a while, by stage."""
_PAGE: Final = 500


class Verification:
    """Finds what an erasure has left.

    A user who returns begins a new life, whose records name the user as well. Records before the ends that the places had when the run
    began count as old, and so do later records of the windows and memories in the user's trace.
    """

    def __init__(self, settings: Settings, tenant: str, generations: Iterable[str]) -> None:
        self._settings = settings
        self._tenant = tenant
        self._places = [each for each in places_of(settings, ["", *generations]) if each.is_kept]
        self.began: Mapping[TopicPartition, int] = {}
        """The ends of the places when the run began."""

    async def begin(self) -> None:
        """Takes note of the ends of the places; comes before everything else."""
        began: dict[TopicPartition, int] = {}
        async with KafkaOffsets(kafka=self._settings.kafka) as offsets:
            for place in self._places:
                try:
                    began |= await offsets.end_offsets([place.topic])
                except TopicMissingError:
                    continue  # its stage has never run
        self.began = began

    async def check(self, users: Sequence[ErasedUser], store: MemoryStore) -> None:
        """Gives a problem to each user of whom something is left that another run may remove; what no run removes goes into the receipt.

        Args:
            users: The users; all else that belongs to their erasures is done.
            store: The vector store, with the memories and with the history of the entities that the users' words reached.
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
            if not self._is_of_before(user, record):
                newer.add(record.key)
            elif record.place.topic in user.kept_changelogs:
                continue  # the receipt says so already
            elif self._is_kept_for_a_reason(user, record.place):
                kept[record.place.topic, record.place.stage] += 1
            else:
                left[record.place.topic] += 1
        if stored := await self._stored(user, newer, store) + await self._steps(user, newer, store):
            left[STORE] = stored
        for (topic, stage), count in kept.items():
            user.leave(f"{count} records in {topic} that name the user{_WHY_KEPT.get(stage, '')}")
        if left:
            places = ", ".join(f"{count} records in {place}" for place, count in sorted(left.items()))
            user.problem = (
                f"the erasure of user {user.subject[:12]} has left {places}, so there is no receipt: run the command again, which goes on; "
                "`varve erasures check` shows what is left"
            )

    def _is_of_before(self, user: ErasedUser, record: NamingRecord) -> bool:
        if record.offset < self.began.get(TopicPartition(record.place.topic, record.partition), 0):
            return True
        if record.place.spec in (WINDOWS, EXTRACTIONS):
            return record.key in (user.windows if record.place.spec is WINDOWS else user.extractions).keys
        return any(user.trace.has_window(part) or part in user.trace.event_ids for part in _parts_of(record.key))

    def _is_kept_for_a_reason(self, user: ErasedUser, place: Place) -> bool:
        """Whether no run removes what a place has: the receipt says that it is left."""
        if place.spec is None:
            return place.stage in _WHY_KEPT
        return place.spec.name in _NOT_CLEARED or (place.spec in (MESSAGES, WINDOWS, EXTRACTIONS) and place.spec.name in user.kept_topics)

    async def _stored(self, user: ErasedUser, newer: set[bytes], store: MemoryStore) -> int:
        """How many memories the store has of the user, without those of the new life."""
        scope = TenantScope(self._tenant, user.user)
        if not await store.count(scope):
            return 0
        known = {part for key in newer for part in _parts_of(key)}
        count, after = 0, None
        while page := await store.scroll(scope, after=after, limit=_PAGE):
            count += sum(each.id not in known for each in page)
            after = page[-1].id
        return count

    async def _steps(self, user: ErasedUser, newer: set[bytes], store: MemoryStore) -> int:
        """Number of history steps of the user's words in the store, without those of the new life: no query of memories finds them."""
        known = {part for key in newer for part in _parts_of(key)}
        count, scope = 0, TenantScope(self._tenant)
        for entity in user.trace.entities:
            name, after = entity_id(self._tenant, entity.entity_type, entity.entity_key, entity.generation), None
            while page := await store.steps(scope, name, after=after):
                count += sum(each.contribution.user == user.user and each.id not in known for each in page)
                after = page[-1].id
        return count


def _parts_of(key: bytes) -> tuple[str, ...]:
    try:
        return tuple(decode_key(unmarked_key(key)))
    except KeyFormatError:
        return ()
