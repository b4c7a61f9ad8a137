"""What a recall's mode has a model do, before the recall takes its turn among the reads: who waits for a model holds up nobody."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from starlette.requests import Request

from api.authentication import Caller
from api.dependencies import Dependencies
from api.recall_body import RecallMode
from api.recall_runs import SiftedAt
from api.step_timing import timed
from retrieval.paths import PathName, Unavailable
from retrieval.request import RecallRequest
from runtime.logs import logger

T = TypeVar("T")

_SHARE: Final = 0.75
"""Of the time to the deadline: without the model's answer, the recall still needs the rest."""

_log = logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A recall behind what its mode did."""

    asked: RecallRequest
    sifted: SiftedAt | None = None
    """With ``sift``: the memories, as the proxy model has ranked them."""
    left_out: tuple[PathName, ...] = ()
    """What the mode was to do, and has not."""
    fields: dict[str, Any] = field(default_factory=dict)
    """What an answer tells of it, by the mode's name; None where the model has given nothing."""


async def prepare(
    dependencies: Dependencies, request: Request, caller: Caller, asked: RecallRequest, *, mode: RecallMode, until: float
) -> Prepared:
    """Has the model of a mode do its part.

    Args:
        dependencies: The clients and stores.
        request: What asks.
        caller: Who asks.
        asked: The recall.
        mode: ``sift``: the proxy model ranks the sessions. It takes a turn to read them, and none while the model thinks. ``expand``: a
            model adds sentences to the query. ``fast``: nothing.
        until: The recall's deadline, in seconds of the event loop's clock.

    Raises:
        ProblemError: 429 as any read.
    """
    if mode == "sift":
        return await _sifted(dependencies, request, caller, asked, until)
    return await _expanded(dependencies, asked, until) if mode == "expand" else Prepared(asked=asked)


async def _sifted(dependencies: Dependencies, request: Request, caller: Caller, asked: RecallRequest, until: float) -> Prepared:
    path = _sift(dependencies, request, caller, asked)
    found = await _in_time(dependencies, path, name="sift", most_s=dependencies.settings.sift.deadline_s, until=until)
    if not isinstance(found, SiftedAt):
        return Prepared(asked=asked, left_out=_named(found, "sift"), fields={"sift": None})
    told = found.sifted
    fields = {"sessions": told.ranking, "thought": told.thought, "shown": told.shown, "left_out": told.left_out}
    return Prepared(asked=asked, sifted=found, fields={"sift": fields})


async def _sift(dependencies: Dependencies, request: Request, caller: Caller, asked: RecallRequest) -> SiftedAt | None:
    settings = dependencies.settings
    async with dependencies.admission.turn(request, caller.tenant, results=settings.sift.memories):
        # Read before the search, they are what it rests on at least.
        positions = await dependencies.store_positions.read(asked.filter.at)
        history = await dependencies.sift.read(asked)
    if history is None:
        return None
    return SiftedAt(await dependencies.sift.rank(asked, history, limit=asked.limit or settings.recall.limit), positions)


async def _expanded(dependencies: Dependencies, asked: RecallRequest, until: float) -> Prepared:
    path = dependencies.expansion.of(asked.scope.tenant, asked.query, user=asked.scope.user)
    found = await _in_time(dependencies, path, name="expansion", most_s=dependencies.settings.expansion.deadline_s, until=until)
    if isinstance(found, Unavailable) or found is None:
        return Prepared(asked=asked, left_out=_named(found, "expansion"), fields={"expansion": None})
    return Prepared(asked=replace(asked, expansions=found), fields={"expansion": found})


async def _in_time(
    dependencies: Dependencies, path: Awaitable[T | None], *, name: PathName, most_s: float, until: float
) -> T | Unavailable | None:
    now = asyncio.get_running_loop().time()
    end = now + min(most_s, (until - now) * _SHARE)
    found = await timed(path, name=name, until=end, metrics=dependencies.metrics)
    outcome = found.outcome if isinstance(found, Unavailable) else "nothing" if found is None else "answered"
    dependencies.metrics.recall_paths.labels(path=name, outcome=outcome).inc()
    if isinstance(found, Unavailable):
        _log.warning("recall_without_model", path=name, outcome=outcome, error=str(found.error))
    return found


def _named(found: object, name: PathName) -> tuple[PathName, ...]:
    return (name,) if isinstance(found, Unavailable) else ()
