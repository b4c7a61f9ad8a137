"""The main retriever: a hybrid search of the store, one request for the query and one for each expansion.

The store merges the nearest memories by dense vector with the best by BM25, and scores them by late interaction as well
(:mod:`stores.query_plan`). These three are one request: three would cost three times the filter and three round trips.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

from memory.positions import LogPosition
from models.embedding.port import Embedder
from models.errors import InputRefusedError
from retrieval.paths import PartName
from retrieval.plan import RecallPlan
from retrieval.query.query_embedding import embed_question
from retrieval.query.spelling import corrected
from retrieval.retrievers.base import PreparedStore
from runtime.logs import logger
from stores.port import FeedPosition, RecallQuery, ScoredMemory

_log = logger(__name__)


ReadPositions = Callable[[Sequence[FeedPosition]], Awaitable[tuple[LogPosition, ...]]]
"""Reads the positions of the change feed that the store contains: a search that begins now finds all records up to them. The argument has
the positions that the recall asks for."""


class Candidates(NamedTuple):
    """The memories that one text finds."""

    text: str
    """The query with misspelt names corrected, or an expansion of it."""
    found: list[ScoredMemory]
    """Best first by the store's score."""


class Memories(NamedTuple):
    """The candidates of a recall."""

    candidates: tuple[Candidates, ...]
    """The query's first, then those of each expansion."""
    positions: tuple[LogPosition, ...] = ()
    """The store was searched when it contained all records up to these positions of the change feed."""


class MemoryRetriever:
    """Searches memories by the query and its expansions.

    Args:
        store: The memories.
        embedder: The model that the memories were embedded with.
        read_positions: Reads the positions that the store contains. None: they are not reported.
    """

    name: Final[PartName] = "memories"

    def __init__(self, store: PreparedStore, embedder: Embedder, read_positions: ReadPositions | None) -> None:
        self._store = store
        self._embedder = embedder
        self._read_positions = read_positions

    def applies_to(self, plan: RecallPlan) -> bool:
        """Always."""
        return True

    async def retrieve(self, plan: RecallPlan) -> Memories:
        """The candidates of each text.

        Raises:
            StoreUnavailableError: If the store does not respond.
            StoreRejectedError: If the store refuses the request, or holds points of another model.
            models.errors.ModelError: If the query cannot be embedded. An expansion that the embedder refuses is left out.
        """
        # The positions are read before the search: the results include at least these.
        positions = () if self._read_positions is None else await self._read_positions(plan.filter.at)
        found = await asyncio.gather(
            self._search_corrected(plan), *(self._search_expansion(each, plan) for each in plan.request.expansions)
        )
        return Memories(tuple(found), positions)

    async def _search_corrected(self, plan: RecallPlan) -> Candidates:
        """The candidates of the query; if a name in it is misspelt, those of the corrected query."""
        query = plan.request.query
        found = await self._search(query, plan)
        corrected_query = corrected(query, (each.memory for each in found))
        return (
            Candidates(query, found) if corrected_query is None else Candidates(corrected_query, await self._search(corrected_query, plan))
        )

    async def _search(self, text: str, plan: RecallPlan) -> list[ScoredMemory]:
        query = RecallQuery(
            filter=plan.filter,
            text=text,
            embedding=await embed_question(self._embedder, text),
            limit=plan.candidates(text),
            prefetch=plan.prefetch,
            explain=plan.needs_parts,
        )
        return [] if plan.filter.passes_nothing else await self._store.recall(query)

    async def _search_expansion(self, text: str, plan: RecallPlan) -> Candidates:
        try:
            return Candidates(text, await self._search(text, plan))
        except InputRefusedError as error:
            # A model wrote this text, not the caller.
            _log.warning("expansion_refused", error=str(error))
            return Candidates(text, [])
