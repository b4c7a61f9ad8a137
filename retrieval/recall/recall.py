"""The primary path of a recall (VikingMem 3.3): hybrid search in one request to the store, then time, importance and repetitions."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memory.records import Memory
from models.embedding.port import Embedder
from retrieval.errors import StoreUnavailableError
from retrieval.recall.joint_query import embed_together
from retrieval.recall.ranking import Weights, final_score
from retrieval.recall.repetition import RepetitionKey, is_newer, repetition_key
from retrieval.recall.request import Recalled, RecallRequest, RecallResult
from retrieval.stores.port import MemoryStore, RecallQuery, Scored, TenantScope
from runtime.clocks import Clock
from runtime.settings import RecallSettings

SPARE = 8
"""Results asked for beyond the limit, to fill the places of repetitions, where nothing but S_origin ranks."""


class Recall:
    """Answers questions to the memory."""

    def __init__(self, *, store: MemoryStore, embedder: Embedder, settings: RecallSettings, clock: Clock) -> None:
        """Asks a store that is prepared for the embedder's model with the first question.

        Args:
            store: Where the memories are.
            embedder: Of the model that the memories were embedded with.
            settings: What a request does not say.
            clock: Ages are counted, and memories expire, by its time.
        """
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._clock = clock
        self._prepared = False

    async def recall(self, request: RecallRequest) -> RecallResult:
        """Answers one question.

        Raises:
            ValueError: If the weights exceed 1 together.
            StoreUnavailableError: The store is away.
            StoreRejectedError: The store does not take the request, or holds points of another model.
            models.errors.ModelError: What the embedder raised.
        """
        weights = self._weights(request)
        limit = request.limit or self._settings.limit
        now = self._clock.now()
        query = RecallQuery(
            scope=request.scope,
            text=request.query,
            embedding=await self._embedder.embed_query(request.query),
            limit=max(limit + SPARE, self._settings.prefetch if weights.time or weights.business else 0),
            prefetch=self._settings.prefetch,
            kinds=request.kinds,
            types=request.types,
            since=request.since,
            until=request.until,
            generation=request.generation,
            alive_at=now,
            explain=request.explain,
        )
        found = await self._ask(query)
        floor = self._settings.min_origin_score if request.min_origin_score is None else request.min_origin_score
        confident = [each for each in found if each.score >= floor]
        results = distinct([_recalled(each, request, weights, now) for each in confident])
        return RecallResult(results=tuple(results[:limit]), rejected=len(found) - len(confident), repeated=len(confident) - len(results))

    async def nearest_entities(
        self,
        scope: TenantScope,
        texts: Sequence[str],
        entity_types: Sequence[str],
        limit: int = 5,
        *,
        shared_types: Sequence[str] = (),
        generation: str = "",
    ) -> list[Memory]:
        """The entities nearest to texts, of each type at most ``limit``, best first within a type (VikingMem 3.1, entity patches).

        A model sees but the beginning of a long text: each is embedded by itself, and their mean is what entities are compared with.

        Args:
            scope: Whose entities.
            texts: What they are to be near to, all taken together.
            entity_types: Types to look for in the scope.
            limit: Most entities of a type.
            shared_types: Types whose entities belong to no single user: looked for in all of the tenant, whatever the scope's user.
            generation: Empty: the live one.

        Raises:
            StoreUnavailableError: The store is away.
            StoreRejectedError: The store does not take the request, or holds points of another model.
            models.errors.InputRefusedError: The embedder takes none of the texts.
            models.errors.ModelError: What else the embedder raised.
        """
        told = [each for each in dict.fromkeys(texts) if each.strip()]
        if not (entity_types or shared_types) or not told:
            return []
        query = RecallQuery(
            scope=scope,
            text="\n".join(told),
            embedding=await embed_together(self._embedder, told),
            limit=limit,
            prefetch=self._settings.prefetch,
            kinds=("entity",),
            generation=generation,
            alive_at=self._clock.now(),
        )
        in_tenant = replace(query, scope=TenantScope(scope.tenant))
        own, shared = await asyncio.gather(self._of_each_type(query, entity_types), self._of_each_type(in_tenant, shared_types))
        # A user's entity stays that user's, even where its type names the user no more.
        return own + [each for each in shared if each.user is None]

    async def _of_each_type(self, query: RecallQuery, types: Sequence[str]) -> list[Memory]:
        found = await asyncio.gather(*(self._ask(replace(query, types=(each,))) for each in dict.fromkeys(types)))
        return [each.memory for of_type in found for each in of_type]

    async def _ask(self, query: RecallQuery) -> list[Scored]:
        try:
            if not self._prepared:
                await self._store.prepare(model=self._embedder.name, dimension=self._embedder.dimension)
                self._prepared = True
            return await self._store.recall(query)
        except StoreUnavailableError:
            # It may come back with points of another model.
            self._prepared = False
            raise

    def _weights(self, request: RecallRequest) -> Weights:
        settings = self._settings
        return Weights(
            time=settings.time_weight if request.time_weight is None else request.time_weight,
            business=settings.business_weight if request.business_weight is None else request.business_weight,
            freshness_window_s=settings.freshness_window_s,
            half_life_s=settings.half_life_s,
        )


def distinct(results: Sequence[Recalled]) -> list[Recalled]:
    """Ranks results, best first, with each thing said once: by the newest memory that says it, on the evidence of all."""
    kept: dict[RepetitionKey, Recalled] = {}
    for result in results:
        key = repetition_key(result.memory)
        rival = kept.get(key)
        if rival is None:
            kept[key] = result
            continue
        newer, older = (result, rival) if is_newer(result.memory, rival.memory) else (rival, result)
        kept[key] = replace(newer, evidence=tuple(dict.fromkeys((*newer.evidence, *older.evidence))))
    return sorted(kept.values(), key=lambda result: (-result.score, result.memory.id))


def _recalled(found: Scored, request: RecallRequest, weights: Weights, now: datetime) -> Recalled:
    score = final_score(found.memory, origin=found.score, now=now, weights=weights, type_weights=request.type_weights)
    return Recalled(
        memory=found.memory,
        score=score.final,
        parts={"origin": score.origin, "time": score.time, "business": score.business, **found.parts},
        evidence=tuple(found.memory.message_ids),
    )
