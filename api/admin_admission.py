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
"""Of a read of what this process knows. Name it behind the role that is needed."""
TOPICS_TURN: Final[Any] = Depends(_topics_turn)
"""Of a read of a whole topic, by a request without a body: whoever waits for its turn listens whether the client hangs up."""
