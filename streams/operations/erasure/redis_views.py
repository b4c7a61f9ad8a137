"""Removes an erased user's data from Redis: one rule for each family of keys that can hold the user's words, or traces of them.

A rule removes everything that a worker may have written before the stages handled the erasure. That includes data of a window whose model
call was running when the erasure began: no extraction names it.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Final

from control.documents import SchemaRef
from control.tenants import TenantDirectory
from memory.errors import SchemaError
from memory.ids import entity_id, window_part_id
from memory.keys import encode_key, partition_of
from memory.schema.model import MemorySchema
from models.embedding.handover import forget_vectors
from models.llm.cache import forget_answers
from runtime.redis.client import GuardedRedis
from runtime.redis.entity_view import EntityView
from runtime.redis.extraction_notes import KeyScope, KeyValueNotes, PromptEntities
from runtime.redis.idempotency_cache import IdempotencyCache
from runtime.redis.keys import KeyFamily
from runtime.redis.recall_history import RecallHistory
from runtime.redis.recent_patches import RecentPatchStore, WindowPlace
from runtime.redis.sent_corrections import SentCorrections
from runtime.redis.session_history import SessionHistory
from runtime.redis.session_tail import SessionTail, TailPlace
from runtime.settings import Settings
from streams.operations.erasure.erased_user import ErasedUser


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptOfUser:
    """The data of a user that Redis may have keys for: everything that any of the user's windows could have written."""

    tenant: str
    user: str
    home: int
    """Partition of the user's windows."""
    sessions: frozenset[str]
    windows: frozenset[str]
    """Ids of the windows."""
    window_sharers: frozenset[str]
    """Other users of the user's group chats: what a model made for them may repeat the user's words."""
    generations: frozenset[str]
    """Generations in which a window may have been extracted; the first one's name is empty."""
    events: frozenset[str]
    """Ids of the events."""
    entities: frozenset[str]
    """Ids of the entities that the user's messages have changed, including shared ones."""
    entity_keys: frozenset[tuple[str, str]]
    """Type and key of each of these entities."""
    similar_keys: frozenset[tuple[str, str]]
    """Keys whose values are matched by meaning, each with its generation."""
    partitions: int
    """Number of partitions of ``messages``."""
    erased_at: Mapping[int, int]
    """Offset of the erasure's command in ``messages``, by partition."""

    @classmethod
    def of(cls, erased: ErasedUser, *, tenants: TenantDirectory, partitions: int) -> "KeptOfUser":
        """The data that an erasure found of a user, and the generations and keys of windows without an extraction."""
        trace, tenant = erased.trace, tenants.get(erased.tenant)
        traced = {generation for _, generation in trace.sessions}
        generations = {"", tenant.generation, *(each.name for each in tenant.generations), *traced}
        possible = {
            (key, name) for name in generations for schema in _schemas(tenants, tenant.schema_of(name)) for key in schema.similarities()
        }
        parts = {window_part_id(window, each) for window, others in erased.joined_windows.items() for each in others}
        reached = (entity_id(erased.tenant, each.entity_type, each.entity_key, each.generation) for each in trace.entities)
        return cls(
            tenant=erased.tenant,
            user=erased.user,
            home=erased.home,
            sessions=frozenset(erased.all_sessions),
            window_sharers=frozenset(erased.window_sharers),
            windows=frozenset(erased.window_ids | erased.shared_windows | parts | {each.window_id for each in trace.windows}),
            generations=frozenset(generations),
            events=frozenset(trace.event_ids),
            entities=frozenset(reached),
            entity_keys=frozenset((each.entity_type, each.entity_key) for each in trace.entities),
            similar_keys=frozenset(possible | trace.similar_keys),
            partitions=partitions,
            erased_at=erased.erased_at,
        )


Rule = Callable[[KeptOfUser, GuardedRedis, Settings], Awaitable[None]]


async def _forget_tails(kept: KeptOfUser, redis: GuardedRedis, settings: Settings) -> None:
    tails = SessionTail(redis=redis, ttl_s=settings.redis.tail_ttl_s)
    for session in sorted(kept.sessions):
        partition = partition_of(encode_key(kept.tenant, session), kept.partitions)
        await tails.forget(kept.tenant, session, user=kept.user, erased_at=TailPlace(partition, kept.erased_at.get(partition, 0)))


async def _forget_histories(kept: KeptOfUser, redis: GuardedRedis, settings: Settings) -> None:
    history = SessionHistory(redis=redis, ttl_s=settings.extraction.context_ttl_s)
    for user in (kept.user, *sorted(kept.window_sharers)):
        await history.forget(kept.tenant, user, kept.sessions, kept.generations)


async def _forget_prompts(kept: KeptOfUser, redis: GuardedRedis, settings: Settings) -> None:
    shown = PromptEntities(redis=redis, ttl_s=settings.extraction.context_ttl_s)
    await shown.forget(kept.tenant, kept.windows, kept.generations)


async def _forget_lines(kept: KeptOfUser, redis: GuardedRedis, settings: Settings) -> None:
    notes = RecentPatchStore(redis=redis)
    for generation in kept.generations:
        await notes.forget(WindowPlace(kept.tenant, kept.user, generation, kept.home, 0))


async def _forget_values(kept: KeptOfUser, redis: GuardedRedis, settings: Settings) -> None:
    """Removes all values of a key that users share: the users of single values are unknown, and the store has the others' values.

    A companion's values may come from messages of the user as well.
    """
    notes = KeyValueNotes(redis=redis)
    for (key, generation), user in product(sorted(kept.similar_keys), (kept.user, None, *sorted(kept.window_sharers))):
        await notes.forget(KeyScope(kept.tenant, user, generation, key))


async def _forget_entities(kept: KeptOfUser, redis: GuardedRedis, settings: Settings) -> None:
    await EntityView(redis=redis, ttl_s=settings.redis.entity_ttl_s).forget(kept.tenant, kept.entities)


async def _forget_vectors(kept: KeptOfUser, redis: GuardedRedis, settings: Settings) -> None:
    await forget_vectors(redis, [(kept.tenant, user) for user in (kept.user, None, *sorted(kept.window_sharers))])


async def _forget_model_answers(kept: KeptOfUser, redis: GuardedRedis, settings: Settings) -> None:
    await forget_answers(redis, kept.tenant, [kept.user, *kept.window_sharers, *kept.windows, *kept.entities])


async def _forget_recalls(kept: KeptOfUser, redis: GuardedRedis, settings: Settings) -> None:
    await RecallHistory(redis=redis).forget(kept.tenant, kept.user)


async def _forget_requests(kept: KeptOfUser, redis: GuardedRedis, settings: Settings) -> None:
    answers = IdempotencyCache(redis=redis, ttl_s=settings.service.idempotency_ttl_s, max_bytes=settings.service.idempotency_bytes)
    await answers.forget_owner(encode_key(kept.tenant, kept.user).decode("ascii"))


async def _forget_corrections(kept: KeptOfUser, redis: GuardedRedis, settings: Settings) -> None:
    await SentCorrections(redis=redis).forget(kept.tenant, sorted(kept.events | kept.entities))


RULES: Final[dict[Rule, frozenset[KeyFamily]]] = {
    _forget_tails: frozenset({KeyFamily.OPEN, KeyFamily.CLOSED, KeyFamily.SESSIONS, KeyFamily.SESSIONS_OF}),
    _forget_histories: frozenset({KeyFamily.SESSION_HISTORY}),
    _forget_prompts: frozenset({KeyFamily.SHOWN}),
    _forget_lines: frozenset({KeyFamily.RECENT_PATCHES}),
    _forget_values: frozenset({KeyFamily.VALUES}),
    _forget_entities: frozenset({KeyFamily.ENTITY}),
    _forget_vectors: frozenset({KeyFamily.VECTORS}),
    _forget_model_answers: frozenset({KeyFamily.LLM_ANSWERS, KeyFamily.LLM_ANSWERS_OF}),
    _forget_recalls: frozenset({KeyFamily.RECALLED}),
    _forget_requests: frozenset({KeyFamily.ANSWERS, KeyFamily.ANSWERS_INDEX, KeyFamily.ANSWERS_BYTES}),
    _forget_corrections: frozenset({KeyFamily.CORRECTED}),
}
"""The function that removes each group of key families."""


async def forget_views(kept: KeptOfUser, *, redis: GuardedRedis, settings: Settings) -> None:
    """Applies every rule to a user."""
    for rule in RULES:
        await rule(kept, redis, settings)


async def forget_in_notes_of_others(kept: Sequence[KeptOfUser], *, redis: GuardedRedis, settings: Settings) -> None:
    """Removes entities that users' messages have changed from the prompt entities and recent patches of other users' windows.

    It scans all keys once for all users.
    """
    if kept:
        tenant = kept[0].tenant
        shown = PromptEntities(redis=redis, ttl_s=settings.extraction.context_ttl_s)
        await shown.forget_entities(tenant, frozenset().union(*(each.entities for each in kept)))
        await RecentPatchStore(redis=redis).forget_entities(tenant, frozenset().union(*(each.entity_keys for each in kept)))


def _schemas(tenants: TenantDirectory, newest: SchemaRef) -> Iterator[MemorySchema]:
    """All readable revisions of a schema: a window may have been extracted with an earlier one."""
    for revision in range(1, newest.revision + 1):
        with suppress(SchemaError):
            yield tenants.schema(SchemaRef(name=newest.name, revision=revision))
