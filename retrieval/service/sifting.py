"""Recalls with ``mode=sift``: a proxy model ranks the sessions, before the recall takes its turn among the reads."""

import asyncio
from typing import Any, Final

from starlette.requests import Request

from retrieval.recall import RecallRequest
from retrieval.recall.paths import LeftOut
from retrieval.service.authentication import Caller
from retrieval.service.dependencies import Dependencies
from retrieval.service.gathering import SiftedAt
from retrieval.service.path_watch import watched
from runtime.logs import logger

_SHARE: Final = 0.75
"""Of the time to the deadline: without the model's answer, the recall still needs the rest."""

_log = logger(__name__)


async def sift(
    dependencies: Dependencies, request: Request, caller: Caller, asked: RecallRequest, *, until: float
) -> SiftedAt | LeftOut | None:
    """Has the proxy model rank the sessions. It takes a turn to read them, and none while the model thinks: that holds up no other read.

    Args:
        dependencies: The clients and stores.
        request: What asks.
        caller: Who asks.
        asked: The recall.
        until: The recall's deadline, in seconds of the event loop's clock.

    Returns:
        None where there is no session to rank.

    Raises:
        ProblemError: 429 as any read.
    """
    now = asyncio.get_running_loop().time()
    end = now + min(dependencies.settings.sift.deadline_s, (until - now) * _SHARE)
    found = await watched(_sift(dependencies, request, caller, asked), name="sift", until=end, metrics=dependencies.metrics)
    outcome = found.outcome if isinstance(found, LeftOut) else "nothing" if found is None else "answered"
    dependencies.metrics.recall_paths.labels(path="sift", outcome=outcome).inc()
    if isinstance(found, LeftOut):
        _log.warning("recall_not_sifted", outcome=outcome, error=str(found.error))
    return found


def sift_fields(sifted: SiftedAt | LeftOut | None) -> dict[str, Any] | None:
    """What an answer tells of it; None where the model has ranked nothing."""
    if not isinstance(sifted, SiftedAt):
        return None
    told = sifted.sifted
    return {"sessions": told.ranking, "thought": told.thought, "shown": told.shown, "left_out": told.left_out}


async def _sift(dependencies: Dependencies, request: Request, caller: Caller, asked: RecallRequest) -> SiftedAt | None:
    settings = dependencies.settings
    async with dependencies.admission.turn(request, caller.tenant, results=settings.sift.memories):
        # Read before the search, they are what it rests on at least.
        positions = await dependencies.store_positions.read()
        history = await dependencies.sift.read(asked)
    if not history.sessions:
        return None
    return SiftedAt(await dependencies.sift.rank(asked, history, limit=asked.limit or settings.recall.limit), positions)
