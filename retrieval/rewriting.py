"""Rewrite: the first step of a recall. By the request's mode, a model adds sentences to the query or ranks the sessions."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, TypeVar

from memory.positions import LogPosition
from retrieval.expansion import Expansion
from retrieval.paths import PathName, Unavailable, timed
from retrieval.request import RecallRequest
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
    unavailable: tuple[PathName, ...] = ()
    """The model, if it has failed."""
    fields: dict[str, Any] = field(default_factory=dict)
    """By the mode's field in the response, what the model contributed; None: nothing."""


class QueryRewriter:
    """Rewrites recalls.

    Args:
        expansion: Expands queries.
        sift: Ranks sessions.
        metrics: Records durations and outcomes.
    """

    def __init__(self, *, expansion: Expansion, sift: Sift, metrics: Metrics) -> None:
        self._expansion = expansion
        self._sift = sift
        self._metrics = metrics

    async def rewrite(
        self, request: RecallRequest, *, reader: MemoryReader, limit: int, until: float | None, turn: ReadTurn = no_turn
    ) -> Rewritten:
        """Asks the model of the request's mode, if there is one.

        Args:
            request: The recall.
            reader: Reads and ranks memories: the following steps of the pipeline.
            limit: Most hits of the recall.
            until: The recall's deadline, in seconds of the event loop's clock. None: none.
            turn: Waits until sessions may be read. The model is called outside of the turn.

        Raises:
            VarveError: If the turn is refused.
        """
        if request.mode == "sift":
            return await self._sifted(request, reader, limit, until, turn)
        return await self._expanded(request, until) if request.mode == "expand" else Rewritten(request=request)

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

    async def _in_time(self, path: Awaitable[T | None], *, name: PathName, most_s: float, until: float | None) -> T | Unavailable | None:
        now = asyncio.get_running_loop().time()
        end = now + (most_s if until is None else min(most_s, (until - now) * _SHARE))
        found = await timed(path, name=name, until=end, metrics=self._metrics)
        outcome = found.outcome if isinstance(found, Unavailable) else "nothing" if found is None else "answered"
        self._metrics.recall_paths.labels(path=name, outcome=outcome).inc()
        if isinstance(found, Unavailable):
            _log.warning("recall_without_model", path=name, outcome=outcome, error=str(found.error))
        return found


def _named(found: object, name: PathName) -> tuple[PathName, ...]:
    return (name,) if isinstance(found, Unavailable) else ()
