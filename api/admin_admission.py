"""Operators' reads wait for their turn like tenants', for as long as their routes run: whole topics are read for some."""

from collections.abc import AsyncIterator
from typing import Any, Final

from fastapi import Depends, Request

from api.admission import TOPIC_RESULTS
from api.dependencies import AppDependencies


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
