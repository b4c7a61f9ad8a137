"""Operators' reads wait for their turn like tenants', for as long as their routes run: whole topics are read for some."""

from collections.abc import AsyncIterator
from typing import Any, Final

from fastapi import Depends, Request

from retrieval.service.dependencies import AppDependencies

_TOPIC: Final = 1000
"""Reading a topic from its beginning counts like a recall of so many results."""


async def _turn(request: Request, dependencies: AppDependencies) -> AsyncIterator[None]:
    async with dependencies.admission.operators_turn(request):
        yield


async def _topics_turn(request: Request, dependencies: AppDependencies) -> AsyncIterator[None]:
    async with dependencies.admission.operators_turn(request, results=_TOPIC):
        yield


TURN: Final[Any] = Depends(_turn)
"""Of a read of what this process knows. Name it behind the role that is needed."""
TOPICS_TURN: Final[Any] = Depends(_topics_turn)
"""Of a read of a whole topic."""
