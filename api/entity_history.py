"""An entity at an earlier moment, and the steps of its history, from the stored history."""

import asyncio
from contextlib import suppress
from datetime import datetime
from typing import Final

from api.problems import ProblemError
from control.documents import SchemaRef
from control.tenants import TenantDirectory
from memory.errors import SchemaError
from memory.records import Contribution, HistoryEntry, Memory
from memory.schema.model import EntityType
from operators.former_fields import with_former_fields
from operators.history import Fold, KnownStep, Moment, beginning, in_order
from operators.history_walk import HistoryWalk, SeenStep
from operators.render import render
from retrieval.request import RecallRequest
from retrieval.retrievers.entities import Entities
from runtime.clocks import Clock
from runtime.pieces import map_in_pieces
from stores.port import MemoryStore, TenantScope

_PAGE: Final = 500
_MOST: Final = 20_000
"""Maximum number of steps read for an entity: more than all partitions together store."""


class EntityHistory:
    """Reads one entity's history. The work is proportional to the number of stored steps, which is bounded, not to the entity's age.

    Args:
        store: The store of the steps.
        tenants: The schemas that the steps were made with.
        tenant: The entity's tenant.
        entity: The entity's id.
    """

    def __init__(self, *, store: MemoryStore, tenants: TenantDirectory, tenant: str, entity: str) -> None:
        self._store = store
        self._tenants = tenants
        self._tenant = tenant
        self._entity = entity
        self._types: dict[tuple[str, int, str], EntityType | None] = {}

    async def at(self, moment: Moment, *, entity_key: str, now: datetime) -> Memory | None:
        """The entity at another moment; None if it did not exist, or was unknown.

        Raises:
            ProblemError: 404 if the steps before that moment are no longer stored.
            StoreUnavailableError: If the store does not respond.
        """
        steps = await self._steps()
        start = beginning(steps, moment)
        if start is None:
            raise _not_kept(steps)
        fold = Fold(start, moment, self._type_of)
        await map_in_pieces(fold.take, start.steps)
        fold.finish(now)
        if fold.state is None or fold.state.empty or fold.entity_type is None:
            return None
        shown = with_former_fields(fold.state, fold.entity_type, self._former_types(fold.state.generation, fold.entity_type.name))
        return render(fold.state, shown, self._tenant, entity_key)

    async def walk(self, moment: Moment) -> tuple[list[SeenStep], bool]:
        """The stored steps up to a moment, and whether they are complete.

        Raises:
            StoreUnavailableError: If the store does not respond.
        """
        steps = await self._steps()
        start = beginning(steps, Moment(), earliest=True)
        last = steps[-1].step.contribution if steps else None
        former = () if last is None else self._former_types(last.generation, last.entity_type)
        walk = HistoryWalk(start, moment, self._type_of, former=former)
        await map_in_pieces(walk.take, steps if start is None else start.steps)
        return walk.finish(), start is not None and start.state is None

    async def _steps(self) -> list[KnownStep]:
        found: list[HistoryEntry] = []
        after: str | None = None
        while len(found) < _MOST:
            page = await self._store.steps(TenantScope(self._tenant), self._entity, after=after, limit=_PAGE)
            found += page
            if len(page) < _PAGE:
                break
            after = page[-1].id
        return in_order(found)

    def _former_types(self, generation: str, name: str) -> list[EntityType]:
        """An entity type in all schemas of a generation that can be read, newest first."""
        found = []
        for ref in self._tenants.get(self._tenant).schemas_of(generation):
            with suppress(SchemaError):
                entity_type = self._tenants.schema(ref).entity_type(name)
                found += [] if entity_type is None else [entity_type]
        return found

    def _type_of(self, contribution: Contribution) -> EntityType | None:
        name = contribution.schema_name, contribution.schema_revision, contribution.entity_type
        if name not in self._types:
            try:
                if contribution.schema_revision:
                    schema = self._tenants.schema(SchemaRef(name=contribution.schema_name, revision=contribution.schema_revision))
                else:
                    schema = self._tenants.schema_of(self._tenant, contribution.generation)
            except SchemaError:
                self._types[name] = None
            else:
                self._types[name] = schema.entity_type(contribution.entity_type)
        return self._types[name]


def _not_kept(steps: list[KnownStep]) -> ProblemError:
    first = min((each.recorded_at for each in steps if each.step.number), default=None)
    since = "" if first is None else f"; the oldest step that is kept was recorded at {first.isoformat()}"
    return ProblemError(404, "history-not-kept", f"what the entity was at that moment is not kept any more{since}")


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
