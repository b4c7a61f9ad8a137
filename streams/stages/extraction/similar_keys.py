"""Matching of key values by meaning, if the schema says so, before the extraction is produced.

The log contains the matched values: later stages, and every rebuild, group by them as by any other value.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from extraction.similar_keys import Names, names_of, stated_values, with_names
from memory.keys import entity_key_parts
from memory.records import Extraction, Memory
from memory.schema.model import EntityType, MemorySchema
from models.embedding.port import Embedder, Vector
from models.errors import InputRefusedError, ModelError, TransientModelError
from retrieval.entity_lookup import EntityLookup
from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.redis.extraction_notes import KeyScope, KeyValueNotes
from runtime.redis.recent_patches import WindowPlace
from stores.port import TenantScope
from streams.errors import TransientError, transient
from streams.stages.extraction.entity_context import nearest_entities

CANDIDATES: Final = 10
"""Entities of a type that are compared with each value."""

_log = logger(__name__)


class SimilarKeys:
    """Matches the key values of one window's extraction.

    Args:
        lookup: Finds the entities that a value may name.
        embedder: Embeds values.
        notes: Values that the store may not have yet. None: it has all.
    """

    def __init__(self, *, lookup: EntityLookup, embedder: Embedder, notes: KeyValueNotes | None) -> None:
        self._lookup = lookup
        self._embedder = embedder
        self._notes = notes

    async def settled(
        self, extraction: Extraction, schema: MemorySchema, place: WindowPlace, *, may_note: Callable[[], bool] = lambda: True
    ) -> Extraction:
        """The extraction with each value by the name of the thing that it means.

        Args:
            extraction: As the extractor made it.
            schema: The schema of the extraction.
            place: The window's among its user's, and the generation of memories.
            may_note: Called right before something of the window is written to Redis; false: its user was erased meanwhile.

        Raises:
            TransientError: The store or the embedding model is unavailable.
        """
        stated = stated_values(extraction, schema)
        if not stated:
            return extraction
        names = {key: await self._names(key, values, schema, place, may_note) for key, values in stated.items()}
        return with_names(extraction, schema, names)

    async def _names(
        self, key: str, values: Sequence[str], schema: MemorySchema, place: WindowPlace, may_note: Callable[[], bool]
    ) -> Names:
        entity_types = [each for each in schema.entity_types if key in each.similarities]
        is_of_one_user = all("user" in each.keys for each in entity_types)
        scope = KeyScope(place.tenant, place.user if is_of_one_user else None, place.generation, key)
        noted = await self._noted(scope)
        known = {each.casefold() for each in noted}
        new = [each for each in values if each.casefold() not in known]
        found = await asyncio.gather(*(self._stored(each, key, entity_types, place) for each in new))
        present = [*noted, *(name for of_value in found for name in of_value)]
        vectors = await self._vectors([*new, *present]) if new else {}
        names = names_of(values, present, vectors=vectors, similarity=schema.similarities()[key])
        if self._notes is not None and may_note():
            with suppress(RedisUnavailableError):
                await self._notes.add(scope, list(dict.fromkeys(names.values())))
        return names

    async def _noted(self, scope: KeyScope) -> tuple[str, ...]:
        if self._notes is None:
            return ()
        try:
            return await self._notes.latest(scope)
        except RedisUnavailableError:
            return ()

    async def _stored(self, value: str, key: str, entity_types: Sequence[EntityType], place: WindowPlace) -> list[str]:
        """Names of the entities nearest to a value."""
        scope = TenantScope(place.tenant, place.user)
        entities = await nearest_entities(self._lookup, scope, [value], entity_types, generation=place.generation, limit=CANDIDATES)
        by_name = {each.name: each for each in entity_types}
        return [name for entity in entities if (name := _value_of(entity, by_name[entity.type], key)) is not None]

    async def _vectors(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """Vectors of texts; empty if the model refuses them: then each value keeps its own name."""
        distinct = list(dict.fromkeys(texts))
        try:
            embeddings = await self._embedder.embed_documents(distinct)
        except InputRefusedError as error:
            _log.warning("key_values_not_compared", error=str(error))
            return {}
        except TransientModelError as error:
            raise transient(error, dependency="embedding") from error
        except ModelError as error:
            raise TransientError(str(error), dependency="embedding") from error
        return {text: embedding.dense for text, embedding in zip(distinct, embeddings, strict=True)}


def _value_of(entity: Memory, entity_type: EntityType, key: str) -> str | None:
    parts = entity_key_parts(entity.entity_key) if entity.entity_key else ()
    return parts[entity_type.keys.index(key)] if len(parts) == len(entity_type.keys) else None
