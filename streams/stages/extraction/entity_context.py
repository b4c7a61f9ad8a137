"""Entities for the extraction of a window, as the user's earlier windows left them: those it may edit, or the nearest ones.

A redelivery gets the same ones.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from extraction.port import EntityName
from memory.ids import entity_id
from memory.records import Memory, Window
from memory.schema.model import EntityType, MemorySchema
from models.errors import InputRefusedError, ModelError, TransientModelError
from retrieval.entity_lookup import EntityLookup
from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.redis.entity_view import EntityView
from runtime.redis.extraction_notes import PromptEntities
from runtime.redis.recent_patches import RecentPatch, RecentPatchStore, WindowPlace
from stores.errors import ModelMismatchError, StoreUnavailableError
from stores.port import TenantScope
from streams.errors import TransientError, transient
from streams.stages.extraction.recent_patches import with_recent_patches

_log = logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityNotes:
    """Entity data in Redis that the store may not have yet."""

    prompt_entities: PromptEntities
    """Remembers the entities of each window for its redelivery."""
    patches: RecentPatchStore
    """Has the patches of the user's earlier windows."""
    view: EntityView
    """Has entities in the state of the entities stage."""


class EntityContext:
    """Finds the entities for the extraction of a window.

    Args:
        lookup: Finds entities by id, and those nearest to a text.
        notes: Data that is newer than the store. None: there is none.
    """

    def __init__(self, *, lookup: EntityLookup, notes: EntityNotes | None) -> None:
        self._lookup = lookup
        self._notes = notes

    async def entities_for(
        self,
        window: Window,
        schema: MemorySchema,
        place: WindowPlace,
        *,
        edited: Sequence[EntityName] | None = None,
        may_note: Callable[[], bool] = lambda: True,
    ) -> tuple[Memory, ...]:
        """The entities for a window. A redelivery gets the same ones: the newer ones hold what the window says.

        Args:
            window: The window.
            schema: The schema of the generation.
            place: The window's position among its user's, and the generation of memories.
            edited: The only entities that the window's patches may edit. None: unknown, so the nearest ones are found.
            may_note: Called before something about the window is written to Redis. False: its user was erased meanwhile.

        Raises:
            TransientError: The store or the embedding model is unavailable.
        """
        if not (schema.entity_types if edited is None else edited):
            return ()
        generation, notes = place.generation, self._notes
        if notes is None:
            return tuple(await self._stored(window, schema, generation, edited))
        try:
            remembered = await notes.prompt_entities.of(window.tenant, window.id, generation)
        except RedisUnavailableError:
            return tuple(await self._stored(window, schema, generation, edited))
        if remembered is not None:
            return remembered
        entities = await _with_what_is_newer(await self._stored(window, schema, generation, edited), notes, window, schema, place)
        if not may_note():
            return entities
        with suppress(RedisUnavailableError):
            await notes.prompt_entities.remember(window.tenant, window.id, generation, entities)
        return entities

    async def _stored(self, window: Window, schema: MemorySchema, generation: str, edited: Sequence[EntityName] | None) -> list[Memory]:
        scope = TenantScope(window.tenant, window.user)
        if edited is None:
            texts = [message.text for message in window.messages]
            found = await nearest_entities(self._lookup, scope, texts, schema.entity_types, generation=generation)
        else:
            found = await self._named(scope, edited, schema, generation)
        return _apart_from(window, found)

    async def _named(self, scope: TenantScope, names: Sequence[EntityName], schema: MemorySchema, generation: str) -> list[Memory]:
        of_users = {each.name for each in schema.entity_types if "user" in each.keys}
        found = []
        for within, chosen in (
            (scope, [each for each in names if each.type in of_users]),
            (TenantScope(scope.tenant), [each for each in names if each.type not in of_users]),
        ):
            ids = [entity_id(scope.tenant, each.type, each.key, generation) for each in chosen]
            try:
                stored = await self._lookup.by_id(within, ids, generation=generation) if ids else []
            except StoreUnavailableError as error:
                raise TransientError(str(error), dependency="store") from error
            # An entity with a user belongs to that user, even if its type's key no longer names the user.
            found += [each for each in stored if each.user in (None, within.user)]
        return found


async def _with_what_is_newer(
    nearest: Sequence[Memory], notes: EntityNotes, window: Window, schema: MemorySchema, place: WindowPlace
) -> tuple[Memory, ...]:
    """Entities in the state of the entities stage, plus the patches of the user's earlier windows: the store lags both."""
    try:
        patches = await notes.patches.before(place)
        found = await _as_the_stage_has_them(nearest, patches, place, notes.view)
    except RedisUnavailableError:
        return tuple(nearest)
    return with_recent_patches(_apart_from(window, found), patches, window=window, schema=schema, generation=place.generation)


async def _as_the_stage_has_them(
    nearest: Sequence[Memory], patches: Sequence[RecentPatch], place: WindowPlace, view: EntityView
) -> list[Memory]:
    """The nearest entities, then those changed lately, each in its newest known version."""
    changed = (entity_id(place.tenant, each.entity_type, each.entity_key, place.generation) for each in patches)
    stored = {each.id: each for each in nearest}
    ids = list(dict.fromkeys([*stored, *changed]))
    viewed = await asyncio.gather(*(view.read(place.tenant, each) for each in ids))
    found = []
    for memory_id, shown in zip(ids, viewed, strict=True):
        memory = stored.get(memory_id)
        if shown is not None and (memory is None or shown.version > memory.version):
            memory = shown.memory
        if memory is not None:
            found.append(memory)
    return found


def _apart_from(window: Window, entities: Sequence[Memory]) -> list[Memory]:
    """The entities that have nothing from a window yet."""
    messages = {message.id for message in window.messages}
    return [entity for entity in entities if messages.isdisjoint(entity.message_ids)]


async def nearest_entities(
    lookup: EntityLookup, scope: TenantScope, texts: Sequence[str], entity_types: Sequence[EntityType], *, generation: str, limit: int = 5
) -> list[Memory]:
    """The entities nearest to texts, at most ``limit`` of each type; none if the model refuses the texts.

    Raises:
        TransientError: The store or the embedding model is unavailable.
    """
    own = [each.name for each in entity_types if "user" in each.keys]
    shared = [each.name for each in entity_types if "user" not in each.keys]
    try:
        return await lookup.nearest(scope, texts, own, limit, shared_types=shared, generation=generation)
    except (StoreUnavailableError, ModelMismatchError) as error:
        # Without these entities, the window would store facts a second time. So the window waits for the store.
        raise TransientError(str(error), dependency="store") from error
    except InputRefusedError as error:
        # Waiting would not help, and a dead letter would lose more than the context.
        _log.warning("nearest_entities_skipped", tenant=scope.tenant, user=scope.user, error=str(error))
        return []
    except TransientModelError as error:
        raise transient(error, dependency="embedding") from error
    except ModelError as error:
        raise TransientError(str(error), dependency="embedding") from error
