"""The recall pipeline. ``/v1/recall``, ``/v1/context``, the command line and all evaluations run :class:`RecallPipeline`.

======================  ====================================================================================================
Step                    What it does
======================  ====================================================================================================
1. rewrite              A model adds sentences to the query, ranks sessions, or selects topics (:mod:`retrieval.rewriting`).
2. retrieve             Retrievers find candidates (:mod:`retrieval.retrievers`).
3. score                Computes features, confidence and other input of the ranker (:mod:`retrieval.scoring`).
4. rank                 The profile's ranker gives S_origin (:mod:`retrieval.candidates`, :mod:`retrieval.rankers`).
5. deduplicate          Weights give S_final; merges memories with the same content (:mod:`retrieval.candidates`).
6. cut                  Selects the hits up to the limit (:mod:`retrieval.selection`).
7. pack                 Fits the results into a number of tokens (:mod:`retrieval.context`).
======================  ====================================================================================================

Steps 2 to 5 of the memories run concurrently with the other retrievers: the keyword graph and those of a memory method, the entities, and
the session tail. Step 6 joins them.
"""

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from memory.positions import LogPosition
from memory.records import Memory
from models.embedding.port import Embedder
from retrieval.candidates import deduplicate, rank
from retrieval.context import Context, messages_of, pack
from retrieval.paths import PartName, Unavailable, left_out, timed
from retrieval.plan import RecallPlan, plan_recall, reads_of
from retrieval.profiles import BUILT_IN, Profile
from retrieval.rankers.base import Scored
from retrieval.relevance.fading import faded_last, read_recalls
from retrieval.request import NO_TAIL, RecallHit, RecallRequest, RecallResponse
from retrieval.retrievers.base import FurtherRetriever, PreparedStore, Retriever
from retrieval.retrievers.entities import Entities, EntityHistory, EntityRetriever
from retrieval.retrievers.keywords import KeywordRetriever
from retrieval.retrievers.links import LinkRetriever
from retrieval.retrievers.memories import Memories, MemoryRetriever, ReadPositions
from retrieval.retrievers.recent import RecentRetriever
from retrieval.retrievers.session_tail import ReadTail, SessionTailRetriever
from retrieval.retrievers.tree import TreeRetriever
from retrieval.rewriting import QueryRewriter, ReadTurn, Rewritten, asks_a_model, no_turn
from retrieval.scoring import Scorer
from retrieval.selection import Ranked, selected, with_further
from retrieval.steps import note_step
from runtime.clocks import Clock
from runtime.metrics import metrics
from runtime.redis.retrieval_counts import RetrievalCounts
from runtime.settings import RecallSettings
from stores.port import MemoryFilter, MemoryStore

T = TypeVar("T")

_PAGE: Final = 500
"""Memories that are read from the store at once."""


class RecallPipeline:
    """Answers queries to the memory. The first query prepares the store for the embedder's model.

    Args:
        store: The memories.
        embedder: The model that the memories were embedded with.
        settings: Defaults of a request's open fields.
        clock: Its time determines the age and the expiry of memories.
        profiles: The rankers that requests and settings may name.
        counts: Counts of earlier recalls, for rankers that use them. None: there are none.
        read_positions: Reads the positions of the change feed that the store contains. None: they are not reported.
        read_tail: Reads the latest messages of a session. None: there are none.
        history: Earlier states of entities. None: a recall of an earlier moment returns no entities.
        rewriter: Asks the models of the modes ``expand`` and ``sift`` and of the retriever ``topics``. None: requests cannot name these
            modes, and those of a memory method are ignored.
    """

    def __init__(
        self,
        *,
        store: MemoryStore,
        embedder: Embedder,
        settings: RecallSettings,
        clock: Clock,
        profiles: Mapping[str, Profile] = BUILT_IN,
        counts: RetrievalCounts | None = None,
        read_positions: ReadPositions | None = None,
        read_tail: ReadTail | None = None,
        history: EntityHistory | None = None,
        rewriter: QueryRewriter | None = None,
    ) -> None:
        prepared = PreparedStore(store, embedder)
        self._store = prepared
        self.profiles = profiles
        self._settings = settings
        self._clock = clock
        self._metrics = metrics()
        self._rewriter = rewriter
        self._memories = MemoryRetriever(prepared, embedder, read_positions)
        self._further: tuple[FurtherRetriever, ...] = (
            KeywordRetriever(prepared, embedder),
            LinkRetriever(prepared, embedder),
            TreeRetriever(prepared, embedder),
            RecentRetriever(prepared, embedder),
        )
        self._entities = EntityRetriever(prepared, embedder, prefetch=settings.prefetch, history=history)
        self._tail = SessionTailRetriever(read_tail)
        self._scorer = Scorer(embedder.name, counts)

    async def recall(self, request: RecallRequest) -> RecallResponse:
        """Runs the steps from rewrite to cut, without a deadline. The first part that fails is raised.

        Raises:
            VarveError: See :meth:`answer`.
        """
        return await self.answer(await self.rewrite(request))

    def plan(self, request: RecallRequest) -> RecallPlan:
        """The recall with every default filled in.

        Raises:
            ValueError: If the weights exceed 1 together, or the profile is unknown.
        """
        return plan_recall(request, settings=self._settings, profiles=self.profiles, now=self._clock.now())

    async def rewrite(self, request: RecallRequest, *, until: float | None = None, turn: ReadTurn = no_turn) -> Rewritten:
        """Step 1: asks the model of the request's mode.

        Args:
            request: The recall.
            until: The recall's deadline, in seconds of the event loop's clock. None: none.
            turn: Waits until the store may be read. The model is called outside of the turn.

        Raises:
            ValueError: If the mode is not available.
            VarveError: If the turn is refused.
        """
        if self._rewriter is None:
            if request.mode not in (None, "fast"):
                raise ValueError(f"this recall has no model for the mode {request.mode!r}")
            return Rewritten(request=request)
        if not asks_a_model(request):
            return Rewritten(request=request)
        began = time.perf_counter()
        rewritten = await self._rewriter.rewrite(self.plan(request), reader=self, until=until, turn=turn)
        if rewritten.fields or rewritten.topics or rewritten.unavailable or rewritten.memories is not None:
            note_step("rewrite", began)
        return rewritten

    async def answer(self, rewritten: Rewritten, *, until: float | None = None) -> RecallResponse:
        """Steps 2 to 6: everything that a recall returns.

        Args:
            rewritten: The result of :meth:`rewrite`.
            until: The deadline, in seconds of the event loop's clock. Parts that are late or fail are left out. None: there is no deadline,
                and the first part that fails is raised.

        Raises:
            VarveError: If all parts are left out, and the memories for another reason than the deadline; or if a part has a defect.
        """
        plan = self.plan(rewritten.request)
        memories_task = asyncio.ensure_future(self._attempt(self._memories_of(rewritten, plan), "memories", until))
        entities_task, tail_task = self._task_of(self._entities, plan, until), self._task_of(self._tail, plan, until)
        further_tasks = {each.name: task for each in self._further if (task := self._task_of(each, plan, until)) is not None}
        tasks = (memories_task, entities_task, tail_task, *further_tasks.values())
        await asyncio.gather(*(each for each in tasks if each is not None))
        memories, entities, tail = memories_task.result(), _result_of(entities_task), _result_of(tail_task)
        by_path = {name: task.result() for name, task in further_tasks.items()}
        degraded = left_out({"session_tail": tail, "memories": memories, **by_path, "entities": entities}, self._metrics)
        nearest = _or_else(entities, Entities([]))
        if not nearest.is_complete:
            degraded = (*degraded, "entity_history")
        ranked, positions = _or_else(memories, (None, ()))
        response = RecallResponse(hits=(), entities=nearest.found)
        if ranked is not None:
            further_hits: dict[PartName, Sequence[RecallHit]] = {name: _or_else(found, []) for name, found in by_path.items()}
            began = time.perf_counter()
            response = await self.cut(plan, ranked, further={"topics": rewritten.topics, **further_hits}, entities=nearest.found)
            note_step("cut", began, given=len(ranked.hits), found=len(response.hits))
        return replace(
            response,
            tail=_or_else(tail, NO_TAIL),
            positions=positions,
            degraded=(*degraded, *rewritten.unavailable),
            rewriting=rewritten.fields,
        )

    async def ranked_memories(self, request: RecallRequest) -> tuple[Ranked, tuple[LogPosition, ...]]:
        """Steps 2 to 5 for the memories of a request, and the positions that the store contained at least.

        Raises:
            ValueError: If the weights exceed 1 together, or the profile is unknown.
            StoreUnavailableError: If the store does not respond.
            StoreRejectedError: If the store refuses the request, or holds points of another model.
            models.errors.ModelError: If the query cannot be embedded.
        """
        return await self._ranked(self.plan(request))

    async def all_memories(self, memory_filter: MemoryFilter, *, most: int) -> list[Memory]:
        """The memories that pass a filter and have not expired, ordered by id, without ranking.

        Args:
            memory_filter: The filter.
            most: Most memories.

        Raises:
            StoreUnavailableError: If the store does not respond.
            StoreRejectedError: If the store refuses the request.
        """
        unexpired = replace(memory_filter, not_expired_at=self._clock.now())
        found: list[Memory] = []
        while len(found) < most:
            size = min(_PAGE, most - len(found))
            page = await self._store.page(unexpired, after=found[-1].id if found else None, limit=size)
            found += page
            if len(page) < size:
                break
        return found

    async def _ranked(self, plan: RecallPlan) -> tuple[Ranked, tuple[LogPosition, ...]]:
        began = time.perf_counter()
        retrieved, recalls = await asyncio.gather(self.retrieve(plan), read_recalls(self._store, plan))
        candidates = sum(len(each.found) for each in retrieved.candidates)
        began = note_step("retrieve", began, found=candidates)
        scored = await self.score(plan, retrieved)
        began = note_step("score", began, given=candidates, found=candidates)
        accepted = rank(plan, scored)
        began = note_step("rank", began, given=candidates, found=len(accepted.found))
        ranked = await deduplicate(plan, accepted)
        note_step("deduplicate", began, given=len(accepted.found), found=len(ranked.hits))
        return faded_last(ranked, recalls, plan), retrieved.positions

    async def retrieve(self, plan: RecallPlan) -> Memories:
        """Step 2 for memories: the candidates of the query and of each expansion."""
        return await self._memories.retrieve(plan)

    async def score(self, plan: RecallPlan, memories: Memories) -> list[Scored]:
        """Step 3: for the query and each expansion, its candidates with the input of the ranker."""
        return await self._scorer.score(plan, memories.candidates)

    async def cut(
        self, plan: RecallPlan, ranked: Ranked, *, further: Mapping[PartName, Sequence[RecallHit]], entities: Sequence[Memory]
    ) -> RecallResponse:
        """Step 6: the best hits, with some of each further retriever, and without events that an entity among them covers.

        Args:
            plan: The recall.
            ranked: All candidates after the deduplication.
            further: The hits of the further retrievers, best first.
            entities: The entities that are returned in addition to the hits.
        """
        paths = plan.further_paths
        found = [(hits, paths[name].quota) for name, hits in further.items() if name in paths]
        return await selected(with_further(ranked, found), entities=entities)

    def pack(self, request: RecallRequest, response: RecallResponse, *, tokens: int, with_said: bool = False) -> Context:
        """Step 7: the results as a text for a prompt.

        Args:
            request: The recall.
            response: Its result.
            tokens: Most tokens of the text.
            with_said: Whether an event that a model worded is followed by the words of its first message.

        Raises:
            ValueError: If the number of tokens is too small.
        """
        return pack(
            request.scope,
            states=response.entities,
            hits=response.hits,
            tail=messages_of(response.tail),
            tokens=tokens,
            with_said=with_said,
        )

    def results_read(self, request: RecallRequest) -> int:
        """How many results a recall reads from the store, to admit it."""
        limit, paths = reads_of(request, settings=self._settings, profiles=self.profiles)
        return limit + sum(retriever.most_read(paths[retriever.name]) for retriever in self._further if retriever.name in paths)

    async def _memories_of(self, rewritten: Rewritten, plan: RecallPlan) -> tuple[Ranked | None, tuple[LogPosition, ...]]:
        """The ranked memories: those that the rewriting has found already, as sifting does, or the result of steps 2 to 5."""
        return await self._ranked(plan) if rewritten.memories is None else rewritten.memories

    def _task_of(self, retriever: Retriever[T], plan: RecallPlan, until: float | None) -> asyncio.Task[T | Unavailable] | None:
        """The task of a retriever. None: the recall does not ask for it, and needs no task."""
        return asyncio.ensure_future(self._retrieve(retriever, plan, until)) if retriever.applies_to(plan) else None

    async def _retrieve(self, retriever: Retriever[T], plan: RecallPlan, until: float | None) -> T | Unavailable:
        began = time.perf_counter()
        found = await self._attempt(retriever.retrieve(plan), retriever.name, until)
        note_step(retriever.name, began, found=len(found) if isinstance(found, list) else None)
        return found

    async def _attempt(self, part: Awaitable[T], name: PartName, until: float | None) -> T | Unavailable:
        return await part if until is None else await timed(part, name=name, until=until, metrics=self._metrics)


def _result_of(task: asyncio.Task[T] | None) -> T | None:
    return None if task is None else task.result()


def _or_else(found: T | Unavailable | None, default: T) -> T:
    return default if found is None or isinstance(found, Unavailable) else found
