"""The entities of a recall of an earlier moment: as they were then, according to the stored steps of their history."""

import asyncio

from api.entity_history import EntityHistory
from api.problems import ProblemError
from control.tenants import TenantDirectory
from memory.records import Memory
from operators.history import Moment
from retrieval.request import RecallRequest
from retrieval.retrievers.entities import Entities
from runtime.clocks import Clock
from stores.port import MemoryStore


class EntitiesAsOf:
    """Returns entities as they were at the moment of a recall.

    Args:
        store: The histories.
        tenants: The schemas that the histories were made with.
        clock: The time.
    """

    def __init__(self, *, store: MemoryStore, tenants: TenantDirectory, clock: Clock) -> None:
        self._store = store
        self._tenants = tenants
        self._clock = clock

    async def __call__(self, request: RecallRequest, entities: list[Memory]) -> Entities:
        """The entities at the request's moment.

        Args:
            request: The recall.
            entities: The entities as they are now.

        Raises:
            StoreUnavailableError: If the store does not respond.
        """
        found = await asyncio.gather(*(self._earlier(request, each) for each in entities))
        return Entities([entity for entity, _ in found if entity is not None], all(is_stored for _, is_stored in found))

    async def _earlier(self, request: RecallRequest, entity: Memory) -> tuple[Memory | None, bool]:
        history = EntityHistory(store=self._store, tenants=self._tenants, tenant=request.scope.tenant, entity=entity.id)
        try:
            moment = Moment(as_of=request.filter.as_of)
            return await history.at(moment, entity_key=entity.entity_key or "", now=self._clock.now()), True
        except ProblemError:
            # The steps before that moment are no longer stored.
            return None, False
