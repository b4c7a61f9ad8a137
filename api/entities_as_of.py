"""The entities beside a recall that asks for an earlier moment: as they were then, by the steps that are kept of them."""

import asyncio

from api.dependencies import Dependencies
from api.entity_history import EntityHistory
from api.problems import ProblemError
from memory.records import Memory
from operators.history import Moment
from retrieval.request import RecallRequest


async def as_they_were(dependencies: Dependencies, request: RecallRequest, entities: list[Memory]) -> tuple[list[Memory], bool]:
    """The entities at the request's moment, and whether the steps of all of them are kept.

    Args:
        dependencies: The store and the schemas.
        request: Names the moment.
        entities: As they are now.

    Raises:
        StoreUnavailableError: If the store does not answer.
    """
    found = await asyncio.gather(*(_as_it_was(dependencies, request, each) for each in entities))
    return [entity for entity, _ in found if entity is not None], all(is_kept for _, is_kept in found)


async def _as_it_was(dependencies: Dependencies, request: RecallRequest, entity: Memory) -> tuple[Memory | None, bool]:
    history = EntityHistory(store=dependencies.store, tenants=dependencies.tenants, tenant=request.scope.tenant, entity=entity.id)
    try:
        then = await history.at(Moment(as_of=request.filter.as_of), entity_key=entity.entity_key or "", now=dependencies.clock.now())
    except ProblemError:
        # What the steps would have to begin with is not kept any more.
        return None, False
    return then, True
