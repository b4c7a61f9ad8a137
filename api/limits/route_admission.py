"""Admission of requests to routes, as FastAPI dependencies: quotas and turns."""

from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any, Final, NamedTuple

from fastapi import Depends, Request

from api.auth.authentication import RecallCaller
from api.auth.caller import Caller
from api.dependencies import dependencies_of
from api.limits.admission import TOPIC_RESULTS


class Admitted(NamedTuple):
    """An admitted recall."""

    caller: Caller
    """The owner of the request's key."""
    quota: Mapping[str, str]
    """The state of the tenant's quota, as headers of the response."""


async def _admitted_recall(request: Request, caller: RecallCaller) -> AsyncIterator[Admitted]:
    dependencies = dependencies_of(request)
    # Before the quota is asked for, and the body is read.
    dependencies.admission.reject_if_full(caller.tenant)
    async with dependencies.quotas.recall(caller.tenant) as headers:
        yield Admitted(caller, headers)


AdmittedRecall = Annotated[Admitted, Depends(_admitted_recall)]
"""Authenticates a caller that may recall, and admits the recall for as long as its route runs. Declare it before the body."""


async def _turn(request: Request) -> AsyncIterator[None]:
    async with dependencies_of(request).admission.admin_admission(request):
        yield


async def _topics_turn(request: Request) -> AsyncIterator[None]:
    async with dependencies_of(request).admission.admin_admission(request, results=TOPIC_RESULTS):
        yield


TURN: Final[Any] = Depends(_turn)
"""Admits a read of this process's own state. Declare it after the required role."""
TOPICS_TURN: Final[Any] = Depends(_topics_turn)
"""Admits a read of a whole topic. Only for requests without a body: a waiting request watches for the client's disconnect."""
