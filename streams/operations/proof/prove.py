"""``varve prove``: makes the memories of some users again from the log, and compares them with those that are served.

The stages' own handlers run in this process, on the users' records of ``extractions`` and on the models' outcomes in ``merged``. No model
is asked, and nothing is written. The vector store has what is served. Both are compared at one place of the log: the proof waits until
the stages have handled what the log has, and looks again if a user's records came meanwhile.
"""

import hashlib
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from typing import Final

from control import read_control
from control.state import ControlState
from control.tenants import TenantDirectory
from control.view import FixedControlView
from memory.headers import GENERATION_DROP, KIND, RETENTION, TRUST
from memory.keys import encode_key, partition_of, parts_of_key, unmarked_key
from memory.records import Memory
from memory.topics import EXTRACTIONS, MERGED
from runtime.clocks import SystemClock
from runtime.kafka import KafkaOffsets, TopicPartition, check_topics, read_topic
from runtime.settings import Settings
from stores.port import MemoryStore, TenantScope, all_memories
from streams.engine.records import ConsumedRecord
from streams.operations.proof.report import Outcome, UserProof, differences_of, digest_of
from streams.operations.proof.shadow import UserShadow, entity_of_outcome
from streams.operations.stage_barrier import StageBarrier
from streams.stages.catalog import STAGES

User = tuple[str, str]
"""Tenant and user."""

_PATIENCE_S: Final = 300.0
_LOOKS: Final = 3
"""Looks at a user who differs, or whose records came meanwhile."""
_OF_A_TENANT: Final = frozenset({(KIND, GENERATION_DROP), (KIND, RETENTION), (KIND, TRUST)})
"""Headers of records that concern all users of their tenant."""


async def prove(
    settings: Settings,
    users: Collection[User],
    *,
    store: MemoryStore,
    patience_s: float = _PATIENCE_S,
    notice: Callable[[str], None] = lambda line: None,
) -> list[UserProof]:
    """Compares users' served memories with those that the log gives.

    Args:
        settings: The settings of the stages.
        users: The users.
        store: The vector store that serves.
        patience_s: How long each stage may take to handle what the log has, in seconds.
        notice: Called with a line of progress.

    Raises:
        StageBehindError: If a stage does not reach the end of its topic in time.
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If a topic is missing.
        StoreUnavailableError: If the store does not answer.
    """
    await check_topics(settings)
    barrier = StageBarrier(settings=settings, patience_s=patience_s, notice=notice)
    proofs: dict[User, UserProof] = {}
    left = [*dict.fromkeys(users)]
    for _ in range(_LOOKS):
        if not left:
            break
        looked = await _Look(settings, await read_control(settings), store, barrier).at(left)
        proofs |= {(each.tenant, each.user): each for each in looked}
        left = [(each.tenant, each.user) for each in looked if each.outcome != "equal"]
    return [proofs[each] for each in dict.fromkeys(users)]


async def sampled_users(settings: Settings, number: int, *, seed: str, tenants: Collection[str] = ()) -> list[User]:
    """Users of the log, chosen by a hash: every user has the same chance, and the same seed gives the same users.

    Args:
        settings: The settings.
        number: Most users.
        seed: The seed.
        tenants: Only users of these tenants. Default: all that are not removed.
    """
    state = await read_control(settings)
    known = {each.id for each in state.tenants.values() if each.state != "removed" and (not tenants or each.id in tenants)}
    best: dict[bytes, User] = {}
    async for record in read_topic(settings.topic(EXTRACTIONS.name), settings.kafka):
        if record.value is None or any(name == KIND for name, _ in record.headers):
            continue  # only an extraction certainly names a user
        user = _user_of(record.key)
        if user is not None and user[0] in known:
            best[hashlib.sha256(seed.encode() + b"\n" + unmarked_key(record.key or b"")).digest()] = user
            if len(best) > 2 * number:
                best = {each: best[each] for each in sorted(best)[:number]}
    return [best[each] for each in sorted(best)[:number]]


class _Look:
    """One comparison of users, at one place of the log."""

    def __init__(self, settings: Settings, state: ControlState, store: MemoryStore, barrier: StageBarrier) -> None:
        self._settings = settings
        self._tenants = TenantDirectory(FixedControlView(state))
        self._store = store
        self._barrier = barrier
        self._topic = settings.topic(EXTRACTIONS.name)

    async def at(self, users: Sequence[User]) -> list[UserProof]:
        """The proofs of users, in their order."""
        ends = await self._ends(STAGES["events"].source.name)
        await self._barrier.of(STAGES["events"], ends)
        for name in ("entities", "index"):
            await self._barrier.of(STAGES[name], await self._ends(STAGES[name].source.name))
        served = {each: await self._served(each) for each in users}
        shadows = await self._shadows(users, ends)
        expected = await self._finished(shadows)
        moved = {each async for each in self._users_after(ends)}
        return [self._proof(each, expected[each], served[each], is_settled=each not in moved) for each in users]

    def _proof(self, user: User, shadow: Mapping[str, Memory], served: Mapping[str, Memory], *, is_settled: bool) -> UserProof:
        found = differences_of(shadow, served)
        outcome: Outcome = "equal" if not found else "different" if is_settled else "unsettled"
        return UserProof(
            tenant=user[0],
            user=user[1],
            outcome=outcome,
            memories=len(shadow),
            digest=digest_of(shadow),
            served=digest_of(served),
            differences=found if is_settled else (),
        )

    async def _ends(self, topic: str) -> dict[TopicPartition, int]:
        async with KafkaOffsets(kafka=self._settings.kafka) as offsets:
            return await offsets.end_offsets([self._settings.topic(topic)])

    async def _served(self, user: User) -> dict[str, Memory]:
        return {each.id: each async for each in all_memories(self._store, TenantScope(*user)) if each.user == user[1]}

    async def _shadows(self, users: Sequence[User], ends: Mapping[TopicPartition, int]) -> dict[User, UserShadow]:
        homes = {each: partition_of(encode_key(*each), self._settings.kafka.partitions) for each in users}
        shadows = {
            (tenant, user): UserShadow(user=user, partition=home, settings=self._settings, tenants=self._tenants, clock=SystemClock())
            for (tenant, user), home in homes.items()
        }
        of_tenant: defaultdict[tuple[str, int], list[UserShadow]] = defaultdict(list)
        for (tenant, user), shadow in shadows.items():
            of_tenant[tenant, homes[tenant, user]].append(shadow)
        start = {TopicPartition(self._topic, each): 0 for each in set(homes.values())}
        async for record in read_topic(self._topic, self._settings.kafka, start=start):
            if record.offset >= ends[TopicPartition(self._topic, record.partition)] or record.value is None:
                continue
            consumed = ConsumedRecord.of(record)
            if _OF_A_TENANT.intersection(consumed.headers):
                for shadow in of_tenant.get((consumed.tenant, record.partition), ()):
                    await shadow.add([consumed])
            elif (owner := _user_of(consumed.key)) is not None and owner in shadows:
                await shadows[owner].add([consumed])
        return shadows

    async def _finished(self, shadows: Mapping[User, UserShadow]) -> dict[User, Mapping[str, Memory]]:
        entities = {user: shadow.entity_keys() for user, shadow in shadows.items()}
        wanted = set().union(*entities.values())
        newest: dict[bytes, bytes] = {}
        if wanted:
            async for record in read_topic(self._settings.topic(MERGED.name), self._settings.kafka):
                newest.pop(record.key or b"", None)
                if record.value is not None:
                    newest[record.key or b""] = record.value
        outcomes: defaultdict[bytes, list[bytes]] = defaultdict(list)
        for value in newest.values():
            if (entity := entity_of_outcome(value)) in wanted and entity is not None:
                outcomes[entity].append(value)
        return {
            user: await shadow.finish(value for entity in sorted(entities[user]) for value in outcomes.get(entity, ()))
            for user, shadow in shadows.items()
        }

    async def _users_after(self, ends: Mapping[TopicPartition, int]) -> AsyncIterator[User]:
        async for record in read_topic(self._topic, self._settings.kafka, start=ends):
            if (user := _user_of(record.key)) is not None:
                yield user


def _user_of(key: bytes | None) -> User | None:
    """The user of a record of ``extractions``; None if it has no single user."""
    match parts_of_key(key):
        case (tenant, user):
            return tenant, user
    return None
