"""An entity's history, as the store has it: the entity at another moment, and the steps that it has come by."""

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
from runtime.pieces import map_in_pieces
from stores.port import MemoryStore, TenantScope

_PAGE: Final = 500
_MOST: Final = 20_000
"""The most steps that are read of an entity: more than all partitions together keep of it."""


class EntityHistory:
    """Reads one entity's history. Work follows the number of steps that are kept, which is bounded, and not the entity's age.

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
        """The steps that are kept and belong to a moment, and whether they are all that there ever were.

        Args:
            moment: Which.

        Raises:
            StoreUnavailableError: If the store does not answer.
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
