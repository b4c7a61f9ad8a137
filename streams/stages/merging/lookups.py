"""Lookups of a request: the nearest memories of its tenant, user and generation."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack
from typing import Any, Final

from memory.dates.event_date import shown_date
from memory.ids import entity_id
from memory.keys import entity_key_parts
from memory.records import Lookup, Memory, MergeRequest, NotePlace
from memory.schema.model import EntityType
from models.embedding.build import build_embedder
from models.errors import InputRefusedError, ModelError, TransientModelError
from retrieval.nearest import NearestMemories
from runtime.clocks import Clock
from runtime.logs import logger
from runtime.settings import Settings
from stores.build import open_store
from stores.errors import ModelMismatchError, StoreUnavailableError
from stores.port import MemoryFilter, ScoredMemory, TenantScope
from streams.errors import PoisonRecordError, TransientError, transient

_DIGITS: Final = 6
"""Decimal places of a score."""
_WIDER: Final = 4
"""Factor by which a search is widened if too many of its results are notes of later events."""
_WIDEST: Final = 320
"""Most results of a search: a user seldom has more notes in one second."""

_log = logger(__name__)

OpenNearest = Callable[[], Awaitable[NearestMemories]]
"""Gives the search; opens the store and loads the embedding model with the first call."""


class OpenedOnce:
    """Opens the search with the first lookup: few schemas have lookups, and the embedding model takes much memory.

    Args:
        settings: The settings in force.
        resources: Closes what was opened.
        clock: The wall clock.
    """

    def __init__(self, settings: Settings, resources: AsyncExitStack, *, clock: Clock) -> None:
        self._settings = settings
        self._resources = resources
        self._clock = clock
        self._opening = asyncio.Lock()
        self._nearest: NearestMemories | None = None

    async def __call__(self) -> NearestMemories:
        """The search.

        Raises:
            models.errors.ModelError: If the model cannot be loaded.
        """
        async with self._opening:
            if self._nearest is None:
                embedder = await asyncio.to_thread(build_embedder, self._settings.embedding, cache=self._settings.cache_path)
                self._resources.push_async_callback(embedder.close)
                store = await self._resources.enter_async_context(open_store(self._settings))
                self._nearest = NearestMemories(store=store, embedder=embedder, clock=self._clock)
            return self._nearest


async def found_memories(
    nearest: OpenNearest, request: MergeRequest, entity_type: EntityType, lookups: Sequence[Lookup]
) -> list[dict[str, Any]]:
    """Finds the memories of lookups, in the scope of a request.

    Args:
        nearest: Gives the search.
        request: The request.
        entity_type: The type of the entity that asks.
        lookups: The request's own, or those of a loop that answers it.

    Raises:
        TransientError: The store or the embedding model is unavailable. An empty result would decide wrongly.
        PoisonRecordError: The request has no user.
    """
    found: dict[str, dict[str, Any]] = {}
    for lookup in lookups:
        for each in await _found(nearest, request, entity_type, lookup):
            found.setdefault(each.memory.id, _shown(each, request, entity_type))
    return list(found.values())


async def _found(nearest: OpenNearest, request: MergeRequest, entity_type: EntityType, lookup: Lookup) -> list[ScoredMemory]:
    own = entity_id(request.tenant, request.entity_type, request.entity_key, request.generation)
    without = {own, *lookup.without}
    searched = MemoryFilter(
        scope=TenantScope(request.tenant, _user_of(request, entity_type)),
        kinds=tuple(lookup.kinds),
        types=tuple(lookup.types) or ((request.entity_type,) if "entity" in lookup.kinds else ()),
        keys=tuple(lookup.keys),
        generation=request.generation,
    )
    try:
        return await _earlier(await nearest(), searched, lookup, without)
    except (StoreUnavailableError, ModelMismatchError) as error:
        raise TransientError(str(error), dependency="store") from error
    except InputRefusedError as error:
        # Waiting would not help. Without neighbours, nothing is linked or replaced, and nothing is lost.
        _log.warning("lookup_refused", tenant=request.tenant, property=request.property, error=str(error))
        return []
    except TransientModelError as error:
        raise transient(error, dependency="embedding") from error
    except ModelError as error:
        raise TransientError(str(error), dependency="embedding") from error


async def _earlier(nearest: NearestMemories, searched: MemoryFilter, lookup: Lookup, without: Collection[str]) -> list[ScoredMemory]:
    """The nearest memories of a lookup, without those that are left out and without notes of later events."""
    limit = lookup.limit + len(without)
    while True:
        found = await nearest.find(searched, text=lookup.text, vector=lookup.vector, limit=limit)
        kept = [each for each in found if each.memory.id not in without and _is_earlier(each.memory, lookup.before)]
        if len(kept) >= lookup.limit or len(found) < limit or limit >= _WIDEST:
            return kept[: lookup.limit]
        limit = min(limit * _WIDER, _WIDEST)


def _is_earlier(memory: Memory, before: NotePlace | None) -> bool:
    place = memory.properties.get("place")
    if before is None or not isinstance(place, dict) or place.keys() != NotePlace.model_fields.keys():
        return True
    return NotePlace.model_validate(place).is_before(before)


def _user_of(request: MergeRequest, entity_type: EntityType) -> str:
    """The only user whose memories a lookup may find: that of the entity, if it has one."""
    parts = dict(zip(entity_type.keys, entity_key_parts(request.entity_key), strict=False))
    user = parts.get("user", request.user)
    if not user:
        raise PoisonRecordError("lookup_without_user", f"a lookup of {request.entity_type}.{request.property} needs a user; name one")
    return user


def _shown(found: ScoredMemory, request: MergeRequest, entity_type: EntityType) -> dict[str, Any]:
    memory = found.memory
    shown: dict[str, Any] = {
        "id": memory.id,
        "version": memory.version,
        "score": round(found.score, _DIGITS),
        "type": memory.type,
        "content": memory.content,
        "keywords": memory.keywords,
        "entity_key": memory.entity_key,
        "day": shown_date(memory.event_time, memory.date),
    }
    text, window = memory.properties.get(request.property), memory.properties.get("window")
    if memory.type == request.entity_type and memory.entity_key is not None and isinstance(text, str) and isinstance(window, str):
        parts = dict(zip(entity_type.keys, entity_key_parts(memory.entity_key), strict=False))
        shown["note"] = {"event": parts.get("event", ""), "window": window, "text": text, "day": shown["day"]}
    return shown
