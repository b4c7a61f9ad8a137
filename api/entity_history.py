"""An entity's history, as the store has it: the entity at another moment, and the steps that it has come by."""

import asyncio
from datetime import datetime
from typing import Final

from api.problems import ProblemError
from control.documents import SchemaRef
from control.tenants import TenantDirectory
from memory.errors import SchemaError
from memory.records import Contribution, HistoryEntry, Memory
from memory.schema.model import EntityType
from operators.history import Fold, KnownStep, Moment, beginning, in_order
from operators.history_walk import HistoryWalk, SeenStep
from operators.render import render
from runtime.pieces import map_in_pieces
from stores.port import MemoryStore, TenantScope

_PAGE: Final = 500
_MOST: Final = 20_000
"""The most steps that are read of an entity: more than all partitions together keep of it."""


class EntityHistory:
    """Reads one entity's history. Work depends on the number of kept steps, which is bounded, and not on the entity's age.

    Steps are replayed in a thread: thousands of them take seconds, and one step with many patches takes a tenth of a second.

    Args:
        store: Has the steps.
        tenants: Have the schemas that the steps were made under.
        tenant: Whose entity.
        entity: Its id.
    """

    def __init__(self, *, store: MemoryStore, tenants: TenantDirectory, tenant: str, entity: str) -> None:
        self._store = store
        self._tenants = tenants
        self._tenant = tenant
        self._entity = entity
        self._types: dict[tuple[str, int, str], EntityType | None] = {}

    async def at(self, moment: Moment, *, entity_key: str, now: datetime) -> Memory | None:
        """The entity at another moment; None if there was none, or nothing was known of it.

        Args:
            moment: Which.
            entity_key: The entity's key.
            now: The moment where none is asked for.

        Raises:
            ProblemError: 404, if what was before that moment is not kept any more.
            StoreUnavailableError: If the store does not answer.
        """
        return await asyncio.to_thread(self._at, await self._found(), moment, entity_key, now)

    def _at(self, found: list[HistoryEntry], moment: Moment, entity_key: str, now: datetime) -> Memory | None:
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
        return render(fold.state, fold.entity_type, self._tenant, entity_key)

    async def walk(self, moment: Moment) -> tuple[list[SeenStep], bool]:
        """The steps that are kept and belong to a moment, and whether they are all that there ever were.

        Args:
            moment: Which.

        Raises:
            StoreUnavailableError: If the store does not answer.
        """
        return await asyncio.to_thread(self._walked, await self._found(), moment)

    def _walked(self, found: list[HistoryEntry], moment: Moment) -> tuple[list[SeenStep], bool]:
        steps = in_order(found)
        start = beginning(steps, Moment(), earliest=True)
        walk = HistoryWalk(start, moment, self._type_of)
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
