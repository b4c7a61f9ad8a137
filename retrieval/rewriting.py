"""Rewrite: the first step of a recall, which calls models.

By the request's mode, a model adds sentences to the query or ranks the sessions. By the memory method, a model selects topics.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, TypeVar

from memory.positions import LogPosition
from retrieval.paths import PartName, Unavailable, timed
from retrieval.plan import RecallPlan, mode_of
from retrieval.query.expansion import Expansion
from retrieval.request import RecallHit, RecallRequest
from retrieval.retrievers.topics import TopicRetriever
from retrieval.selection import Ranked
from retrieval.session_ranking.llm_session_ranker import MemoryReader, Sift, Sifted
from runtime.logs import logger
from runtime.metrics import Metrics

T = TypeVar("T")

ReadTurn = Callable[[int], AbstractAsyncContextManager[None]]
"""Waits until this process may read a number of results from the store."""

_SHARE: Final = 0.75
"""Part of the time until the deadline that the model may take. Without its reply, the recall still needs the rest."""

_log = logger(__name__)


def no_turn(results: int) -> AbstractAsyncContextManager[None]:
    """Does not wait."""
    return nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """A recall after the rewriting."""

    request: RecallRequest
    memories: tuple[Ranked, tuple[LogPosition, ...]] | None = None
    """The memories of the sessions that the model ranked, with the positions of the store; None: they are still to be retrieved."""
    topics: tuple[RecallHit, ...] = ()
    """The topics that a model selected."""
    unavailable: tuple[PartName, ...] = ()
    """The models that have failed."""
    fields: dict[str, Any] = field(default_factory=dict)
    """By the mode's field in the response, what the model contributed; None: nothing."""


def asks_a_model(request: RecallRequest) -> bool:
    """Whether a model rewrites the recall or selects topics for it."""
    method = request.method
    paths = () if method is None else method.retrieval.paths
    return mode_of(request) != "fast" or any(each.name == TopicRetriever.name for each in paths)


class QueryRewriter:
    """Rewrites recalls.

    Args:
        expansion: Expands queries.
        sift: Ranks sessions.
        topics: Selects topics.
        metrics: Records durations and outcomes.
    """

    def __init__(self, *, expansion: Expansion, sift: Sift, topics: TopicRetriever, metrics: Metrics) -> None:
        self._expansion = expansion
        self._sift = sift
        self._topics = topics
        self._metrics = metrics

    async def rewrite(self, plan: RecallPlan, *, reader: MemoryReader, until: float | None, turn: ReadTurn = no_turn) -> Rewritten:
        """Asks the model of the request's mode, and the one that selects topics, if there are any.

        Args:
            plan: The recall.
            reader: Reads and ranks memories: the following steps of the pipeline.
            until: The recall's deadline, in seconds of the event loop's clock. None: none.
            turn: Waits until sessions may be read. The model is called outside of the turn.

        Raises:
            VarveError: If the turn is refused.
        """
        rewritten, topics = await asyncio.gather(self._by_mode(plan, reader, until, turn), self._selected(plan, until, turn))
        if isinstance(topics, Unavailable):
            return replace(rewritten, unavailable=(*rewritten.unavailable, "topics"))
        return replace(rewritten, topics=tuple(topics or ()))

    async def _by_mode(self, plan: RecallPlan, reader: MemoryReader, until: float | None, turn: ReadTurn) -> Rewritten:
        if plan.mode == "sift":
            return await self._sifted(plan.request, reader, plan.limit, until, turn)
        return await self._expanded(plan.request, until) if plan.mode == "expand" else Rewritten(request=plan.request)

    async def _selected(self, plan: RecallPlan, until: float | None, turn: ReadTurn) -> list[RecallHit] | Unavailable | None:
        if not self._topics.applies_to(plan):
            return None

        async def selected() -> list[RecallHit]:
            async with turn(self._topics.most):
                topics = await self._topics.topics(plan)
            return await self._topics.selected(plan, topics)

        return await self._in_time(selected(), name="topics", most_s=self._topics.deadline_s, until=until)

    async def _sifted(self, request: RecallRequest, reader: MemoryReader, limit: int, until: float | None, turn: ReadTurn) -> Rewritten:
        async def sifted() -> tuple[Sifted, tuple[LogPosition, ...]] | None:
            async with turn(self._sift.memories):
                history = await self._sift.read(request, reader)
            return None if history is None else (await self._sift.rank(request, history, limit=limit), history.positions)

        found = await self._in_time(sifted(), name="sift", most_s=self._sift.deadline_s, until=until)
        if found is None or isinstance(found, Unavailable):
            return Rewritten(request=request, unavailable=_named(found, "sift"), fields={"sift": None})
        ranking, positions = found
        fields = {
            "sessions": ranking.ranking,
            "history": ranking.contents,
            "thought": ranking.thought,
            "shown": ranking.shown,
            "left_out": ranking.left_out,
            "completed": ranking.completed,
            "usage": asdict(ranking.usage),
        }
        return Rewritten(request=request, memories=(ranking.memories, positions), fields={"sift": fields})

    async def _expanded(self, request: RecallRequest, until: float | None) -> Rewritten:
        sentences = self._expansion.of(request.scope.tenant, request.query, user=request.scope.user)
        found = await self._in_time(sentences, name="expansion", most_s=self._expansion.deadline_s, until=until)
        if found is None or isinstance(found, Unavailable):
            return Rewritten(request=request, unavailable=_named(found, "expansion"), fields={"expansion": None})
        return Rewritten(request=replace(request, expansions=found), fields={"expansion": found})

    async def _in_time(self, path: Awaitable[T | None], *, name: PartName, most_s: float, until: float | None) -> T | Unavailable | None:
        now = asyncio.get_running_loop().time()
        end = now + (most_s if until is None else min(most_s, (until - now) * _SHARE))
        found = await timed(path, name=name, until=end, metrics=self._metrics)
        outcome = found.outcome if isinstance(found, Unavailable) else "nothing" if found is None else "answered"
        self._metrics.recall_paths.labels(path=name, outcome=outcome).inc()
        if isinstance(found, Unavailable):
            _log.warning("recall_without_model", path=name, outcome=outcome, error=str(found.error))
        return found


def _named(found: object, name: PartName) -> tuple[PartName, ...]:
    return (name,) if isinstance(found, Unavailable) else ()
