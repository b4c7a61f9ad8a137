"""An entity at an earlier moment, and the steps of its history, from the stored history."""

import asyncio
from collections.abc import Sequence
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

    Steps are replayed in a thread: thousands of them take seconds, and one step with many patches takes a tenth of a second.

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
        found = await self._found()
        return await asyncio.to_thread(self._at, found, moment, entity_key, now, self._former_types(found))

    def _at(self, found: list[HistoryEntry], moment: Moment, entity_key: str, now: datetime, former: Sequence[EntityType]) -> Memory | None:
        steps = in_order(found)
        start = beginning(steps, moment)
        if start is None:
            raise _not_kept(steps)
        fold = Fold(start, moment, self._type_of)
        for each in start.steps:
            fold.take(each)
        fold.finish(now)
        if fold.state is None or fold.state.empty or fold.entity_type is None:
            return None
        return render(fold.state, with_former_fields(fold.state, fold.entity_type, former), self._tenant, entity_key)

    async def walk(self, moment: Moment) -> tuple[list[SeenStep], bool]:
        """The stored steps up to a moment, and whether they are complete.

        Raises:
            StoreUnavailableError: If the store does not respond.
        """
        found = await self._found()
        return await asyncio.to_thread(self._walked, found, moment, self._former_types(found))

    def _walked(self, found: list[HistoryEntry], moment: Moment, former: Sequence[EntityType]) -> tuple[list[SeenStep], bool]:
        steps = in_order(found)
        start = beginning(steps, Moment(), earliest=True)
        walk = HistoryWalk(start, moment, self._type_of, former=former)
        for each in steps if start is None else start.steps:
            walk.take(each)
        return walk.finish(), start is not None and start.state is None

    async def _found(self) -> list[HistoryEntry]:
        """The entity's steps. Looks up their types here, because the directory of tenants belongs to the event loop."""
        found: list[HistoryEntry] = []
        after: str | None = None
        while len(found) < _MOST:
            page = await self._store.steps(TenantScope(self._tenant), self._entity, after=after, limit=_PAGE)
            found += page
            if len(page) < _PAGE:
                break
            after = page[-1].id
        await map_in_pieces(lambda each: self._type_of(each.contribution), found)
        return found

    def _former_types(self, found: Sequence[HistoryEntry]) -> list[EntityType]:
        """The type of an entity with these steps, in all schemas of its generation that can be read, newest first."""
        if not found:
            return []
        step = found[0].contribution
        types = []
        for ref in self._tenants.get(self._tenant).schemas_of(step.generation):
            with suppress(SchemaError):
                entity_type = self._tenants.schema(ref).entity_type(step.entity_type)
                types += [] if entity_type is None else [entity_type]
        return types

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
