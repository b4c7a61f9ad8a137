"""Admission of requests to routes, as FastAPI dependencies: quotas and turns."""

from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any, Final

from fastapi import Depends, Request

from api.auth.authentication import RecallCaller
from api.dependencies import AppDependencies
from api.limits.admission import TOPIC_RESULTS


async def _recall_quota(caller: RecallCaller, dependencies: AppDependencies) -> AsyncIterator[Mapping[str, str]]:
    # Before the quota is asked for, and the body is read.
    dependencies.admission.reject_if_full(caller.tenant)
    async with dependencies.quotas.recall(caller.tenant) as headers:
        yield headers


RecallQuota = Annotated[Mapping[str, str], Depends(_recall_quota)]
"""Admits a recall for as long as its route runs, and gives the headers of its response."""


async def _turn(request: Request, dependencies: AppDependencies) -> AsyncIterator[None]:
    async with dependencies.admission.admin_admission(request):
        yield


async def _topics_turn(request: Request, dependencies: AppDependencies) -> AsyncIterator[None]:
    async with dependencies.admission.admin_admission(request, results=TOPIC_RESULTS):
        yield


TURN: Final[Any] = Depends(_turn)
"""Admits a read of this process's own state. Declare it after the required role."""
TOPICS_TURN: Final[Any] = Depends(_topics_turn)
"""Admits a read of a whole topic. Only for requests without a body: a waiting request watches for the client's disconnect."""
