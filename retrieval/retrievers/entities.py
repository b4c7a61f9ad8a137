"""The entities nearest to a query or to other texts, some of each type (VikingMem 3.1, entity patches)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from memory.records import Memory
from models.embedding.port import Embedder, Embedding
from retrieval.paths import PartName
from retrieval.plan import RecallPlan
from retrieval.query.query_embedding import embed_as_asked, embed_query_texts
from retrieval.request import RecallRequest
from retrieval.retrievers.base import PreparedStore
from stores.port import MemoryFilter, RecallQuery, ScoredMemory, TenantScope

MAX_OF_TYPE: Final = 5
"""Most entities of each type that a recall returns."""


class Entities(NamedTuple):
    """The entities that a recall returns next to its hits."""

    found: list[Memory]
    """Best first within a type."""
    is_complete: bool = True
    """Whether the history of every found entity reaches back to the requested moment."""


EntityHistory = Callable[[RecallRequest, list[Memory]], Awaitable[Entities]]
"""Returns entities as they were at the request's ``as_of``."""


class EntityRetriever:
    """Searches entities.

    Args:
        store: The memories.
        embedder: The model that the memories were embedded with.
        prefetch: Candidates of each of dense and BM25.
        history: Returns earlier states of entities. None: a recall of an earlier moment has no entities.
    """

    name: Final[PartName] = "entities"

    def __init__(self, store: PreparedStore, embedder: Embedder, *, prefetch: int, history: EntityHistory | None = None) -> None:
        self._store = store
        self._embedder = embedder
        self._prefetch = prefetch
        self._history = history

    def applies_to(self, plan: RecallPlan) -> bool:
        """Whether the request names types of entities, and the tenant's method searches entities."""
        method, request = plan.request.method, plan.request
        return bool(request.entity_types or request.shared_types) and (method is None or not method.kinds or "entity" in method.kinds)

    async def retrieve(self, plan: RecallPlan) -> Entities:
        """The entities nearest to the query, at the moment of the recall.

        Raises:
            VarveError: See :meth:`nearest`.
        """
        request, asked = plan.request, plan.request.filter
        entities = replace(plan.filter, kinds=("entity",), types=(), sessions=(), since=None, until=None, as_of=None)
        embedding = await embed_as_asked(self._embedder, request.query)
        found = await self._search(
            entities, request.query, embedding, own=request.entity_types, shared=request.shared_types, limit=MAX_OF_TYPE
        )
        if asked.as_of is None:
            return Entities(found)
        return Entities([]) if self._history is None else await self._history(request, found)

    async def nearest(
        self, entities: MemoryFilter, texts: Sequence[str], *, own: Sequence[str], shared: Sequence[str] = (), limit: int = MAX_OF_TYPE
    ) -> list[Memory]:
        """At most ``limit`` entities of each type, best first within a type.

        Args:
            entities: The entities that may be returned, without types.
            texts: The texts, which make one query together.
            own: Types to search within the filter's scope.
            shared: Types whose entities belong to no single user. They are searched in the whole tenant, whatever the scope's user.
            limit: Most entities of a type.

        Raises:
            StoreUnavailableError: If the store does not respond.
            StoreRejectedError: If the store refuses the request, or holds points of another model.
            models.errors.InputRefusedError: If the embedder refuses all of the texts.
            models.errors.ModelError: What else the embedder raised.
        """
        texts = [each for each in dict.fromkeys(texts) if each.strip()]
        if not (own or shared) or not texts:
            return []
        embedding = await embed_query_texts(self._embedder, texts)
        return await self._search(entities, "\n".join(texts), embedding, own=own, shared=shared, limit=limit)

    async def _search(
        self, entities: MemoryFilter, text: str, embedding: Embedding, *, own: Sequence[str], shared: Sequence[str], limit: int
    ) -> list[Memory]:
        query = RecallQuery(filter=entities, text=text, embedding=embedding, limit=limit, prefetch=self._prefetch)
        if not shared:
            return await self._each_type(query, own)
        in_tenant = replace(query, filter=replace(entities, scope=TenantScope(entities.scope.tenant)))
        of_scope, of_nobody = await asyncio.gather(self._each_type(query, own), self._each_type(in_tenant, shared))
        # An entity with a user belongs to that user, even if its type's key no longer names the user.
        return of_scope + [each for each in of_nobody if each.user is None]

    async def _each_type(self, query: RecallQuery, types: Sequence[str]) -> list[Memory]:
        types = tuple(dict.fromkeys(types))
        most = max(query.prefetch, query.limit)
        by_type: dict[str, list[ScoredMemory]] = {}
        left = types
        while left:
            found = await self._store.recall(replace(_of_types(query, left), limit=most))
            by_type |= {one: [each for each in found if each.memory.type == one][: query.limit] for one in left}
            if len(found) < most:
                break
            # There may be more entities: those of one type may have displaced those of another.
            hidden = tuple(each for each in left if len(by_type[each]) < query.limit)
            if hidden == left:
                searches = (self._store.recall(_of_types(query, (each,))) for each in left)
                by_type |= zip(left, await asyncio.gather(*searches), strict=True)
                break
            left = hidden
        return [each.memory for one in types for each in by_type[one]]


def _of_types(query: RecallQuery, types: tuple[str, ...]) -> RecallQuery:
    return replace(query, filter=replace(query.filter, types=types))
