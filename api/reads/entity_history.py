"""An entity at an earlier moment, and the steps of its history, from the stored history, with the response models."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, Literal

from pydantic import Field, JsonValue

from api.http.openapi import ResponseModel, Responses, answers
from api.problems import ProblemError
from control.documents import SchemaRef
from control.tenants import TenantDirectory
from memory.errors import SchemaError
from memory.records import Contribution, HistoryEntry, Memory
from memory.records.limits import Time
from memory.schema.model import EntityType
from operators.entities.former_fields import with_former_fields
from operators.entities.history import HistoryReplay, KnownStep, Moment, beginning, in_order
from operators.entities.history_walk import ChangeOutcome, HistoryWalk, SeenChange, SeenStep
from operators.entities.render import render
from retrieval.request import RecallRequest
from retrieval.retrievers.entities import Entities
from runtime.clocks import Clock
from runtime.pieces import map_in_pieces
from stores.port import MemoryFilter, MemoryStore, TenantScope

_PAGE: Final = 500
_MOST: Final = 20_000
"""Maximum number of steps read for an entity: more than all partitions together store."""


class HistoryChange(ResponseModel):
    """One change of one property."""

    property: str
    op: Literal["apply", "retract"]
    value: JsonValue
    """The input of the property's operator."""
    event_time: Time
    source_id: str
    """The source event or patch."""
    evidence: list[str]
    """The ids of its source messages."""
    extractor: str | None
    fate: ChangeOutcome | None
    """The outcome of the change; null for a retraction."""
    by: str | None
    """The step that replaced or retracted it."""

    @classmethod
    def of(cls, seen: SeenChange) -> "HistoryChange":
        """The change in the form of the response."""
        change, applied = seen.change, seen.change.op == "apply"
        return cls(
            property=change.property,
            op="apply" if applied else "retract",
            value=change.value,
            event_time=change.event_time,
            source_id=change.source_id,
            evidence=change.message_ids,
            extractor=change.extractor or None,
            fate=seen.outcome if applied else None,
            by=seen.by if applied else None,
        )


class HistoryStep(ResponseModel):
    """One step of an entity's history."""

    id: str
    kind: Literal["extraction", "correction", "expiry", "evolution", "merged"]
    """The cause: a window was extracted, a memory was corrected, events expired, another memory changed it, or a model merged a text."""
    recorded_at: Time
    """The time at which it became known."""
    time: Time
    """Event time of the source event or patch."""
    user: str | None
    """The user whose messages it was extracted from."""
    changes: list[HistoryChange]
    before: dict[str, JsonValue]
    """The previous values of the changed properties."""
    after: dict[str, JsonValue]
    """Their new values."""

    @classmethod
    def of(cls, seen: SeenStep) -> "HistoryStep":
        """The step in the form of the response."""
        contribution = seen.contribution
        return cls(
            id=seen.id,
            kind="merged" if contribution.merged is not None else contribution.cause,
            recorded_at=seen.recorded_at,
            time=contribution.time,
            user=contribution.user,
            changes=[HistoryChange.of(each) for each in seen.changes],
            before=seen.before,
            after=seen.after,
        )


class History(ResponseModel):
    """A page of an entity's steps, the oldest first."""

    type: str
    key: str
    steps: list[HistoryStep]
    next: str | None
    """The value of `after` for the next page; null: this is the last page."""
    total: int = Field(ge=0)
    """Number of steps on all pages."""
    complete: bool
    """Whether no older steps were dropped; the number of stored steps is limited."""


HISTORY: Final[Responses] = answers(History, description="The steps, in the order in which they became known.")


def page_of(steps: list[SeenStep], *, start: int, limit: int) -> dict[str, Any]:
    """The fields of a page of steps."""
    shown = steps[start : start + limit]
    return {
        "steps": [HistoryStep.of(each) for each in shown],
        "next": shown[-1].id if shown and start + limit < len(steps) else None,
        "total": len(steps),
    }


class EntityHistory:
    """Reads one entity's history. The work is proportional to the number of stored steps, which is bounded, not to the entity's age.

    Steps are replayed in a thread: thousands of them take seconds, and one step with many patches takes a tenth of a second.
    """

    def __init__(self, *, store: MemoryStore, tenants: TenantDirectory, tenant: str, entity: str) -> None:
        self._store = store
        self._tenants = tenants
        self._tenant = tenant
        self._entity = entity
        self._types: dict[tuple[str, int, str], EntityType | None] = {}

    async def at(self, moment: Moment, *, entity_key: str, now: datetime, steps: list[HistoryEntry] | None = None) -> Memory | None:
        """The entity at another moment; None if it did not exist, or was unknown.

        Args:
            moment: The moment.
            entity_key: The entity's key.
            now: The time to which timelines are aged.
            steps: The result of :meth:`steps`. Default: read now.

        Raises:
            ProblemError: 404 if the steps before that moment are no longer stored.
            StoreUnavailableError: If the store does not respond.
        """
        found = await self.steps() if steps is None else steps
        return await asyncio.to_thread(self._at, found, moment, entity_key, now, self._former_types(found))

    def _at(self, found: list[HistoryEntry], moment: Moment, entity_key: str, now: datetime, former: Sequence[EntityType]) -> Memory | None:
        steps = in_order(found)
        start = beginning(steps, moment)
        if start is None:
            raise _not_kept(steps)
        replay = HistoryReplay(start, moment, self._type_of)
        for step in start.steps:
            replay.take(step)
        replay.finish(now)
        if replay.state is None or replay.state.empty or replay.entity_type is None:
            return None
        return render(replay.state, with_former_fields(replay.state, replay.entity_type, former), self._tenant, entity_key)

    async def walk(self, moment: Moment) -> tuple[list[SeenStep], bool]:
        """The stored steps up to a moment, and whether they are complete.

        Raises:
            StoreUnavailableError: If the store does not respond.
        """
        found = await self.steps()
        return await asyncio.to_thread(self._walked, found, moment, self._former_types(found))

    def _walked(self, found: list[HistoryEntry], moment: Moment, former: Sequence[EntityType]) -> tuple[list[SeenStep], bool]:
        steps = in_order(found)
        start = beginning(steps, Moment(), earliest=True)
        walk = HistoryWalk(start, moment, self._type_of, former=former)
        for each in steps if start is None else start.steps:
            walk.take(each)
        return walk.finish(), start is not None and start.state is None

    async def steps(self) -> list[HistoryEntry]:
        """The stored steps, in no order.

        Raises:
            StoreUnavailableError: If the store does not respond.
        """
        found: list[HistoryEntry] = []
        after: str | None = None
        while len(found) < _MOST:
            page = await self._store.steps(TenantScope(self._tenant), self._entity, after=after, limit=_PAGE)
            found += page
            if len(page) < _PAGE:
                break
            after = page[-1].id
        # Here, because the directory of tenants belongs to the event loop, and steps are replayed in a thread.
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
    return ProblemError(404, "history-not-kept", f"the state of the entity at that moment is no longer kept{since}")


class EntitiesAsOf:
    """Returns entities as they were at the moment of a recall."""

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
        trusted = MemoryFilter(scope=TenantScope(request.scope.tenant), min_trust=request.filter.min_trust)
        seen = [each for each, _ in found if each is not None and trusted.rejected_by(each) is None]
        return Entities(seen, all(is_stored for _, is_stored in found))

    async def _earlier(self, request: RecallRequest, entity: Memory) -> tuple[Memory | None, bool]:
        history = EntityHistory(store=self._store, tenants=self._tenants, tenant=request.scope.tenant, entity=entity.id)
        try:
            moment = Moment(as_of=request.filter.as_of)
            return await history.at(moment, entity_key=entity.entity_key or "", now=self._clock.now()), True
        except ProblemError:
            # The steps before that moment are no longer stored.
            return None, False
